"""Decisions on many conflicts that are alike, and their undo."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.conflicts import selection
from assembly.models import Conflict
from config.http.errors import NotFound
from memories.models import Memory
from teams.models import Team, User
from teams.secret_scanning.handling import SecretHandling
from teams.versioned_text.versioned_file import StaleVersion
from tests.assembly.conflicts.conflict_factories import conflict_between, remember
from tests.pages.conftest import SignedIn, text_of

SELECTED = "/conflicts/selected/"


@pytest.fixture
def conflicts(agent: Agent) -> list[Conflict]:
    """Three conflicts; the first text is older in the first two, and newer in the last."""
    now = timezone.now()
    days = ((3, 1), (3, 1), (1, 3))
    return [
        conflict_between(
            remember(agent, f"Line {number} opens at 8.", occurred_at=now - datetime.timedelta(days=left)),
            remember(agent, f"Line {number} opens at 9.", occurred_at=now - datetime.timedelta(days=right)),
        )
        for number, (left, right) in enumerate(days)
    ]


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


def resolutions(conflicts: list[Conflict]) -> list[str]:
    found = Conflict.objects.in_bulk([conflict.id for conflict in conflicts])
    return [found[conflict.id].resolution for conflict in conflicts]


@pytest.mark.parametrize(
    ("action", "decided"),
    [
        ("newer", ["right", "right", "left"]),
        ("left", ["left", "left", "left"]),
        ("right", ["right", "right", "right"]),
        ("both", ["both", "both", "both"]),
    ],
)
def test_many_are_decided_alike_and_undone(
    action: str, decided: list[str], browser: Client, conflicts: list[Conflict]
) -> None:
    picks = [str(conflict.id) for conflict in conflicts]
    answer = browser.post(f"{SELECTED}?agent=luna", {"action": action, "pick": picks, "reason": "New hours."})
    assert answer["Location"] == "/conflicts/?agent=luna"
    assert resolutions(conflicts) == decided
    assert set(Conflict.objects.values_list("reason", flat=True)) == {"New hours."}
    page = text_of(browser.get(answer["Location"]))
    assert "holds: 3." in page or "hold: 3." in page
    assert page.count('type="hidden" name="pick"') == 3
    assert 'class="row actions undo"' not in text_of(browser.get("/conflicts/")), "it is offered once"
    browser.post(SELECTED, {"action": "undo", "pick": picks})
    assert resolutions(conflicts) == ["", "", ""]
    assert all(memory.stands for memory in Memory.objects.all())
    assert "Undone: 3." in text_of(browser.get("/conflicts/"))


def test_what_was_decided_before_is_left_as_it_is(browser: Client, conflicts: list[Conflict]) -> None:
    picks = [str(conflict.id) for conflict in conflicts]
    browser.post(SELECTED, {"action": "left", "pick": picks[:1]})
    browser.post(SELECTED, {"action": "right", "pick": picks})
    assert resolutions(conflicts) == ["left", "right", "right"]
    page = text_of(browser.get("/conflicts/"))
    assert "1 conflict was left as it is" in page


def test_a_conflict_that_an_earlier_one_settled_needs_no_decision(browser: Client, agent: Agent) -> None:
    eight, nine, ten = (remember(agent, f"The line opens at {hour}.") for hour in (8, 9, 10))
    first, second = conflict_between(eight, nine), conflict_between(nine, ten)
    browser.post(SELECTED, {"action": "left", "pick": [str(first.id), str(second.id)]})
    assert resolutions([first, second]) == ["left", ""]
    assert Memory.objects.get(id=ten.id).stands


@pytest.mark.parametrize(
    "body",
    [
        {"action": "delete", "pick": ["x"]},
        {"action": "both"},
        {"pick": ["x"]},
        {"action": "both", "pick": ["00000000-0000-7000-8000-000000000000"] * 2, "reason": "x" * 1_001},
    ],
)
def test_what_is_no_action_is_refused_with_a_sentence(
    body: dict[str, Any], browser: Client, conflicts: list[Conflict]
) -> None:
    assert browser.post(SELECTED, body).status_code == 302
    assert 'class="message error"' in text_of(browser.get("/conflicts/"))
    assert resolutions(conflicts) == ["", "", ""]


def test_a_reason_with_a_secret_is_refused_where_its_team_refuses_secrets(
    browser: Client, conflicts: list[Conflict], team: Team
) -> None:
    team.secret_handling = SecretHandling.REFUSE
    team.save()
    picks = [str(conflict.id) for conflict in conflicts]
    browser.post(SELECTED, {"action": "left", "pick": picks, "reason": "password: Blue-Otter42!"})
    assert resolutions(conflicts) == ["", "", ""]
    page = text_of(browser.get("/conflicts/"))
    assert page.count('class="message error"') == 1, "the same sentence once"
    assert "left as they are" not in page


def stale(conflict: Conflict, **_: Any) -> Conflict:
    raise StaleVersion(Memory.objects.first(), expected=7)


def missing(conflict: Conflict, **_: Any) -> Conflict:
    raise NotFound("This conflict")


@pytest.mark.parametrize("refused", [stale, missing])
@pytest.mark.parametrize("action", ["both", "undo"])
def test_one_that_cannot_be_decided_or_undone_leaves_the_others(
    browser: Client,
    conflicts: list[Conflict],
    monkeypatch: pytest.MonkeyPatch,
    action: str,
    refused: Callable[..., Conflict],
) -> None:
    picks = [str(conflict.id) for conflict in conflicts]
    if action == "undo":
        browser.post(SELECTED, {"action": "both", "pick": picks})
        browser.get("/conflicts/")
    name = "conflict_undo" if action == "undo" else "conflict_resolve"
    do = getattr(selection, name)

    def attempt(conflict: Conflict, **facts: Any) -> Conflict:
        done: Conflict = (refused if conflict == conflicts[1] else do)(conflict=conflict, **facts)
        return done

    monkeypatch.setattr(selection, name, attempt)
    browser.post(SELECTED, {"action": action, "pick": picks})
    assert resolutions(conflicts) == (["", "both", ""] if action == "undo" else ["both", "", "both"])
    page = text_of(browser.get("/conflicts/"))
    assert "1 conflict was left as it is" in page
    assert ("Undone: 2." if action == "undo" else "both texts hold: 2.") in page
