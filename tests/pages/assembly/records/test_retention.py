"""The pages of keeping: who may say for how long, what the form does with mistakes, and what they tell."""

import datetime
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly, AssemblyFlag, FollowFailure, NewAssembly, RetentionPolicy
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.bundle_reader import read_bundle
from assembly.records.followers import MAX_BATCH, new_assemblies_follow
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.pages.conftest import SignedIn, text_of

PAGE, TEAM = "/retention/", "/teams/demo/retention/"
DAYS = {"version": "0", "rule": "days", "days": "30", "keep_flagged": "on"}


@pytest.fixture
def record(agent: Agent, team: Team) -> Assembly:
    return assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM).assembly


@pytest.fixture
def everybody(admin: User, owner: User, editor: User, teammate: User, outsider: User) -> tuple[User, ...]:
    return admin, owner, editor, teammate, outsider


# Address: what admin, owner, editor, teammate, outsider are answered.
ANSWERS = {
    PAGE: (200, 403, 403, 403, 403),
    TEAM: (200, 200, 403, 403, 404),
    f"{PAGE}retry/": (405, 405, 405, 405, 405),
    "/teams/nobody/retention/": (404, 404, 404, 404, 404),
}


@pytest.mark.parametrize("address", ANSWERS)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, everybody: tuple[User, ...]
) -> None:
    assert tuple(signed_in(person).get(address).status_code for person in everybody) == ANSWERS[address]


def test_nobody_else_changes_anything(signed_in: SignedIn, everybody: tuple[User, ...]) -> None:
    for address in (PAGE, f"{PAGE}retry/"):
        assert {signed_in(one).post(address, DAYS).status_code for one in everybody[1:]} == {403}
    assert [signed_in(one).post(TEAM, DAYS).status_code for one in everybody[2:]] == [403, 403, 404]
    assert not RetentionPolicy.objects.exists()


@pytest.mark.finding("E5")
def test_an_owner_says_for_how_long_and_learns_what_goes(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    browser = signed_in(owner)
    then = timezone.now() - datetime.timedelta(days=31)
    with mock.patch("assembly.records.record.timezone.now", return_value=then):
        assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM)
    asked = browser.post(TEAM, DAYS)
    assert (asked.status_code, RetentionPolicy.objects.count()) == (422, 0)
    assert "1 context is older and will be deleted permanently within the hour." in text_of(asked)
    assert 'name="confirmed" value="on"' in text_of(asked)
    saved = browser.post(TEAM, {**DAYS, "confirmed": "on"}, follow=True)
    assert "1 older context will be deleted within the hour." in text_of(saved)
    policy = RetentionPolicy.objects.get()
    assert (policy.days, policy.keep_flagged, policy.editor_name) == (30, True, owner.name)
    browser.post(TEAM, {"version": "1", "rule": "for_ever"})
    assert RetentionPolicy.objects.get().days is None
    assert "Saved. The team now uses the default of the organisation." in text_of(
        browser.post(TEAM, {"version": "2", "rule": "default"}, follow=True)
    )
    assert not RetentionPolicy.objects.exists()


@pytest.mark.parametrize(
    "wrong", [{"days": ""}, {"days": "0"}, {"days": "36501"}, {"days": "x"}, {"rule": "never"}, {"version": "x"}]
)
def test_a_mistake_keeps_what_was_typed(wrong: dict[str, str], signed_in: SignedIn, admin: User) -> None:
    answer = signed_in(admin).post(PAGE, {**DAYS, **wrong})
    assert answer.status_code == 422
    assert 'name="keep_flagged" id="id_keep_flagged" checked' in text_of(answer) or "checked" in text_of(answer)
    assert not RetentionPolicy.objects.exists()


def test_two_admins_at_once_do_not_overwrite_each_other_unseen(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    browser.post(PAGE, DAYS)
    late = browser.post(PAGE, {**DAYS, "days": "7"})
    assert (
        late.status_code,
        "Someone changed this meanwhile. Your choice is below and not saved. Save again to apply it." in text_of(late),
    ) == (422, True)
    assert 'name="version" value="1"' in text_of(late)
    assert RetentionPolicy.objects.get().days == 30
    browser.post(PAGE, {**DAYS, "days": "7", "version": "1"})
    assert RetentionPolicy.objects.get().days == 7


def test_the_page_tells_how_sealing_goes(signed_in: SignedIn, admin: User, record: Assembly) -> None:
    browser = signed_in(admin)
    assert "1 waiting" in text_of(browser.get(PAGE))
    new_assemblies_follow()
    assert "Up to date" in text_of(browser.get(PAGE))
    id_ = uuid4()
    NewAssembly.objects.create(assembly=id_)
    FollowFailure.objects.create(
        assembly=id_, attempts=MAX_BATCH, error="<b>Broken</b>", at=timezone.now(), parked=True
    )
    failed = text_of(browser.get(PAGE))
    assert "Failures" in failed
    assert "&lt;b&gt;Broken" in failed
    assert "1 context is processed again." in text_of(browser.post(f"{PAGE}retry/", follow=True))
    assert not FollowFailure.objects.get().parked


def test_a_context_is_flagged_and_let_go(
    signed_in: SignedIn, editor: User, teammate: User, outsider: User, record: Assembly
) -> None:
    address = f"/contexts/{record.id}/flag/"
    keep: dict[str, Any] = {"keep": "on", "note": "for the auditor"}
    assert [signed_in(one).post(address, keep).status_code for one in (teammate, outsider)] == [403, 404]
    browser = signed_in(editor)
    assert browser.get(address).status_code == 405
    assert browser.post(address, keep)["Location"] == f"/contexts/{record.id}/"
    assert AssemblyFlag.objects.get().note == "for the auditor"
    let_go = browser.post(address, {}, headers={"HX-Request": "true"})
    assert "Not flagged" in text_of(let_go)
    assert not AssemblyFlag.objects.exists()
    kept = text_of(browser.post(address, keep, headers={"HX-Request": "true"}))
    assert "for the auditor" in kept
    assert "data-focus" in kept
    browser.post(address, {**keep, "note": "x" * 201})
    assert AssemblyFlag.objects.get().note == "for the auditor"


def test_a_bundle_is_taken_away(signed_in: SignedIn, teammate: User, outsider: User, record: Assembly) -> None:
    address = f"/contexts/{record.id}/bundle/"
    answer = signed_in(teammate).get(address)
    assert set(read_bundle(answer.content).records) == {record.id}
    assert signed_in(outsider).get(address).status_code == 404
    assert Client().get(address).status_code == 302


@pytest.mark.finding("E4")
@pytest.mark.parametrize("rule", ["for_ever", "default"])
def test_days_without_their_choice_are_an_error(rule: str, signed_in: SignedIn, owner: User, team: Team) -> None:
    answer = signed_in(owner).post(TEAM, {**DAYS, "rule": rule})
    assert answer.status_code == 422
    assert "Choose “Custom” to use these days, or clear the number." in text_of(answer)
    assert "Saved." not in text_of(answer)


@pytest.mark.finding("E4")
def test_saving_without_a_change_says_so(signed_in: SignedIn, owner: User, team: Team) -> None:
    page = text_of(signed_in(owner).post(TEAM, {"version": "0", "rule": "default"}, follow=True))
    assert "Nothing has changed." in page
    assert "Saved" not in page
