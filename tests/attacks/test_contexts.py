"""Whatever was merely seen says, a reader finds exactly the true sections, items and roles.

In `make test` a sample, in `make test-deep` every text in every place.
"""

import os
import re
from dataclasses import dataclass, replace

import pytest

from assembly.contexts.documents import DATA_LEAD, build_messages
from assembly.engine.assemble import assemble
from assembly.engine.profile import Delimiter, Profile, Section
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.rules import Actions, Condition, Rule, Selector
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, EngineRequest, EngineResult, field_values
from assembly.profiles.parser import parse_profile
from assembly.profiles.shipped import SHIPPED
from assembly.sources import SOURCES
from tests.attacks import reading
from tests.attacks.forgeries import FORGERIES
from tests.attacks.places import NOW, PLACES, candidate

OWNERS = {"agent_files", "team_files", "organisation_files"}
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
ROUNDS = range(len(FORGERIES)) if DEEP else range(0, len(FORGERIES), 30)
BUDGETS = {"ample": 190_000, "tight": 2_500, "narrow": 700}
PROFILES = {name: parse_profile(text, name=name, version=1, sources=SOURCES) for name, text in SHIPPED.items()}
SPEAKERS = r"(?:user|assistant|system|human|ai)"
ROLE = re.compile(rf"[*_\"'`(\[]*{SPEAKERS}[*_\"'`)\]]*\s*[:\uff1a]", re.IGNORECASE)
POSING = re.compile(
    r"[#\uff03]+(?:[^a-z]|$)|"
    r"<[A-Za-z/!?|\uff5c]|`{3}|~{3}|[-*_=\u2500 \t]+$(?<! )|[-*+]\s+\[(?![ xX]\])[^\]]+\](?![(:])"
)
CONTROL = re.compile(r"<[|\uff5c][^|<>\s]+[|\uff5c]>|\[/?INST\]|<</?SYS>>")


def with_all_sections(profile: Profile) -> Profile:
    """The profile with a section for what rules include, and one for an external source and for additional context."""
    place = sum(section.required for section in profile.sections)
    sections = [*profile.sections[:place], ALWAYS_INCLUDED, *profile.sections[place:]]
    missing = [name for name in SOURCES if name not in {one.source for one in sections}]
    blocks = [
        Section(name, f"Own {name}", "L6", name, "blocks") for name in missing if name not in {"turns", "task_stack"}
    ]
    sequences = [Section(name, f"Own {name}", "L6", name, "sequence") for name in missing if name == "task_stack"]
    last = (
        sections.pop() if sections[-1].shape == "turns" else Section("own_turns", "Own turns", "L6", "turns", "turns")
    )
    first_block = next((n for n, one in enumerate(sections) if one.shape == "blocks"), len(sections))
    every = (*sections[:first_block], *sequences, *blocks, *sections[first_block:], last)
    # Every text has its chance, wherever it occurs once more.
    return replace(profile, sections=every, ranker=None, deduplicate=False, scope_limits={})


ALWAYS = Rule("r", 1, "agent", Condition(), Actions(always_include=(Selector("source", "rule_inclusions"),)))


@dataclass(frozen=True)
class Attack:
    profile: Profile
    candidates: list[Candidate]

    @classmethod
    def of(cls, profile: Profile, number: int) -> "Attack":
        """Every place of every section holds a text; from one number to the next, each place gets the next one."""
        told, offset = [], 0
        for section in profile.sections:
            places = PLACES[section.source]
            for place, words in enumerate(places[:1] if section.shape == "text" else places):
                told.append(candidate(section.key, words(FORGERIES[(number + offset) % len(FORGERIES)]), place))
                offset += 7
        return cls(profile, told)

    def assembled(self, budget: int) -> EngineResult:
        request = EngineRequest(budget, "", "cl100k_base", NOW, rules=(ALWAYS,))
        return assemble(request, self.profile, self.candidates, get_tokenizer("cl100k_base"))


def check(attack: Attack, assembled: EngineResult) -> None:
    """A reader finds what the engine says that it put there, and nothing else."""
    kinds = {(one.section, one.ref): one for one in attack.candidates}
    inside = {section.key: [one for one in assembled.decisions if one.included and one.section == section.key]
              for section in attack.profile.sections}  # fmt: skip
    true = [section for section in attack.profile.sections if inside[section.key]]
    found = sections_read(attack.profile, assembled.content)
    assert [one.label for one in found] == [one.label for one in true]
    for section, read in zip(true, found, strict=True):
        decided = sorted(inside[section.key], key=lambda one: one.start or 0)
        items = [kinds[one.section, one.ref] for one in decided]
        check_items(section, read, items)
        if section.source not in OWNERS:
            check_that_nothing_poses(section, read)
    if attack.profile.delimit == "headings":
        check_markdown(assembled.content, true, found)
    else:
        check_markdown_in_tags(assembled.content, true)


def sections_read(profile: Profile, content: str) -> list[reading.Section]:
    """The sections as a reader finds them who knows whether they are headings or tags."""
    return reading.read_tags(content) if profile.delimit == "tags" else reading.read(content)


def check_items(section: Section, read: reading.Section, items: list[Candidate]) -> None:
    if section.shape == "entries":
        assert read.found(reading.ENTRY) == [str(item.date) for item in items]
    elif section.shape == "lines":
        assert len(read.lines) == len(items)
        with_kind = [item for item in items if item.kind]
        assert len(read.found(reading.BULLET)) == len(with_kind)
        assert all(line.startswith("- ") for line in read.lines)
    elif section.shape == "turns":
        assert read.found(reading.TURN) == [item.kind for item in items]
    elif section.source in {"recent_events", "tool_results"}:
        assert len(read.found(reading.EVENT)) <= len(items)


def check_that_nothing_poses(section: Section, read: reading.Section) -> None:
    for line in reading.lines_by_any_reader(read):
        if not (section.shape == "entries" and reading.ENTRY.match(line)):
            assert not POSING.match(line), (section.key, line)
        if section.shape not in {"turns", "lines"}:
            assert not ROLE.match(line), (section.key, line)
    text = "\n".join(read.lines)
    assert "<!--" not in text
    assert not CONTROL.search("\n".join([*read.lines, *read.fenced])), section.key


def check_markdown(content: str, true: list[Section], found: list[reading.Section]) -> None:
    """A parser of CommonMark finds the sections and entries, and below them the headings of owners' files alone."""
    lines = re.split(r"\r\n?|\n", content)  # as CommonMark does
    starts = [number for number, line in enumerate(lines) if line in {f"## {one.label}" for one in true}]
    expected = iter(found)
    seen_headings = []
    for level, text, line in reading.headings(content):
        if level == 2:
            assert text == next(expected).label
            seen_headings.append(line)
            continue
        section = true[len(seen_headings) - 1]
        if section.source in OWNERS:
            assert level == 0 or level >= 3, text
        else:
            assert section.shape == "entries", (section.key, text)
            assert level == 3
            assert reading.ENTRY.match(lines[line]), text
    assert next(expected, None) is None
    assert set(seen_headings) <= set(starts)
    for kind, line in reading.rules_and_tags(content):
        section = true[sum(start <= line for start in seen_headings) - 1]
        assert section.source in OWNERS, (section.key, kind, lines[line])


def check_markdown_in_tags(content: str, true: list[Section]) -> None:
    """A parser of CommonMark finds no heading in data but those of entries, and no HTML but the sections' own tags."""
    lines = re.split(r"\r\n?|\n", content)
    starts = [number for number, line in enumerate(lines) if reading.OPENING_TAG.fullmatch(line)]
    assert len(starts) == len(true)
    for level, text, line in reading.headings(content):
        section = true[sum(start <= line for start in starts) - 1]
        is_entry = section.shape == "entries" and level == 3 and reading.ENTRY.match(lines[line])
        assert section.source in OWNERS or is_entry, (section.key, text)
    for kind, line in reading.rules_and_tags(content):
        section = true[sum(start <= line for start in starts) - 1]
        is_own = bool(reading.OPENING_TAG.fullmatch(lines[line])) or lines[line] == reading.CLOSING_TAG
        assert is_own or section.source in OWNERS, (section.key, kind, lines[line])


def check_messages(attack: Attack, assembled: EngineResult) -> None:
    """The system's message holds owners' files alone, the user's what was seen; the turns are as they were said."""
    sections = [field_values(section) for section in attack.profile.sections]
    results = [field_values(result) for result in assembled.sections]
    messages = build_messages(assembled.content, sections, results, assembled.decisions)
    inside = {one.section for one in assembled.decisions if one.included}
    true = [section for section in attack.profile.sections if section.key in inside]
    owners = [one.label for one in true if one.source in OWNERS]
    seen = [one.label for one in true if one.source not in OWNERS and one.shape != "turns"]
    count, rest = get_tokenizer("cl100k_base").count, list(messages)
    if owners:
        system = rest.pop(0)
        assert system["role"] == "system"
        assert [one.label for one in sections_read(attack.profile, system["content"])] == owners
    if seen:
        data = rest.pop(0)
        lead, _, text = data["content"].partition("\n\n")
        assert (data["role"], lead) == ("user", DATA_LEAD)
        assert [one.label for one in sections_read(attack.profile, text)] == seen
        if attack.profile.delimit == "headings":
            assert [text for level, text, _ in reading.headings(text) if level == 2] == seen
    by_ref = {(one.section, one.ref): one.kind for one in attack.candidates}
    turns = [one.key for one in true if one.shape == "turns"]
    said = sorted(
        (one.start or 0, by_ref[one.section, one.ref])
        for one in assembled.decisions
        if one.included and one.section in turns
    )
    assert [one["role"] for one in rest] == [role for _, role in said]
    most = assembled.tokens + count(DATA_LEAD) + len(messages)
    assert sum(count(one["content"]) for one in messages) <= most


# --- The tests -----------------------------------------------------------------------------------------------------


def test_every_source_has_its_places() -> None:
    assert set(PLACES) == set(SOURCES)
    assert len(FORGERIES) >= 300


@pytest.mark.finding("4a")
@pytest.mark.finding("4b")
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("name", "delimit"),
    [*((name, PROFILES[name].delimit) for name in PROFILES), ("operations", "tags"), ("memory", "headings")],
)
def test_a_reader_finds_exactly_what_is_true(name: str, delimit: Delimiter, budget: str) -> None:
    profile = replace(with_all_sections(PROFILES[name]), delimit=delimit)
    failures = []
    for number in ROUNDS:
        attack = Attack.of(profile, number)
        assembled = attack.assembled(BUDGETS[budget])
        try:
            check(attack, assembled)
            check_messages(attack, assembled)
        except AssertionError as error:
            failures.append(f"{number}: {error}")
    assert not failures, f"{len(failures)} of {len(ROUNDS)}\n" + "\n".join(failures[:5])
