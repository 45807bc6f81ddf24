"""Escaping of what was merely seen, and the levels of headings in owners' files, line by line."""

import os
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.contexts.exact_text import all_text_sections
from assembly.engine.escaping import escape_text
from assembly.engine.heading_levels import shift_headings
from assembly.engine.types import field_values
from tests.attacks.forgeries import FORGERIES
from tests.engine.factories import NOW, candidate, profile_of, run, section, texts

CHARACTERS = 500_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 120_000
"""Of which any text comes to an end: work that grows with their square would not."""
BENIGN = [
    "Plain words, and a second line\nwith *emphasis*, `code`, [a link](https://example.org) and 3 < 4.",
    "- a list\n- of things\n  - and below\n1. one\n2. two",
    "- [ ] to do\n- [x] done\n- [a link](b)\n- [a reference][c]",
    "#12 is fixed, #include <stdio.h>\n#!/bin/sh\n#tag",
    "> quoted\n> twice",
    "```py\n# a comment\ndef f(): ...\n```\n\nand\n\n~~~\n## not a heading\n~~~",
    "````md\n```\ninner\n```\n````",
    "a | b\n--|--\n1 | 2",
    "10:15 Users: many\nThe user: a friend of mine\ne.g. a -- b",
    "x = a[1] * 2 ** 3  # a comment after code",
    "<https://example.org> wrote; vector<int> v; a <b> c",
    "\tindented\n    code()",
    "na\u00efve caf\u00e9 \u6f22\u5b57 \U0001f1fa\U0001f1f3",
]


@pytest.mark.parametrize("text", BENIGN)
def test_what_poses_as_nothing_stays_byte_for_byte(text: str) -> None:
    assert escape_text(text).text == text


@pytest.mark.finding("4a")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\n## Identity", "a\n\n\\## Identity"),
        ("a\r> - # b", "a\r> - \\# b"),
        ("a\u2028\ufeff\uff03 b", "a\u2028\ufeff\\\uff03 b"),
        ("Title\n===\nb\n-", "Title\n\\===\nb\n\\-"),
        ("* * *", "* * \\*"),
        ("**user**: a\nHuman : b", "\\**user**: a\n\\Human : b"),
        ("- [decision] a\n* [x] b", "\\- [decision] a\n* [x] b"),
        ("```\nopen", "\\```\nopen"),
        ("  ```\na\n  ```", "  \\```\na\n  \\```"),
        ("```\na\n```\n```", "```\na\n```\n\\```"),
        ("a <!-- b <H2>c", "a <\\!-- b <\\H2>c"),
        ("```\n<|im_start|>\n```", "```\n<\\|im_start|>\n```"),
        ("<div>\n</div>", "<\\div>\n<\\/div>"),
        ("x [INST] y <<SYS>>", "x [\\INST] y <\\<SYS>>"),
        ("a\n[2026-01-01T00:00:00.000Z] b", "a\n\\[2026-01-01T00:00:00.000Z] b"),
    ],
)
def test_what_poses_as_structure_gets_a_backslash(text: str, shown: str) -> None:
    assert escape_text(text).text == shown


def test_in_a_turn_nobody_else_begins_to_speak() -> None:
    assert escape_text("a\n**critic**: b").text == "a\n**critic**: b"
    assert escape_text("a\n**critic**: b", is_turn=True).text == "a\n\\**critic**: b"


def test_what_follows_a_lead_begins_no_line() -> None:
    assert escape_text("# a\n# b", begins_line=False).text == "# a\n\\# b"
    assert escape_text("```\na\n```", begins_line=False).text == "```\na\n\\```"


@pytest.mark.finding("4a")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# A\n\na\n\n## B\n\n#### C", "### A\n\na\n\n#### B\n\n###### C"),
        ("## A\n### B", "### A\n#### B"),
        ("### A\n#### B\n-- c", "### A\n#### B\n-- c"),
        ("A\n===\n\nB\n---\n\nc", "### A\n\n#### B\n\nc"),
        ("A\r\n===\r\nb", "### A\r\nb"),
        ("a\nb\n---\nc", "a\nb\n***\nc"),
        ("a\n\n---\n\nb", "a\n\n---\n\nb"),
        ("```sh\n# a\n```\n# B", "```sh\n# a\n```\n### B"),
        ("1. a\n\n   ```\n   # b\n   ```\n\n# C", "1. a\n\n   ```\n   # b\n   ```\n\n### C"),
        ("```\n# A", "\\```\n### A"),
        ("<h1>A</h1>\n<h2>B</h2>", "<h3>A</h3>\n<h4>B</h4>"),
        ("<!-- a -->\n<!--\nb", "<!-- a -->\n<\\!--\nb"),
        ("<div>\n```\n# a\n```\n</div>", "<\\div>\n```\n# a\n```\n</div>"),
        ("<b>a</b>\n\n```\n# b\n```", "<b>a</b>\n\n```\n# b\n```"),
        ("**user**: a\n- [decision] b\nHuman: c", "**user**: a\n- [decision] b\nHuman: c"),
    ],
)
def test_headings_of_a_file_stand_below_the_one_of_its_section(text: str, shown: str) -> None:
    assert shift_headings(text).text == shown


HOSTILE = st.sampled_from(FORGERIES) | texts(12) | st.lists(st.sampled_from(FORGERIES), max_size=4).map("\n".join)


@given(HOSTILE, st.booleans(), st.booleans())
def test_what_is_escaped_stays_as_it_is(text: str, begins_line: bool, is_turn: bool) -> None:
    once = escape_text(text, begins_line=begins_line, is_turn=is_turn)
    again = escape_text(once.text, begins_line=begins_line, is_turn=is_turn)
    assert (again.text, list(again.fences)) == (once.text, list(once.fences))


@given(HOSTILE)
def test_what_is_shifted_stays_as_it_is(text: str) -> None:
    once = shift_headings(text)
    assert shift_headings(once.text).text == once.text


@given(HOSTILE, st.integers(0, 400), st.booleans())
def test_a_place_in_the_shown_text_is_found_in_the_original(text: str, length: int, owners: bool) -> None:
    edited = shift_headings(text) if owners else escape_text(text)
    length = min(length, len(edited.text))
    original = edited.original_length(length)
    assert 0 <= original <= len(text)
    changed = sum(len(edit.text) + edit.end - edit.start for edit in edited.edits)
    assert abs(original - length) <= changed
    assert edited.original_length(len(edited.text)) == len(text) or edited.edits


CUT_IN_A_FENCE_LINE = re.compile(r"(`{3,}|~{3,})[^\n]* \.\.\. \[truncated\]\n\1[`~]*\Z")


@given(HOSTILE, st.integers(8, 60), st.sampled_from(["text", "entries", "turns", "sequence"]), st.booleans())
def test_a_cut_makes_nothing_that_poses(text: str, cap: int, shape: str, owners: bool) -> None:
    """What was cut, escaped once more, is what it was: no cut leaves a fence open or a heading of what was none."""
    one = section(shape=shape, cap=cap)
    one = replace(one, source="agent_files") if owners else one
    content = run(profile_of(one), candidate("a", text, kind="user", date=NOW.date())).content
    leads = {"text": "## Log\n", "entries": f"## Log\n### {NOW.date()}\n", "turns": "## Log\n\n**user**: "}
    body = content.removeprefix(leads.get(shape, "## Log\n\n"))
    is_file = owners and shape == "text"
    if CUT_IN_A_FENCE_LINE.search(body):
        return  # an empty code block, closed at once: it hides nothing and opens nothing
    again = (
        shift_headings(body) if is_file else escape_text(body, begins_line=shape != "turns", is_turn=shape == "turns")
    )
    assert again.text == body


@pytest.mark.parametrize(
    "piece",
    [
        "x", " ", "\n", "# a\n", "- ", "> ", "`", "```\n", "~~~a\n", "<", "<!--", "<a\n", "- [", "[a", "**", "*", "=",
        "=\n", "-\n", "a\n-\n", "1. ", "\u200b", "<|", "user", "```a\n````a\n", "<div>\n```\n", "```\n```\n", "\\",
        "a\n===\n\n",
    ],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    for treat in (escape_text, shift_headings):
        assert treat(piece * (CHARACTERS // len(piece)))


@pytest.mark.finding("4a")
def test_a_cut_in_a_fence_closes_it_and_the_page_marks_both() -> None:
    text = "**a.py**\n````py\n" + "x = 1\n" * 50 + "````"
    assembled = run(profile_of(section(cap=20)), candidate("a", text))
    assert assembled.content.endswith("x = 1 ... [truncated]\n````")
    sections = [field_values(result) for result in assembled.sections]
    (piece,) = all_text_sections(sections, assembled.decisions, assembled.content)
    marks = [shown for part in piece.parts for shown, is_mark in part.runs if is_mark]
    assert marks == ["... [truncated]\n````"]
