"""Profiles and rules in archives: exact, whole, for admins alone, and a rule for one never becomes a rule for all."""

from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_delete
from assembly.models import StoredProfile, StoredRule
from assembly.profiles.services import profile_create, profile_delete, profile_save
from assembly.profiles.shipped import SHIPPED
from assembly.rules.services import rule_create, rule_delete, rule_save
from memories.archive.sections import scope_of_everything, scope_of_team
from memories.archive.services import import_begin, import_create
from memories.models import ImportPlan
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.archives import edited, packed, texts_in, zipped

pytestmark = pytest.mark.django_db
RULE = "then: {exclude: [{source: daily_logs}]}  # hush\r\n"
HOUSE = SHIPPED["conversation"].replace("name: conversation", "name: house") + "\r\n# ours"
CODING = SHIPPED["coding"] + "# changed here\n"


@pytest.fixture
def house(agent: Agent, team: Team) -> None:
    """A profile of the organisation's own, a shipped one that was changed, and a rule for each sort of owner."""
    profile_create(name="house", content=HOUSE, principal=SYSTEM)
    profile_save(name="coding", content=CODING, expected_version=1, principal=SYSTEM)
    for name, owner in (("for-all", None), ("for-care", team), ("for-ada", agent)):
        rule_create(name=name, content=RULE, owner=owner, enabled=owner is None, principal=SYSTEM)


def shown(archive: bytes, principal: Principal = SYSTEM) -> ImportPlan:
    return import_create(archive=archive, file_name="all.zip", principal=principal)


def done(archive: bytes) -> list[Any]:
    finished = import_begin(plan=shown(archive), chosen=(), principal=SYSTEM)
    return [left for outcome in finished.outcome.values() for left in outcome["left"]]


def states(plan: ImportPlan) -> dict[str, str]:
    return {step["name"]: step["state"] for step in plan.steps}


def emptied() -> None:
    for rule in StoredRule.objects.all():
        rule_delete(rule=rule, principal=SYSTEM)
    for profile in StoredProfile.objects.all():
        profile_delete(name=profile.name, principal=SYSTEM)


def test_they_come_back_as_they_were(house: None) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    assert states(shown(archive)) == {}
    emptied()
    assert done(archive) == []
    assert zipped(scope_of_everything(SYSTEM)) == archive
    assert StoredProfile.objects.get(name="house").content == HOUSE
    assert StoredRule.objects.get(name="for-care").team is not None
    assert StoredRule.objects.get(name="for-all").versions.get().note == "Imported from all.zip"


def test_they_are_in_no_other_export(house: None, team: Team) -> None:
    assert {name.split("/")[0] for name in texts_in(zipped(scope_of_team(team, SYSTEM)))} == {"teams"}


def test_a_change_is_a_version_and_a_switch_is_one_too(house: None) -> None:
    archive = edited(zipped(scope_of_everything(SYSTEM)), "profiles/house.yaml", lambda text: f"{text}, too")
    archive = edited(archive, "rules/rules.json", lambda text: text.replace('"enabled": true', '"enabled": false'))
    plan = shown(archive)
    assert states(plan) == {"profiles/house.yaml": "changed", "rules/for-all.yaml": "changed"}
    assert "switched off" in plan.steps[1]["reason"]
    assert done(archive) == []
    assert StoredProfile.objects.get(name="house").content == f"{HOUSE}, too"
    assert StoredRule.objects.get(name="for-all").enabled is False


def test_what_was_switched_here_since_stays(house: None) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    rule = StoredRule.objects.get(name="for-all")
    rule_save(rule=rule, content=rule.content, enabled=False, expected_version=1, principal=SYSTEM)
    assert states(shown(archive)) == {"rules/for-all.yaml": "newer"}


def test_what_cannot_be_read_is_refused_with_its_line(house: None) -> None:
    plan = shown(packed({"profiles/new-one.yaml": "sections: 1", "rules/new-one.yaml": "then: 1"}))
    assert set(states(plan).values()) == {"refused"}
    assert all(step["reason"].startswith("Line ") for step in plan.steps)


def test_a_rule_for_an_agent_that_is_gone_is_for_nobody(house: None, agent: Agent) -> None:
    texts = texts_in(zipped(scope_of_everything(SYSTEM)))
    agent_delete(agent=agent, principal=SYSTEM)
    [[name, reason]] = done(packed({name: text for name, text in texts.items() if name.startswith("rules/")}))
    assert name == "rules/for-ada.yaml"
    assert "“ada”" in reason
    assert not StoredRule.objects.filter(name="for-ada").exists()


def test_the_profile_that_never_changes_stays(house: None) -> None:
    [[name, reason]] = done(packed({"profiles/conversation.yaml": SHIPPED["conversation"] + "# x\n"}))
    assert name == "profiles/conversation.yaml"
    assert "cannot be changed. Copy it under another name and change the copy." in reason


def test_only_admins_import_them(house: None, owner: User) -> None:
    archive = packed({"profiles/house.yaml": SHIPPED["conversation"], "rules/for-all.yaml": "then: {}"})
    assert set(states(shown(archive, owner.principal)).values()) == {"refused"}
