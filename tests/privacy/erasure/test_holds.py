"""While there is a legal hold on an agent, a team or a person, nothing of it is deleted or pruned; pages say why."""

import datetime
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, DailyLog
from agents.services import agent_delete, daily_log_append, daily_log_delete
from memories.models import Event, Memory
from memories.services import MemoryFacts, agent_item_delete, memory_create, memory_delete
from memories.services.event import events_create
from privacy.erasure.holds import hold_lift, hold_set
from privacy.models import HoldKind, LegalHold
from privacy.subjects.services import subject_delete
from teams.activity.models import ActivityAction
from teams.legal_holds import HeldByLaw
from teams.models import Activity, Reading, Team, User
from teams.principal import SYSTEM
from teams.readings.expired_lines import activities_prune, readings_prune
from teams.services import team_delete
from tests.client import Api, problem
from tests.privacy.subject_factories import NAME, link_all, scanned_subject

pytestmark = pytest.mark.django_db

REASON = "Case 4711 is before the court."


def held(kind: HoldKind, target: UUID) -> LegalHold:
    return hold_set(kind=kind, target=target, reason=REASON, principal=SYSTEM)


def remembered(owner: Agent | Team, text: str = "Tea at nine") -> Memory:
    return memory_create(owner=owner, facts=MemoryFacts(text=text, kind="fact"), principal=SYSTEM)


def test_nothing_of_a_held_agent_is_deleted(agent: Agent, team: Team) -> None:
    memory, of_team = remembered(agent), remembered(team)
    log = daily_log_append(agent=agent, date=datetime.date(2026, 1, 5), text="Tea", principal=SYSTEM)
    events_create(agent=agent, facts=[{"type": "note", "content": "Tea"}], principal=SYSTEM)
    event = Event.objects.get()
    hold = held(HoldKind.AGENT, agent.id)
    deletions: list[Callable[[], None]] = [
        lambda: memory_delete(memory=memory, principal=SYSTEM),
        lambda: daily_log_delete(log=log, principal=SYSTEM),
        lambda: agent_item_delete(thing=event, principal=SYSTEM),
        lambda: agent_delete(agent=agent, principal=SYSTEM),
    ]
    for deletion in deletions:
        with pytest.raises(HeldByLaw, match="Case 4711"):
            deletion()
    memory_delete(memory=of_team, principal=SYSTEM)
    assert list(Memory.objects.all()) == [memory]
    hold_lift(hold=hold, principal=SYSTEM)
    agent_delete(agent=agent, principal=SYSTEM)
    assert not DailyLog.objects.exists()


def test_nothing_of_a_held_team_is_deleted(agent: Agent, team: Team) -> None:
    memory, of_agent = remembered(team), remembered(agent)
    hold = held(HoldKind.TEAM, team.id)
    with pytest.raises(HeldByLaw):
        memory_delete(memory=memory, principal=SYSTEM)
    with pytest.raises(HeldByLaw):
        team_delete(team=team, principal=SYSTEM)
    memory_delete(memory=of_agent, principal=SYSTEM)
    hold_lift(hold=hold, principal=SYSTEM)
    team_delete(team=team, principal=SYSTEM)
    assert not Memory.objects.exists()


def test_what_mentions_a_held_person_is_not_deleted_and_what_does_not_is(agent: Agent, team: Team) -> None:
    memory, other = remembered(agent, f"{NAME} likes tea."), remembered(agent)
    subject = scanned_subject()
    link_all(subject)
    held(HoldKind.SUBJECT, subject.id)
    with pytest.raises(HeldByLaw):
        memory_delete(memory=memory, principal=SYSTEM)
    with pytest.raises(HeldByLaw):
        agent_delete(agent=agent, principal=SYSTEM)
    with pytest.raises(HeldByLaw):
        subject_delete(subject=subject, principal=SYSTEM)
    memory_delete(memory=other, principal=SYSTEM)
    team_delete(team=team, principal=SYSTEM)


@pytest.mark.parametrize("kind", ["agents", "teams"])
def test_pages_set_a_hold_say_why_nothing_is_deleted_and_lift_it(
    *, kind: str, client: Client, admin: User, owner: User, agent: Agent, team: Team, admin_api: Api
) -> None:
    held_thing = agent if kind == "agents" else team
    page = f"/{kind}/{held_thing.slug}"
    client.force_login(owner)
    assert client.get(f"{page}/hold/").status_code == 403
    assert f"{page}/hold/" not in client.get(f"{page}/settings/").content.decode()
    client.force_login(admin)
    assert f"{page}/hold/" in client.get(f"{page}/settings/").content.decode()
    assert client.post(f"{page}/hold/", {"reason": " "}).status_code == 422
    assert client.post(f"{page}/hold/", {"reason": REASON}).status_code == 302
    assert REASON in client.get(f"{page}/hold/").content.decode()
    overview = client.get("/erasures/").content.decode()
    assert REASON in overview
    assert f"{page}/hold/" in overview
    asked = client.get(f"{page}/delete/").content.decode()
    assert "A legal hold forbids this deletion." in asked
    assert REASON in asked
    refused = client.post(f"{page}/delete/", {"typed": held_thing.slug})
    assert refused.status_code == 422
    assert REASON in refused.content.decode()
    assert "Delete permanently" not in refused.content.decode()
    assert problem(admin_api.delete(f"{kind}/{held_thing.slug}")) == (409, "legal_hold")
    assert client.post(f"{page}/hold/").status_code == 302
    assert client.post(f"{page}/delete/", {"typed": held_thing.slug}).status_code == 302
    assert not type(held_thing)._default_manager.filter(id=held_thing.id).exists()


def test_lines_of_both_logs_stay_as_long_as_a_hold(agent: Agent, team: Team) -> None:
    past, lines = timezone.now() - datetime.timedelta(days=500), []
    for of in ({"agent_id": agent.id}, {"team_ids": [team.id]}, {}):
        values = {"actor": "person:1", "kind": "read", "level": 3, "counts": {}, "team_ids": [], "route": "", **of}
        lines.append(Reading.objects.create(created=past, things=[uuid4()], **values))
    acts = [
        Activity(actor="system", action=ActivityAction.TEAM_CHANGED, target=target, team_ids=ids)
        for target, ids in (("Demo", [team.id]), ("Other", []))
    ]
    created = Activity._meta.get_field("created")
    created.auto_now_add = False
    try:
        for act in acts:
            act.created = past
        Activity.objects.bulk_create(acts)
    finally:
        created.auto_now_add = True
    holds = held(HoldKind.AGENT, agent.id), held(HoldKind.TEAM, team.id)
    assert (readings_prune(), activities_prune()) == (1, 1)
    assert set(Reading.objects.values_list("id", flat=True)) == {line.id for line in lines[:2]}
    assert not Activity.objects.filter(target="Other").exists()
    for hold in holds:
        hold_lift(hold=hold, principal=SYSTEM)
    assert (readings_prune(), activities_prune()) == (2, 1)
