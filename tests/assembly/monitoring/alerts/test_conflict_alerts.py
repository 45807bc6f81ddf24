"""One contradiction is one alert, whatever agents, teams and profiles meet it."""

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.conflicts.services import conflict_resolve, conflict_undo
from assembly.models import Alert, AlertKind, Assembly, Conflict, Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.alerts.services import alert_resolve
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.notifications.sentences import alert_title
from assembly.records.raised_levels import raise_recorded_levels
from config.db.statements import fetch_rows
from config.keys.sealed_texts import is_sealed
from memories.models import Memory
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM, Role
from teams.sensitivity import Sensitivity
from teams.services import membership_set, team_create
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.assembly.monitoring.trends.count_factories import told
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db
TOPIC = "When does the support line open?"


@pytest.fixture(autouse=True)
def webhook(db: None) -> Webhook:
    """Which is told of everything."""
    return Webhook.objects.create(
        label="Chat", url="https://93.184.216.34/", events=WebhookEvent.values, sealed_secret="x"
    )


@pytest.fixture
def second_team(agent: Agent) -> Team:
    team = team_create(slug="second", name="Second")
    agent.teams.add(team)
    return team


@pytest.fixture
def of_agent(agent: Agent) -> Conflict:
    return conflict_between(remember(agent, EIGHTY), remember(agent, NINETY))


@pytest.fixture
def of_team(team: Team) -> Conflict:
    return conflict_between(remember(team, EIGHTY), remember(team, NINETY))


def met(agent: Agent, team: Team | None = None, profile: str = "memory") -> Assembly:
    made = told(agent, team, topic=TOPIC, profile=profile)
    follow_assemblies([made])
    return made


def announced() -> list[str]:
    """The events about conflicts; other profiles miss files, too."""
    told = WebhookDelivery.objects.filter(body__contains="conflict_open")
    return list(told.order_by("created", "id").values_list("event", flat=True))


def the_alert() -> Alert:
    return Alert.objects.get(kind=AlertKind.CONFLICT_OPEN)


def test_one_conflict_is_one_alert_for_all_teams_and_profiles(
    agent: Agent, team: Team, second_team: Team, of_agent: Conflict
) -> None:
    for where in (team, second_team, None):
        for profile in ("memory", "coding"):
            assert met(agent, where, profile).warnings == ["CONFLICT_FLAGGED"], (where, profile)
    alert = the_alert()
    assert (alert.kind, alert.thing, alert.times) == ("conflict_open", f"conflict:{of_agent.id}", 1)
    assert (alert.agent_slug, alert.team_id, alert.team_slug, alert.profile_name) == (agent.slug, None, "", "")
    assert announced() == ["alert.opened"]
    assert alert_title(alert) == f"{agent.name}: texts contradict each other"


def test_it_is_one_within_a_batch_of_contexts(agent: Agent, team: Team, of_agent: Conflict) -> None:
    contexts = [told(agent, where, topic=TOPIC, profile="memory") for where in (team, None, team)]
    follow_assemblies(contexts)
    assert the_alert().context == contexts[0].id
    assert announced() == ["alert.opened"]


def test_texts_of_a_team_are_one_alert_of_the_team_for_all_its_agents(
    agent: Agent, team: Team, of_team: Conflict
) -> None:
    met(agent, team)
    met(agent_create(slug="sol", name="Sol", teams=[team]), team)
    alert = the_alert()
    assert (alert.team_id, alert.detail["of"]) == (team.id, "team")
    assert alert_title(alert) == f"{team.name}: texts contradict each other"
    assert announced() == ["alert.opened"]


def test_texts_of_the_organisation_are_one_alert(agent: Agent, team: Team, second_team: Team) -> None:
    organisation_file_create(key="hours", title="Hours", content=EIGHTY, principal=SYSTEM)
    organisation_file_create(key="desk", title="Desk", content=NINETY, principal=SYSTEM)
    run_jobs()
    for where in (team, second_team):
        met(agent, where)
    alert = the_alert()
    assert (alert.team_id, alert_title(alert)) == (None, "The organisation: texts contradict each other")


def test_each_contradiction_has_its_own(agent: Agent, team: Team, of_agent: Conflict) -> None:
    other = conflict_between(
        remember(agent, "The support line has 3 people."), remember(agent, "The support line has 5 people.")
    )
    met(agent, team)
    assert set(Alert.objects.values_list("thing", flat=True)) == {f"conflict:{one.id}" for one in (of_agent, other)}


def test_those_who_see_the_texts_see_it_and_nobody_else(
    agent: Agent, team: Team, second_team: Team, of_agent: Conflict
) -> None:
    met(agent, team)
    near, far = User.objects.create_user("near"), User.objects.create_user("far")
    membership_set(team=second_team, user=near, role=Role.EDITOR)
    membership_set(team=team_create(slug="far", name="Far"), user=far, role=Role.ADMIN)
    assert Alert.objects.visible_to(near.principal).exists()
    assert not Alert.objects.visible_to(far.principal).exists()


def test_a_decision_closes_it_and_after_undo_it_is_reopened_quietly(
    agent: Agent, team: Team, of_agent: Conflict
) -> None:
    met(agent, team)
    before = told(agent, None, topic=TOPIC, profile="memory")
    resolved = conflict_resolve(conflict=of_agent, choice="both", principal=SYSTEM)
    assert announced() == ["alert.opened", "alert.closed"]
    follow_assemblies([before])
    assert not the_alert().is_open, "a context from before the decision opens none"
    conflict_undo(conflict=resolved, principal=SYSTEM)
    for profile in ("coding", "memory"):
        met(agent, team, profile)
    alert = the_alert()
    assert (alert.is_open, alert.times) == (True, 2)
    assert announced() == ["alert.opened", "alert.closed"]


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("level", [Sensitivity.INTERNAL, Sensitivity.CONFIDENTIAL])
def test_after_its_agent_is_deleted_it_names_the_agent_that_meets_the_conflict_next(
    agent: Agent, team: Team, of_team: Conflict, level: Sensitivity, is_open: bool
) -> None:
    editor = User.objects.create_user("near")
    membership_set(team=team, user=editor, role=Role.EDITOR)
    met(agent, team)
    alert = the_alert()
    alert.sensitivity = level
    alert.closed = None if is_open else alert.opened
    alert.save()
    agent_delete(agent=agent, principal=SYSTEM)
    assert not Alert.objects.visible_to(editor.principal).exists()
    sol = agent_create(slug="sol", name="Sol", teams=[team])
    met(sol, team)
    alert = Alert.objects.visible_to(editor.principal).get()
    assert (alert.agent_id, alert.agent_slug, alert.agent_name) == (sol.id, "sol", "Sol")
    assert (alert.is_open, alert.name, alert.team_id) == (True, the_alert().name, team.id)
    assert announced() == ["alert.opened"], "it is the same one"


def test_an_archived_text_closes_it_with_the_next_context_of_any_agent_of_the_team(
    agent: Agent, team: Team, of_team: Conflict
) -> None:
    met(agent, team)
    Memory.objects.filter(id=of_team.left_item).update(retired_because="away")
    met(agent_create(slug="sol", name="Sol", teams=[team]), team)
    assert not the_alert().is_open
    assert announced() == ["alert.opened", "alert.closed"]


@pytest.mark.parametrize("resolves", [False, True])
def test_of_older_alerts_about_one_conflict_one_is_left(
    agent: Agent, team: Team, second_team: Team, of_agent: Conflict, resolves: bool
) -> None:
    """Alerts used to be about one team and one profile each."""
    facts = {"kind": AlertKind.CONFLICT_OPEN, "thing": f"conflict:{of_agent.id}", "cause": "open"}
    detail = {"why": "x", "conflict": str(of_agent.id)}
    old = [
        alert_on(agent, where, **facts, profile_name=profile, detail=detail)
        for where, profile in ((team, "memory"), (second_team, "memory"), (team, "coding"))
    ]
    if resolves:
        alert_resolve(alert=old[0], principal=SYSTEM)
    met(agent, team)
    assert Alert.objects.get(closed=None) == old[1 if resolves else 0]
    assert announced() == ["alert.closed", "alert.closed"]
    conflict_resolve(conflict=of_agent, choice="both", principal=SYSTEM)
    assert not Alert.objects.filter(closed=None).exists()
    assert announced() == ["alert.closed"] * 3


def test_older_alerts_are_all_closed_by_a_decision(agent: Agent, team: Team, of_agent: Conflict) -> None:
    facts = {"kind": AlertKind.CONFLICT_OPEN, "thing": f"conflict:{of_agent.id}", "cause": "open"}
    for profile in ("memory", "coding"):
        alert_on(agent, team, **facts, profile_name=profile, detail={"why": "x", "conflict": str(of_agent.id)})
    conflict_resolve(conflict=of_agent, choice="both", principal=SYSTEM)
    assert not Alert.objects.filter(closed=None).exists()


def test_it_is_raised_with_each_of_its_texts_whatever_level_its_context_has(
    agent: Agent, team: Team, of_agent: Conflict
) -> None:
    agent.clearance = Sensitivity.CONFIDENTIAL
    agent.save()
    secret = remember(agent, "The support line of the minister opens at 7.")
    raise_level(Memory, secret.id, Sensitivity.CONFIDENTIAL)
    assert met(agent, team).sensitivity == Sensitivity.CONFIDENTIAL
    alert = the_alert()
    assert (alert.sensitivity, announced()) == (Sensitivity.INTERNAL, ["alert.opened"])
    other = alert_on(agent, None, kind=AlertKind.CONFLICT_OPEN, thing=f"conflict:{secret.id}", cause="open")
    for item, level in (
        (of_agent.left_item, Sensitivity.CONFIDENTIAL),
        (of_agent.right_item, Sensitivity.RESTRICTED),
        (of_agent.left_item, Sensitivity.RESTRICTED),
    ):
        raise_level(Memory, item, level)
        raise_recorded_levels()
        raised = Alert.everything.get(id=alert.id)
        assert (raised.sensitivity, raised.detail, raised.name) == (level, alert.detail, alert.name)
    assert all(map(is_sealed, fetch_rows("SELECT detail #>> '{}', name FROM alerts WHERE id = %s", [alert.id])[0]))
    assert announced() == []
    other.refresh_from_db()
    assert other.sensitivity == Sensitivity.INTERNAL
