"""The size beside the editor is the engine's own: it tells what a context does, and draws the line where it cuts."""

import datetime
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from agents.models import Agent
from agents.services import daily_log_append
from assembly.engine.selection import fill_section
from assembly.engine.types import Candidate
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.shipped import CONVERSATION
from assembly.simulation.draft_preview import size
from assembly.simulation.draft_preview.size import measure_text, rendered_with_cut
from assembly.templatetags.contexts import rendered_for, size_of
from teams.models import Team, TeamFile
from teams.principal import SYSTEM
from teams.text_diff.markdown import render_markdown
from teams.versioned_text.presentation import TextPage
from teams.versioned_text.versioned_file import file_save
from tests.engine.factories import profile_of, run

LONG = "\n\n".join(f"Paragraph {number}: " + "story and stage, " * 30 for number in range(30))


def cut_of(agent: Agent, team: Team, section: str) -> Mapping[str, Any]:
    """What the one decision of a section says of its cut, in a context that is assembled now."""
    assembled = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest())
    (decision,) = (decision for decision in assembled.decisions if decision.section == section)
    return decision.detail


@pytest.mark.django_db
@pytest.mark.parametrize("text", [LONG, LONG.replace("\n\n", "\n\n\n"), LONG.replace(". ", "é "), "x" * 20_000])
def test_a_text_is_cut_where_a_context_cuts_it(text: str, agent: Agent, team: Team) -> None:
    knowledge = agent.files.get(file_key="KNOWLEDGE")
    file_save(file=knowledge, content=text, expected_version=1, author=SYSTEM.author)
    cut = cut_of(agent, team, "knowledge")
    measured = measure_text(text, "KNOWLEDGE")
    assert measured.included_characters == cut["kept_chars"]
    assert measured.cut_paragraphs == cut["of_paragraphs"] - cut["kept_paragraphs"]
    assert measured.tokens > measured.room


@pytest.mark.django_db
def test_a_day_is_cut_where_a_context_cuts_it(agent: Agent, team: Team) -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    daily_log_append(agent=agent, date=today, text=LONG, principal=SYSTEM)
    cut = cut_of(agent, team, "recent_activity")
    assert measure_text(LONG, "RECENT_ACTIVITY").included_characters == cut["kept_chars"]


def test_what_is_always_told_whole_is_never_cut() -> None:
    measured = measure_text(LONG * 10, "IDENTITY")
    assert (measured.included_characters, measured.cut_paragraphs) == (None, 0)
    assert measured.section.required


def test_an_empty_text_has_no_tokens() -> None:
    assert (measure_text(" \n ", "GOALS").tokens, measure_text("", "GOALS").words) == (0, 0)


@pytest.mark.parametrize(
    ("text", "kept", "before"),
    [
        ("one two three", 7, "one two"),
        ("one\n\ntwo three", 6, "one\ntwo"[:5]),
        ("see [the page](https://example.org/a/long/path) there", 30, "see"),
        ("- one\n- two\n- three", 8, "one"),
        ("```\ncode here\n```", 8, "code"),
        ("**bold**", 1, ""),
    ],
)
def test_the_line_stands_where_the_text_is_cut(text: str, kept: int, before: str) -> None:
    html = rendered_with_cut(text, kept)
    line = re.search(r'<span class="cut-line">.*?</span></span>', html)
    assert line
    assert html.replace(line[0], "") == render_markdown(text)
    said = re.sub(r"<[^>]*>", "", html[: line.start()]).strip()
    assert re.sub(r"<[^>]*>", "", render_markdown(text)).strip().startswith(said)
    assert said.startswith(before)


@pytest.mark.finding("4a")
@pytest.mark.parametrize("key", ["KNOWLEDGE", "RECENT_ACTIVITY"])
def test_the_line_of_a_text_that_is_shown_edited_stands_in_what_was_written(key: str) -> None:
    paragraphs = [f"# Title {number}\n\nSentence {number}: story and stage, story and stage." for number in range(400)]
    text = "\n\n".join(paragraphs)
    kept = measure_text(text, key).included_characters
    assert kept is not None
    shown = [number for number in range(400) if f"Title {number}\n" in text[:kept]]
    section = next(section for section in CONVERSATION.sections if section.key.upper() == key)
    candidate = Candidate("draft", section.key, text, date=datetime.date(2026, 1, 1))
    content = run(profile_of(section), candidate, tokenizer="cl100k_base").content
    in_context = [number for number in range(400) if f"# Title {number}\n" in content]
    assert abs(len(shown) - len(in_context)) <= 1  # another section stands before it in a context
    assert len(shown) < 400


def text_page(key: str) -> TextPage:
    """The page of a team's file, as far as sizes need it."""
    page: TextPage = SimpleNamespace(key=key, file=TeamFile(file_key=key))  # type: ignore[assignment]
    return page


@pytest.mark.finding("5.1b")
def test_tokens_are_counted_once_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"A text that no other test measures. {'a' * 50_000}"
    counted = [0]

    def counting(*arguments: Any) -> Any:
        counted[0] += 1
        return fill_section(*arguments)

    monkeypatch.setattr(size, "fill_section", counting)
    goals, background = (text_page(key) for key in ("GOALS", "CONTEXT"))
    size_of(text, goals)
    rendered_for(text, goals)
    rendered_for(text, goals)
    assert counted == [1]
    size_of(text, background)
    assert counted == [2], "another section has another room"
