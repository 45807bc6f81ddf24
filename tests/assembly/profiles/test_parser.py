"""Profiles as texts: what is read, what is refused with which line."""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assembly.engine.profile import (
    DOMAIN_WEIGHTS,
    DOMAINS,
    STEPS,
    ConflictMode,
    CutAt,
    CutMark,
    Delimiter,
    Profile,
    Section,
    Weights,
)
from assembly.engine.scopes import SCOPES
from assembly.engine.types import LEVEL_PREFERENCES, ORIGINS
from assembly.profiles.parser import parse_described_profile, parse_profile, profile_yaml
from assembly.profiles.rankers import RANKERS
from assembly.profiles.shipped import CONVERSATION
from assembly.profiles.yaml_reader import MAX_CHARACTERS, UnreadableDocument
from assembly.sources import SOURCES
from config.http.errors import Invalid
from tests.examples import examples

KNOWN = tuple(SOURCES)

GOOD = """\
name: mine
description: For a test.
budget: 8_000
similarity_threshold: .3
depth_limit: 1
weights: {recency: 0.5, salience: 1}
sections:
  - key: identity
    heading: Identity
    layer: L1
    source: agent_files
    shape: text
    required: true
  - key: recent_events
    heading: "Recent: Activity"
    layer: L6
    source: recent_events
    shape: blocks
    cap: 500
    share: 12.5
    top_k: 9
    overflow: drop
"""


def read(text: str, name: str = "mine") -> Profile:
    return parse_profile(text, name=name, version=3, sources=KNOWN)


UNLESS_SAID: Mapping[str, Any] = {
    "cut_mark": "source", "deduplicate": True, "report_failures": True, "conflicts": "mark",
}  # fmt: skip
"""What a text has that does not say otherwise, unlike a profile that was recorded before these options."""


def refusal(text: str) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        read(text)
    return caught.value


def test_a_text_gives_a_profile() -> None:
    assert read(GOOD) == Profile(
        name="mine",
        version=3,
        budget=8_000,
        similarity_threshold=0.3,
        depth_limit=1,
        weights=Weights(recency=0.5, salience=1),
        sections=(
            Section("identity", "Identity", "L1", "agent_files", "text", required=True),
            Section(
                "recent_events", "Recent: Activity", "L6", "recent_events", "blocks",
                cap=500, share=12.5, top_k=9, overflow="drop",
            ),
        ),
        **UNLESS_SAID,
    )  # fmt: skip


def test_only_the_sections_are_needed() -> None:
    short = read("sections: [{key: a, heading: A, layer: L6, source: tools, shape: blocks, cap: null, top_k: }]")
    assert short == Profile("mine", 3, (Section("a", "A", "L6", "tools", "blocks"),), **UNLESS_SAID)


MEMORY = """\
lod: adaptive
scope_limits: {noosphere: 15, experience: 5}
half_life: {library: 90, workshop: .5}
credibility: {noosphere: 0.9, workshop: 0}
delimit: tags
cut_mark: seed
deduplicate: false
report_failures: false
conflicts: withhold
coherence_min: .5
second_round: true
summaries_max: 0
"""


def test_a_text_has_the_options_of_the_memory_layer() -> None:
    section = "least_origin: agent\n    relevance_floor: .25\n    overflow: drop"
    read_profile = read(MEMORY + GOOD.replace("overflow: drop", section))
    assert read_profile == dataclasses.replace(
        read(GOOD), lod="adaptive", scope_limits={"noosphere": 15, "experience": 5}, delimit="tags", cut_mark="seed",
        half_life={"library": 90, "workshop": 0.5}, credibility={"noosphere": 0.9, "workshop": 0},
        deduplicate=False, report_failures=False, conflicts="withhold", coherence_min=0.5,
        second_round=True, summaries_max=0, sections=read_profile.sections,
    )  # fmt: skip
    for off in ("off", '"off"'):
        assert read(f"conflicts: {off}\n{GOOD}").conflicts == "off", "YAML takes a bare off for false"
    assert [(one.least_origin, one.relevance_floor) for one in read_profile.sections] == [(None, 0), ("agent", 0.25)]


def test_a_text_names_a_domain_whose_weights_count_unless_it_has_others() -> None:
    sections = "sections: [{key: a, heading: A, layer: L6, source: tools, shape: blocks}]"
    for domain, weights in DOMAIN_WEIGHTS.items():
        named = read(f"domain: {domain}\n{sections}")
        assert (named.domain, named.weights) == (domain, weights)
        own = read(f"domain: {domain}\nweights: {{recency: 0, salience: 2}}\n{sections}")
        assert (own.domain, own.weights) == (domain, dataclasses.replace(weights, recency=0, salience=2))
        assert Profile.from_dict(own.to_dict()) == own
    assert "domain" not in read(GOOD).to_dict(), "records of profiles without one stay as they were"


def test_a_text_says_what_becomes_of_what_has_no_room() -> None:
    text = f"over_budget: [drop, summarise]\nfill: true\ncut_at: heading\nquality_min: 0.25\n{GOOD}"
    assert read(text) == dataclasses.replace(
        read(GOOD), over_budget=("drop", "summarise"), fill=True, cut_at="heading", quality_min=0.25
    )


@pytest.mark.parametrize("name", [*RANKERS, "seed", ""])
def test_a_section_names_the_ranker_of_its_passages(name: str) -> None:
    line = f", ranker: {name}" if name else ""
    text = f"sections: [{{key: a, heading: A, layer: L6, source: semantic_content, shape: blocks{line}}}]"
    [section] = read(text).sections
    assert section.ranker == RANKERS.get(name)
    assert section.ranker_name == (name or "seed")
    assert read(profile_yaml(read(text), "")) == read(text)


@pytest.mark.parametrize("nothing", ["", "[]", "null", "~"])
def test_a_profile_may_take_no_steps(nothing: str) -> None:
    assert read(f"over_budget: {nothing}\n{GOOD}") == read(GOOD)


@pytest.mark.parametrize("steps", ["\n- drop\n- compact\n", "[drop, compact]", "['drop', compact,]"])
def test_steps_are_written_as_any_list(steps: str) -> None:
    assert read(f"over_budget: {steps}\n{GOOD}").over_budget == ("drop", "compact")


# What is replaced in the good text by what, the line that is named, and words of the reason.
FAULTS: list[tuple[str, str, int, str]] = [
    ("budget: 8_000", "colour: red", 3, "“colour” is not known here. A profile has: name, description"),
    ("cap: 500", "kap: 500", 19, "“kap” is not known here. A section has: key, heading"),
    ("{recency: 0.5", "{zeal: 0.5", 6, "“zeal” is not known here"),
    ("    heading: Identity\n", "", 8, "“heading” is missing. A section needs it."),
    ("depth_limit: 1", "budget: 1", 5, "is used twice"),
    ("name: mine", "name: yours", 1, "says yours, but this is the profile mine"),
    ("name: mine", "name: 7", 1, "must be a text"),
    ("name: mine", "name: [mine]", 1, "must be a text"),
    ("name: mine", "name:", 1, "must be a text"),
    ("description: For a test.", f"description: {'x' * 301}", 2, "at most 300 characters"),
    ("8_000", "0", 3, "a whole number from 1 to 200,000"),
    ("8_000", "200001", 3, "a whole number from 1 to 200,000"),
    ("8_000", "8000.5", 3, "a whole number"),
    ("8_000", "'8000'", 3, "a whole number"),
    ("8_000", "010", 3, "a whole number"),
    ("8_000", "0x10", 3, "a whole number"),
    ("8_000", "1:30", 3, "a whole number"),
    ("8_000", "-1", 3, "a whole number"),
    ("8_000", "true", 3, "a whole number"),
    ("8_000", "9" * 9_999, 3, "a whole number"),
    (".3", "1.1", 4, "a number from 0 to 1"),
    (".3", ".nan", 4, "a number from 0 to 1"),
    (".3", ".inf", 4, "a number from 0 to 1"),
    (".3", "high", 4, "a number from 0 to 1"),
    (".3", ".", 4, "a number from 0 to 1"),
    ("depth_limit: 1", "depth_limit: 6", 5, "from 0 to 5"),
    ("salience: 1", "salience: 11", 6, "from 0 to 10"),
    ("weights: {recency: 0.5, salience: 1}", "weights: high", 6, "“weights” is written as lines"),
    *(
        ("depth_limit: 1", f"over_budget: {steps}", 5, "each once at most, in this order: drop, compact, summarise.")
        for steps in (
            "drop", "{drop: 1}", "7", "[flood]", "[compact, drop]", "[drop, drop]", "[[drop]]", "[drop, null]",
        )
    ),
    ("depth_limit: 1", "fill: 1", 5, "true or false"),
    ("depth_limit: 1", "cut_at: word", 5, "one of: anywhere, sentence, paragraph, heading"),
    ("depth_limit: 1", "cut_at:", 5, "one of: anywhere, sentence, paragraph, heading"),
    ("depth_limit: 1", "quality_min: 1.5", 5, "a number from 0 to 1"),
    ("key: identity", "key: identities", 8, "one of: identity, instructions, knowledge"),
    ("key: recent_events", "key: Recent", 14, "lower-case letters"),
    ('"Recent: Activity"', '"a\\nb"', 15, "must be one line"),
    ('"Recent: Activity"', '"a\\0b"', 15, "must be one line"),
    ('"Recent: Activity"', '"a\\ud800b"', 15, "must be one line"),
    ('"Recent: Activity"', "' '", 15, "must be one line"),
    ('"Recent: Activity"', "x" * 81, 15, "at most 80 characters"),
    ("layer: L6", "layer: L8", 16, "one of: L1, L2, L3, L4, L5, L6, L7"),
    ("source: recent_events", "source: moon", 17, "“source” must be one of: agent_files, team_files"),
    ("shape: blocks", "shape: lines", 18, "must be blocks: that is what recent_events offers"),
    ("  - key: recent_events", "  - key: latest_activity", 14, "Choose another key"),
    ("  - key: recent_events", "  - key: always_included", 14, "Choose another key"),
    ("shape: blocks", "shape: circle", 18, "one of: text, entries, lines"),
    ("shape: text", "shape: lines", 12, "must be text or blocks"),
    ("shape: text", "shape: blocks", 8, "a required section has items that compete"),
    ("depth_limit: 1", "domain: poetry", 5, "one of: general, code, documentation, research"),
    ("depth_limit: 1", "lod: tiny", 5, "one of: macro, micro, atomic, adaptive"),
    ("depth_limit: 1", "over_budget: [drop]\nlod: macro", 9, "levels of detail, which replace the steps"),
    ("depth_limit: 1", "scope_limits: {noosphere: 0}", 5, "from 1 to 1,000"),
    ("depth_limit: 1", "scope_limits: {L1: 3}", 5, "“L1” is not known here"),
    ("depth_limit: 1", "half_life: {library: 0}", 5, "must be days above 0"),
    ("depth_limit: 1", "credibility: {library: 1.1}", 5, "from 0 to 1"),
    ("depth_limit: 1", "delimit: bars", 5, "one of: headings, tags"),
    ("depth_limit: 1", "cut_mark: none", 5, "one of: seed, source"),
    ("depth_limit: 1", "deduplicate: 2", 5, "true or false"),
    ("depth_limit: 1", "conflicts: hide", 5, "one of: mark, withhold, tell, warn, off"),
    ("depth_limit: 1", "conflicts: false", 5, "one of: mark, withhold, tell, warn, off"),
    ("depth_limit: 1", "coherence_min: 2", 5, "from 0 to 1"),
    ("depth_limit: 1", "second_round: maybe", 5, "true or false"),
    ("depth_limit: 1", "summaries_max: -1", 5, "a whole number from 0 to 1,000"),
    ("overflow: drop", "least_origin: god", 22, "one of: person, agent, tool, external"),
    ("overflow: drop", "relevance_floor: 2", 22, "from 0 to 1"),
    ("required: true", "relevance_floor: .5", 13, "“relevance_floor” is for blocks alone"),
    ("cap: 500", "cap: 200001", 19, "from 0 to 200,000"),
    ("share: 12.5", "share: 101", 20, "from 0 to 100"),
    ("top_k: 9", "top_k: 0", 21, "from 1 to 1,000"),
    ("required: true", "required: perhaps", 13, "true or false"),
    ("overflow: drop", "overflow: flood", 22, "one of: cut, drop"),
    ("overflow: drop", "ranker: default", 22, "“ranker” is for semantic_content alone"),
    ("source: recent_events", "ranker: luck\n    source: semantic_content", 17,
     "“ranker” must be one of: default, similarity, words, seed."),
    ("source: recent_events", "ranker:\n    source: semantic_content", 17, "“ranker” must be one of"),
    ("required: true", "required: true\n    cap: 5", 8, "gives a cap to a required section"),
    ("overflow: drop", "required: true", 14, "gives a cap to a required section"),
    ("required: true", "required: false\n  - {key: instructions, heading: I, layer: L1, source: agent_files, "
     "shape: text, required: true}", 14, "the required sections must come first."),
    ("  - key: recent_events", "  - {key: recent_events, heading: B, layer: L6, source: tools, shape: blocks}\n"
     "  - key: recent_events", 15, "is used on line 14 already"),
    ("  - key: recent_events", "  - {key: turns, heading: Turns, layer: L6, source: turns, shape: turns}\n"
     "  - key: recent_events", 14, "Turns must come last"),
    ("  - key: recent_events", "  - {key: tools, heading: Tools, layer: L6, source: tools, shape: blocks}\n"
     "  - {key: goals, heading: Goals, layer: L2, source: team_files, shape: text}\n"
     "  - key: recent_events", 16, "the sections of blocks must be adjacent."),
    ("sections:", "sections: &all", 7, "Anchors"),
    ("budget: 8_000", "budget: *all", 3, "aliases"),
    ("budget: 8_000", "budget: !!int 8000", 3, "Tags"),
    ("budget: 8_000", "budget: !python/object/apply:os.system [ls]", 3, "Tags"),
    ("budget: 8_000", "budget: ! 8000", 3, "Tags"),
    ("budget: 8_000", "<<: {}", 3, "“<<” is not known here"),
    ("budget: 8_000", "? [budget]\n: 8000", 3, "is not known here"),
    ("budget: 8_000", f"budget: {'[' * 5_000}", 3, "nested more than"),
    ("budget: 8_000", "budget: [", 5, "This is no YAML"),
    ("budget: 8_000", "\tbudget: 8000", 3, "This is no YAML"),
    ("budget: 8_000", 'budget: "\\U00110000"', 1, "an escape or a number that means nothing"),
    ("budget: 8_000", "budget: \x00", 3, "The line contains an invalid character. Type the line again."),
    ("budget: 8_000", "budget: \ud800", 3, "The line contains an invalid character. Type the line again."),
    ("sections:", "---\nsections:", 7, "This is no YAML: but found another document"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), FAULTS, ids=[fault[1][:40] for fault in FAULTS])
def test_a_fault_is_named_with_its_line(old: str, new: str, line: int, words: str) -> None:
    fault = refusal(GOOD.replace(old, new, 1))
    assert (fault.line, words in fault.reason) == (line, True), fault.detail
    assert fault.extra["errors"]["content"][0]["message"] == f"Line {line}: {fault.reason}"
    assert fault.detail.encode()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("# nothing but a comment", "empty"),
        ("7", "lines of “key: value”"),
        ("- a", "lines of “key: value”"),
        ("name: mine", "“sections” is missing"),
        ("sections: []", "a list of 1 to 40"),
        ("sections: {}", "a list of 1 to 40"),
        ("sections: [1]", "A section is written as"),
        (f"sections: [{'1, ' * 41}]", "a list of 1 to 40"),
        ("x" * (MAX_CHARACTERS + 1), "at most 100,000 fit"),
    ],
)
def test_what_is_no_profile_is_refused(text: str, words: str) -> None:
    assert words in refusal(text).reason


def test_the_longest_text_is_read() -> None:
    assert read(GOOD + "#" * (MAX_CHARACTERS - len(GOOD))) == read(GOOD)


PIECES = st.sampled_from([
    "\n", " ", "  ", "- ", ": ", "key", "name: ", "sections:", "[", "]", "{", "}", ",", "#", "&a", "*a", "!", "!!int ",
    "---", "...", "%YAML 1.1\n", "%TAG ! x\n", "|", ">", "?", "'", '"', "\\x", "\\U00110000", "\t", "\x00", "\ufeff",
    "\ud800", "\u2028", "~", "0x_", "1:2", "9" * 5_000, ".inf", "<<: ", "=", "@", "`", "\r", "é",
])  # fmt: skip


def read_or_fault(text: str) -> Profile | Invalid:
    try:
        return read(text)
    except Invalid as fault:
        return fault


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(PIECES | st.text(max_size=6), max_size=25).map("".join), st.integers(0, len(GOOD)), st.integers(0, 40))
def test_any_text_gives_a_profile_or_says_what_is_wrong(noise: str, place: int, cut: int) -> None:
    for text in (noise, GOOD[:place] + noise + GOOD[place + cut :]):
        found = read_or_fault(text)
        if isinstance(found, Profile):
            assert read(profile_yaml(found, "")) == found
        else:
            assert re.match(r"Line [0-9]+: .", found.detail)
            assert found.detail.encode()


WORDS = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=80)
SHARES = st.none() | st.floats(0, 100).map(lambda share: round(share, 6))


@st.composite
def profiles(draw: Any) -> Profile:
    keys = draw(st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), min_size=1, max_size=6, unique=True))
    sections = tuple(
        Section(
            key, draw(WORDS.filter(str.strip)), draw(st.sampled_from(["L1", "L6", "L7"])), "tools", "blocks",
            cap=draw(st.none() | st.integers(0, 200_000)), share=draw(SHARES),
            top_k=draw(st.none() | st.integers(1, 1_000)), overflow=draw(st.sampled_from(["cut", "drop"])),
            least_origin=draw(st.none() | st.sampled_from(ORIGINS)), relevance_floor=draw(st.floats(0, 1)),
        )
        for key in keys
    )  # fmt: skip
    weights = Weights(*(draw(st.floats(0, 10)) for _ in range(5)))
    lod = draw(st.none() | st.sampled_from(LEVEL_PREFERENCES))
    return Profile(
        "mine", 3, sections, budget=draw(st.integers(1, 200_000)), weights=weights,
        similarity_threshold=draw(st.floats(0, 1)), depth_limit=draw(st.integers(0, 5)),
        over_budget=() if lod else tuple(step for step in STEPS if draw(st.booleans())), fill=draw(st.booleans()),
        cut_at=draw(st.sampled_from(get_args(CutAt))), quality_min=draw(st.floats(0, 1)), lod=lod,
        scope_limits=draw(st.dictionaries(st.sampled_from(SCOPES), st.integers(1, 1_000))),
        half_life=draw(st.dictionaries(st.sampled_from(SCOPES), st.floats(0.001, 36_500))),
        credibility=draw(st.dictionaries(st.sampled_from(SCOPES), st.floats(0, 1))),
        delimit=draw(st.sampled_from(get_args(Delimiter))), cut_mark=draw(st.sampled_from(get_args(CutMark))),
        deduplicate=draw(st.booleans()), report_failures=draw(st.booleans()),
        conflicts=draw(st.sampled_from(get_args(ConflictMode))), coherence_min=draw(st.floats(0, 1)),
        domain=draw(st.none() | st.sampled_from(DOMAINS)),
        second_round=draw(st.booleans()) and any(section.shape == "blocks" for section in sections),
    )  # fmt: skip


def test_what_is_as_ever_is_left_out_of_what_is_written() -> None:
    written = profile_yaml(CONVERSATION, "")
    assert not [key for key in ("over_budget", "fill", "cut_at", "quality_min") if key in written]


@settings(max_examples=examples(100), deadline=None)
@given(profiles(), WORDS.filter(str.strip))
def test_what_is_written_reads_back_as_it_was(profile: Profile, description: str) -> None:
    again = parse_described_profile(profile_yaml(profile, description), name="mine", version=3, sources=KNOWN)
    assert (again.profile, again.description) == (profile, description)


def test_a_second_round_needs_blocks() -> None:
    text = "second_round: true\nsections: [{key: goals, heading: Goals, layer: L2, source: team_files, shape: text}]"
    with pytest.raises(UnreadableDocument, match="no section has any") as error:
        read(text)
    assert error.value.line == 1
