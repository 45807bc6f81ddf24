"""Promise 6, tried out: whatever is edited, what is answered is what an uncached run gives."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.engine.codes import Code
from assembly.models import Assembly
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache
from assembly.pipeline.request import DEFAULT_PROFILE, AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.profiles.shipped import SHIPPED
from assembly.records.reader import load_record
from assembly.sources.base import ConversationTurn
from config.http.errors import Invalid
from memories.models import Event, Session
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.one_of_each import everything
from tests.assembly.pipeline.edits import EDITS
from tests.assembly.recorded_decisions import decided
from tests.concurrency import at_once

LONG = " ".join(f"Sheet {number} of the first issue has paper, ink and a number of its own." for number in range(20))
HISTORY = tuple(ConversationTurn(role="user", content=f"Turn {number}. {LONG}") for number in range(6))
REQUESTS: list[dict[str, Any]] = [
    {"topic": "", "max_tokens": None},
    {"topic": "Is the ink dry?", "max_tokens": None},
    {"topic": "ink and paper", "max_tokens": 60},
    {"topic": "Why is the ink not dry?", "max_tokens": 900},
    {"topic": "Which sheet has no ink?", "max_tokens": 1_500, "history": HISTORY},
    {"topic": "Which sheet has no ink?", "max_tokens": 900, "budgets": RequestBudgets(quality_min=0.9)},
]
QUICK = {DEFAULT_PROFILE, "memory"}
"""The profiles that are tried each time: the default, and what `POST /api/v1/memory/assemble` has."""
OF_TEAM = {
    "a team's file", "a memory of the team", "a memory of the team deleted", "a rule of the team", "the team's name",
    "a memory pinned or not", "a memory retired or not",
}  # fmt: skip


@pytest.fixture
def kept(db: None) -> tuple[Agent, Team]:
    agent, team = everything(timezone.now())
    session = Session.objects.get(agent=agent)
    for number in range(4):
        Event.objects.create(
            agent=agent, session=session, type="tool_result", tool="press", size=1_400, occurred_at=timezone.now(),
            content={"output": f"Print {number}. {LONG}"},
        )  # fmt: skip
    return agent, team


@contextmanager
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if nobody had asked anything before."""
    with monkeypatch.context() as patch:
        patch.setattr(shared_answers, "assembly_cache", AssemblyCache())
        yield


def ask(*, alone: bool = False, **wishes: Any) -> Assembly | None:
    """Assembled with the rows as they are now; None where the agent may not work in the team any more."""
    agent, team = Agent.objects.get(slug="mira"), Team.objects.get(slug="press")
    try:
        return assemble(
            agent=agent, team=None if alone else team, asked=AssemblyRequest(**wishes), principal=SYSTEM
        ).assembly
    except Invalid:
        return None


def outcome(assembly: Assembly | None) -> Any:
    """All that was decided, as a value that can be compared."""
    if assembly is None:
        return None
    told = load_record(assembly)
    return bytes(assembly.sha256), assembly.tokens, assembly.warnings, told.sections, [*told.decided]


def shortened(assembly: Assembly | None) -> int:
    """How many items were said shorter to save room."""
    return len(decided(assembly, code=[Code.COMPACTED, Code.SUMMARISED])) if assembly else 0


def is_repeat(assembly: Assembly | None) -> bool:
    return assembly is not None and "repeats" in assembly.request


@pytest.mark.parametrize(
    "profile", [each if each in QUICK else pytest.param(each, marks=pytest.mark.deep) for each in SHIPPED]
)
def test_what_is_answered_equals_an_uncached_run_at_the_same_now(
    profile: str, kept: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, repeats, shorter, edit = Random(profile), 0, 0, "nothing"
    for _ in range(60):
        EDITS[edit](*kept, chance)
        request = {"profile": profile, **chance.choice(REQUESTS)}
        given = ask(**request)
        repeats += is_repeat(given)
        shorter += shortened(given)
        if given and is_repeat(given):  # else it is an uncached run itself
            with empty_cache(monkeypatch):
                fresh = ask(**request, now=given.now)
            assert outcome(given) == outcome(fresh), edit
        edit = "nothing" if chance.random() < 0.5 else chance.choice(list(EDITS))
        edit = edit if given else "the agent's team"  # let it in again
    assert repeats >= 5, "else this would show nothing"
    assert shorter >= 5 or profile == DEFAULT_PROFILE, "else it would show nothing about the ladder"


@pytest.mark.parametrize("edit", sorted(set(EDITS) - {"nothing"}))
def test_after_any_change_nothing_is_repeated(edit: str, kept: tuple[Agent, Team]) -> None:
    for alone in (True, False):
        assert not is_repeat(ask(alone=alone))
        assert is_repeat(ask(alone=alone))
    EDITS[edit](*kept, Random(edit))
    assert not is_repeat(ask())
    assert is_repeat(ask(alone=True)) == (edit in OF_TEAM), "what is no concern of the agent alone"


def test_a_writer_always_finds_what_it_wrote_however_many_ask(committed_database: str) -> None:
    agent, _ = everything(timezone.now())
    file = agent.files.get(file_key="KNOWLEDGE")

    def write_and_ask() -> None:
        for version in range(file.version, file.version + 20):
            text = f"Edition {version}."
            file_save(file=file, content=text, expected_version=version, author=SYSTEM.author)
            assert text in assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest()).content

    def ask_often() -> int:
        return sum(is_repeat(ask(alone=True)) for _ in range(30))

    _, *repeats = at_once([write_and_ask, ask_often, ask_often, ask_often])
    assert sum(repeats), "else this would show nothing"
