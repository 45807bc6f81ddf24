"""Strategies that draw what the promises are tried with: profiles of all kinds, rules, candidates, summarisers."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any, get_args

from hypothesis import strategies as st

from assembly.engine.profile import STEPS, CutAt, Profile, Section, Shape, Step, Weights
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.rules import SCOPES, Actions, Boost, Condition, Rule, Selector, SelectorKind
from assembly.engine.types import Candidate
from assembly.profiles.shipped import CONVERSATION
from tests.engine.factories import NOW, texts

# --- Texts ---------------------------------------------------------------------------------------------------------

SENTENCES = (
    "The harbour walk opens in March.", "Nobody has told the harbour master about the walk.",
    "Luna asked for shorter answers, twice!", "Who keeps the lighthouse keys?", "The keys hang behind the bar.",
    "A survey of the quay found three loose stones.", "They were set again within a week.", "x = lighthouse(keys)",
    "Tickets cost four euros, and half of that for children.", "Der Leuchtturm ist „im Umbau“.", "灯台は三月に開く。",
    "The budget for signs was cut by a third.", "Signs will be painted by hand…", "- a list item about signs",
)  # fmt: skip


def story(start: int, sentences: int, between: str) -> str:
    """So many sentences from that one on; every seventh ends a paragraph."""
    told = (SENTENCES[(start * 5 + 3 * place) % len(SENTENCES)] for place in range(sentences))
    return "".join(sentence + ("\n\n" if place % 7 == 6 else between) for place, sentence in enumerate(told))


STORIES = st.builds(story, st.integers(0, 13), st.integers(6, 40), st.sampled_from([" ", "\n"]))
LONG = st.builds(lambda text, times: (text or "x") * times, texts(), st.sampled_from([50, 400]))
TEXTS = st.integers(0, 15).flatmap(lambda number: {13: texts(4), 14: texts(20), 15: LONG}.get(number, STORIES))

# --- Profiles ------------------------------------------------------------------------------------------------------

SOURCES = st.sampled_from(["recent_events", "tool_results", "tool_results", "team_memories", "tools"])
SINGLE: tuple[Shape, ...] = ("text", "entries", "lines", "sequence")
"""What has its place by itself, in no contest with others."""

LIBRARIAN = Profile(
    "librarian",
    1,
    (
        Section("identity", "Identity", "L1", "agent_files", "text", required=True),
        Section("path", "Task Path", "L6", "task_stack", "sequence", share=15),
        Section("goals", "Team Goals", "L2", "team_files", "text"),
        Section("memories", "Team Knowledge", "L4", "team_memories", "lines", share=20),
        Section("events", "Recent Activity", "L6", "recent_events", "blocks", share=30),
        Section("results", "Tool Results", "L6", "tool_results", "blocks"),
        Section("tools", "Tools", "L6", "tools", "blocks", overflow="drop"),
        Section("knowledge", "Knowledge Base", "L7", "agent_files", "text"),
        Section("turns", "Recent Turns", "L6", "turns", "turns", share=40),
    ),
)
CODING = replace(LIBRARIAN, name="coding", over_budget=STEPS, fill=True, cut_at="paragraph")
"""With the whole ladder."""


def sections_of(
    required: Sequence[Shape], others: Sequence[Shape], blocks: int, last: Sequence[Shape]
) -> list[Section]:
    """Sections of these shapes, those that are required first."""
    shapes = [*required, *others, *["blocks"] * blocks, *last]
    return [
        Section(f"s{place}", f"Section {place}", "L6", "", shape, required=place < len(required))  # type: ignore[arg-type]
        for place, shape in enumerate(shapes)
    ]


OVER_BUDGET: st.SearchStrategy[tuple[Step, ...]] = st.sampled_from(
    [(), ("drop",), ("compact",), ("summarise",), ("drop", "compact"), ("compact", "summarise"), STEPS, STEPS]
)
LAST: list[tuple[Shape, ...]] = [(), ("text",), ("lines",), ("turns",), ("turns",), ("turns",), ("entries", "turns")]


@st.composite
def invented(draw: st.DrawFn) -> Profile:
    """A profile of any sections that a profile may have."""
    required = draw(st.lists(st.sampled_from(SINGLE), max_size=2))
    others = draw(st.lists(st.sampled_from(SINGLE), max_size=2))
    last = draw(st.sampled_from(LAST))
    sections = sections_of(required, others, draw(st.integers(0, 3)), last) or sections_of((), (), 1, ())
    given = tuple(replace(section, source=draw(SOURCES)) for section in sections)
    return Profile("invented", 1, given, over_budget=draw(OVER_BUDGET), fill=draw(st.booleans()))


@st.composite
def tightened(draw: st.DrawFn, section: Section) -> Section:
    """The section with small bounds, so that they are met."""
    return replace(
        section,
        cap=draw(st.sampled_from([None, None, None, 0, 40, 150, 300, 500, 900])),
        share=draw(st.sampled_from([None, None, 0.5, 20, 33.3, 60, 100])),
        top_k=draw(st.sampled_from([None, None, None, 0, 1, 3, 6])),
        overflow=draw(st.sampled_from(["cut", "cut", "drop"])),
    )


WEIGHTS = st.builds(Weights, *[st.sampled_from([0, 0.2, 1])] * 5)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A profile as it is, or with its numbers and its ladder drawn, too."""
    profile: Profile = draw(st.one_of(st.sampled_from([CONVERSATION, LIBRARIAN, CODING, CODING]), invented()))
    if draw(st.booleans()):
        tight = [section if section.required else draw(tightened(section)) for section in profile.sections]
        profile = replace(profile, sections=tuple(tight), weights=draw(WEIGHTS))
    if draw(st.booleans()):
        profile = replace(
            profile,
            over_budget=draw(OVER_BUDGET),
            fill=draw(st.sampled_from([False, True, True])),
            cut_at=draw(st.sampled_from(get_args(CutAt))),
            quality_min=draw(st.sampled_from([0, 0.3, 1])),
        )
    return profile


# --- Rules ---------------------------------------------------------------------------------------------------------

LABELLED: list[dict[str, tuple[str, ...]]] = [
    {},
    {"tag": ("up",)},
    {"tag": ("down", "up"), "path": ("src/deep/a.py",)},
    {"path": ("docs/b.md",), "memory_kind": ("fact",)},
    {"kg_entity": ("Ada Lovelace",)},
]
FOUND_BY: dict[tuple[SelectorKind, str], set[str]] = {
    ("tag", "UP"): {"up"},
    ("tag", "down"): {"down"},
    ("path", "src/**"): {"src/deep/a.py"},
    ("path", "**/*.md"): {"docs/b.md"},
    ("kg_entity", "ada  lovelace"): {"Ada Lovelace"},
    ("memory_kind", "fact"): {"fact"},
    ("source", "tool_results"): set(),
    ("source", "team_memories"): set(),
}
"""All selectors that are drawn, and the labels that each finds. One by source finds what its section's source gives."""

SELECTORS = st.sampled_from([Selector(*found_by) for found_by in FOUND_BY])
SOME_SELECTORS = st.sampled_from([*[()] * 16, *[(Selector(*found_by),) for found_by in FOUND_BY]])
WEIGHTS_OF_RULES = st.sampled_from([0, 0.5, 2.5, 2_000])
ACTIONS = st.builds(
    Actions,
    SOME_SELECTORS,
    st.lists(st.builds(Boost, SELECTORS, WEIGHTS_OF_RULES), max_size=1).map(tuple),
    SOME_SELECTORS,
)


@st.composite
def rules(draw: st.DrawFn) -> tuple[Rule, ...]:
    """Rules that fired, the narrowest scope first."""
    drawn = draw(st.lists(st.tuples(st.sampled_from(SCOPES), ACTIONS), max_size=3))
    drawn.sort(key=lambda rule: SCOPES.index(rule[0]))
    return tuple(Rule(f"rule-{n}", n + 1, scope, Condition(), then) for n, (scope, then) in enumerate(drawn))


def with_room(profile: Profile, drawn: Sequence[Rule]) -> Profile:
    """The profile with the section of what rules include, where one does."""
    if not any(rule.then.always_include for rule in drawn):
        return profile
    place = sum(section.required for section in profile.sections)
    sections = (*profile.sections[:place], ALWAYS_INCLUDED, *profile.sections[place:])
    return replace(profile, sections=sections)


# --- Candidates ----------------------------------------------------------------------------------------------------

MEASURED: list[dict[str, float]] = [
    {}, {"recency": 1.0}, {"relevance": 0.3}, {"relevance": 0.9, "recency": 0.1}, {"salience": 0.5, "weight": 1.0},
]  # fmt: skip


def facts(chance: Random) -> dict[str, Any]:
    """What a candidate has beside its text, by chance; ties are common."""
    return {
        "kind": chance.choice(["fact", "decision", "", "two\nlines"]),
        "date": NOW.date() - dt.timedelta(days=chance.randrange(4)),
        "occurred_at": chance.choice([None, *(NOW - dt.timedelta(hours=hours) for hours in (0, 1, 30))]),
        "similarity": chance.choice([None, None, 0.1, 0.2, 0.5, 0.5, float("nan"), chance.uniform(-1, 1)]),
        "superseded_by": "memory:9@1" if chance.random() < 0.06 else None,
        "score": chance.choice([None, 0, 0.5, 0.5, 1, float("nan"), chance.uniform(-2, 2)]),
        "measures": chance.choice(MEASURED),
        "position": chance.choice([None, *range(10)]),
        "labels": chance.choice(LABELLED),
        "pinned": chance.random() < 0.2,
        "retired": "The walk was moved." if chance.random() < 0.03 else None,
    }


# A table of many, for drawing each by itself would take most of the time.
FACTS = st.sampled_from([facts(Random(number)) for number in range(500)])


def ref(number: int, version: int) -> str:
    """Of a memory, of a document or of a part of one. Sections may share them."""
    if number == 6:
        return "document:6@1" if version == 1 else "chunk:6@1#2"
    return f"memory:{number}@{version}"


@st.composite
def candidates_of(draw: st.DrawFn, section: Section) -> list[Candidate]:
    """Some for the section, each of another row."""
    most = {"text": [0, 1, 1], "turns": [1, 3, 7, 9]}.get(section.shape, [0, 1, 3, 6, 9])
    drawn = [(draw(st.integers(1, 2)), draw(TEXTS), draw(FACTS)) for _ in range(draw(st.sampled_from(most)))]
    return [
        Candidate(ref(number, version), section.key, text, **more) for number, (version, text, more) in enumerate(drawn)
    ]
