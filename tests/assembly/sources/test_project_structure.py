"""The project structure: a tree of paths in which late changes are marked, folded to a size, without any text."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.sources.project_structure import MAX_CHARACTERS, MAX_PATHS, format_tree
from memories.models import Document
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import HOUR, ask, document, found, gather_context, stranger


def tree(*paths: str, hours: float = 48, unread: int = 0) -> str:
    """The tree of the paths, of which each changed an hour before the one before it."""
    return format_tree(
        [(path, NOW - (hours + place) * HOUR) for place, path in enumerate(paths)], now=NOW, unread=unread
    )


def test_folders_come_before_files_and_both_by_name() -> None:
    assert tree("setup.py", "shop/views/cart.py", "README.md", "shop/models.py", "docs/index.md").split("\n") == [
        "docs/",
        "  index.md",
        "shop/",
        "  views/",
        "    cart.py",
        "  models.py",
        "README.md",
        "setup.py",
    ]


@pytest.mark.parametrize(
    ("hours", "line"),
    [
        (0, "main.py (changed 0 min ago)"),
        (0.5, "main.py (changed 30 min ago)"),
        (3.9, "main.py (changed 3 h ago)"),
        (23.9, "main.py (changed 23 h ago)"),
        (24, "main.py"),
        (-1, "main.py"),
    ],
)
def test_what_changed_within_a_day_is_marked(hours: float, line: str) -> None:
    assert tree("main.py", hours=hours) == line


def test_a_large_tree_keeps_what_changed_last_and_folds_the_deepest_folders_first() -> None:
    others = [f"lib/part{part}/deep/file{number}.py" for part in range(9) for number in range(40)]
    text = tree("lib/part3/deep/main.py", "setup.py", *others, hours=1)
    lines = text.split("\n")
    assert len(text) <= MAX_CHARACTERS
    assert "      main.py (changed 1 h ago)" in lines
    assert lines[-1] == "setup.py (changed 2 h ago)"
    assert "    deep/ (40 files)" in lines
    assert text == tree("lib/part3/deep/main.py", "setup.py", *others, hours=1)


def test_many_files_and_folders_at_the_top_become_one_count() -> None:
    folders = [f"folder{number:04}/file.py" for number in range(900)]
    text = tree("main.py", *folders, *(f"file{number:04}.py" for number in range(900)))
    assert len(text) <= MAX_CHARACTERS
    assert "main.py" in text.split("\n")
    assert text.endswith("… 1,781 more files")


def test_documents_that_were_not_read_are_counted() -> None:
    assert tree("main.py", unread=7_000) == "main.py\n… 7,000 more files"


paths = st.lists(
    st.one_of(
        st.lists(st.text(alphabet="abc. é", min_size=1, max_size=6), min_size=1, max_size=9).map("/".join),
        st.integers(1, 250).map(lambda depth: "/".join("d" * depth)),
        st.text(alphabet="xy/", min_size=1, max_size=500),
    ),
    min_size=1,
    max_size=60,
    unique=True,
)


@settings(deadline=None)
@given(paths, st.integers(0, 10))
def test_any_tree_fits_and_counts_every_file(names: list[str], unread: int) -> None:
    text = tree(*names, unread=unread)
    assert 0 < len(text) <= MAX_CHARACTERS


@settings(deadline=None)
@given(paths, st.integers(0, 300))
def test_a_tree_is_folded_to_any_room(names: list[str], room: int) -> None:
    whole = tree(*names)
    text = format_tree(
        [(path, NOW - (48 + place) * HOUR) for place, path in enumerate(names)],
        now=NOW,
        fits=lambda text: len(text) <= room,
    )
    count = len(names)
    assert text == whole if len(whole) <= room else text in {"1 file", f"{count} files"} or len(text) <= room


# --- The source ---


@pytest.mark.django_db
def test_the_tree_is_one_candidate_of_paths_and_times(agent: Agent) -> None:
    document(agent, "shop/cart.py", 3, content="secret = 1")
    document(agent, "README.md", 48)
    document(stranger(), "other.py", 1)
    [candidate] = found("project_structure", gather_context(agent, "the cart"))
    assert candidate.text == "shop/\n  cart.py (changed 3 h ago)\nREADME.md"
    assert candidate.ref == f"project_structure:{agent.id}"
    assert candidate.occurred_at == NOW - 3 * HOUR
    assert candidate.score == candidate.measures["recency"] == pytest.approx(0.8825, rel=1e-3)
    assert candidate.measures["relevance"] == 1
    assert ask("project_structure", gather_context(agent)).limit == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("profile", "budget"), [("coding", 32_000), ("coding", 1_500), ("memory", 600)])
def test_a_large_tree_is_folded_to_the_room_of_its_section(agent: Agent, profile: str, budget: int) -> None:
    names = [f"shop/part{number % 9}/module{number:03}.py" for number in range(300)]
    Document.objects.bulk_create(Document(agent=agent, path=name) for name in names)
    Document.objects.update(updated=NOW - 48 * HOUR)
    document(agent, "shop/part3/new.py", 1)
    asked = AssemblyRequest(profile=profile, max_tokens=budget, now=NOW)
    answer = assemble(agent=agent, asked=asked, principal=SYSTEM)
    [decision] = [one for one in answer.decisions if one.ref.startswith("project_structure:")]
    text = answer.content[decision.start : decision.end]
    assert decision.included, decision
    assert "new.py (changed 1 h ago)" in text
    assert "more files" in text or "/ (33 files)" in text


@pytest.mark.django_db
def test_an_agent_without_documents_has_no_tree(agent: Agent) -> None:
    assert not found("project_structure", gather_context(agent))


@pytest.mark.django_db
def test_of_very_many_documents_the_last_changed_are_read_in_one_statement(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    Document.objects.bulk_create(Document(agent=agent, path=f"old/{number}.py") for number in range(MAX_PATHS))
    Document.objects.update(updated=NOW - datetime.timedelta(days=9))
    document(agent, "new\n/main.py", 1)
    wanted = gather_context(agent)
    with django_assert_num_queries(1):
        [candidate] = found("project_structure", wanted)
    assert candidate.text.startswith("new /\n  main.py (changed 1 h ago)\nold/")
    assert candidate.text.endswith("… 1 more file")
