"""Decisions on many conflicts that are alike, and their undo."""

import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.models import Conflict
from memories.models import Memory
from teams.models import User
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
