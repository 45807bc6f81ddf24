"""Where the budget went: what each cap was used for adds up."""

from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.models import Agent
from assembly.contexts.layers import CapUsage, LayerBudgetRow, budget_bar_segments, layer_rows, unused_tokens
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from teams.models import Team, User
from tests.assembly.large_record import SECTIONS, context_of_many, recorded_context
from tests.pages.conftest import SignedIn, text_of

SIZES = (0, 1, 39, 300, 2_000, 5_000)


@pytest.mark.parametrize("cap", SIZES)
@pytest.mark.parametrize("budget", SIZES)
def test_used_lent_and_unused_are_the_cap_or_the_budget(cap: int, budget: int) -> None:
    most = min(cap, budget)
    for used, free in product(SIZES, SIZES):
        room = CapUsage.of(cap, min(used, most), budget=budget, free=free)
        assert room.lent is not None
        assert room.unused is not None
        assert room.used + room.lent + room.unused == most
        assert min(room.lent, room.unused) >= 0
        assert room.unused <= free


def test_what_has_no_cap_lends_nothing() -> None:
    assert CapUsage.of(None, 30, budget=100, free=70) == CapUsage(None, 30, None, None)


@pytest.mark.parametrize(
    ("room", "lent", "unused"),
    [
        (CapUsage.of(3_000, 900, budget=16_000, free=8_000), 0, 2_100),  # all that it left was still free in the end
        (CapUsage.of(3_000, 900, budget=4_000, free=500), 1_600, 500),  # the others went on with 1,600 of it
        (CapUsage.of(3_000, 0, budget=1_600, free=0), 1_600, 0),  # a cap is never more than the whole
    ],
)
def test_lent_is_what_others_used_of_a_cap(room: CapUsage, lent: int, unused: int) -> None:
    assert (room.lent, room.unused) == (lent, unused)


def _rows(assembly: Assembly) -> list[LayerBudgetRow]:
    return layer_rows(assembly, load_record(assembly).decisions)


def _add_up(assembly: Assembly) -> None:
    rows = _rows(assembly)
    sections = [section for row in rows for section in row.sections]
    assert sum(row.room.used for row in rows) == sum(section.room.used for section in sections) == assembly.tokens
    assert assembly.tokens + unused_tokens(assembly) == max(assembly.tokens, assembly.budget)
    assert sum(row.considered for row in rows) == len(load_record(assembly).decisions)
    for room in [row.room for row in rows] + [section.room for section in sections]:
        if room.cap is not None:
            assert room.used + cast("int", room.lent) + cast("int", room.unused) == min(room.cap, assembly.budget)
            # No other section can have used more than there was beside it.
            assert cast("int", room.lent) <= assembly.tokens - room.used


@pytest.mark.parametrize("budget", [0, 40, 300, 1_200, 16_000])
def test_the_sums_hold_for_contexts_of_all_sizes(budget: int, team: Team, agent: Agent, owner: User) -> None:
    texts = [Candidate("agent_file:a@1", "identity", "Be kind. " * 8, kind="IDENTITY")]
    texts += [Candidate(f"memory:{number}@1", "knows", "harbour walk " * 30, kind="fact") for number in range(40)]
    texts += [Candidate(f"event:{number}", "events", "ferry ledger " * 30, score=0.5) for number in range(40)]
    _add_up(recorded_context(agent, team, owner.principal, SECTIONS, texts, budget=budget))


def test_the_sums_hold_for_the_conversation_and_for_very_many(team: Team, agent: Agent, owner: User) -> None:
    _add_up(assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly)
    _add_up(context_of_many(agent, team, owner.principal, candidates=300))


def test_sections_of_a_layer_that_follow_one_another_stand_together(team: Team, agent: Agent, owner: User) -> None:
    rows = _rows(assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly)
    assert [(row.layer, len(row.sections)) for row in rows] == [
        ("l1", 2), ("l2", 3), ("l3", 1), ("l4", 1), ("l5", 1), ("l7", 1),
    ]  # fmt: skip
    assert rows[0].label == "Identity, Instructions"
    assert (rows[0].required, rows[1].required) == (True, False)


def test_the_bar_is_as_long_as_what_was_used() -> None:
    assembly = cast("Assembly", SimpleNamespace(budget=1_000, tokens=500))
    rows = [_layer("l1", 100), _layer("l2", 0), _layer("l3", 400)]
    pieces = budget_bar_segments(assembly, rows)
    assert [(piece.layer, piece.x, piece.width) for piece in pieces] == [("l1", 0, 100), ("l3", 100, 400)]


def _layer(layer: str, tokens: int) -> LayerBudgetRow:
    return LayerBudgetRow(layer, CapUsage(None, tokens), ())


def test_the_page_says_what_was_lent(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    texts = [Candidate("agent_file:a@1", "identity", "Be kind. " * 100, kind="IDENTITY")]
    small = recorded_context(agent, team, owner.principal, SECTIONS, texts, budget=1_000)
    page = text_of(signed_in(owner).get(f"/contexts/{small.id}/"))
    (row,) = (row for row in _rows(small) if row.layer == "l4")
    assert row.room == CapUsage(3_000, 0, small.tokens, 1_000 - small.tokens)
    assert f'data-label="lent">{small.tokens}</td>' in page
    assert f'data-label="free">{1_000 - small.tokens}</td>' in page


def test_headings_of_many_sections_are_counted() -> None:
    section: Any = SimpleNamespace(label="Tools", required=False)
    assert LayerBudgetRow("l6", CapUsage(None, 0), (section,) * 4).label == ""
