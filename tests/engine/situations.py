"""Generated situations for the promises, and the format of a context spelled out a second time.

Nothing here uses the engine's own helpers: the promises are checked against this.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import example, given
from hypothesis import strategies as st

from assembly.engine.pipeline import assemble
from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.rules import Actions, Boost, Condition, Rule, Selector
from assembly.engine.types import Assembled, Candidate, Decision, Request
from assembly.profiles import CONVERSATION
from config.tokens import get_tokenizer
from tests.engine.cast import NOW, texts

FOR_WANT_OF_ROOM = {"over_section_budget", "over_total_budget"}
SEPARATORS = {"text": "", "lines": "\n"}  # all others: a blank line
BLANK_LINE_AFTER_HEADING = {"blocks", "sequence", "turns"}


@dataclass(frozen=True)
class Situation:
    """Everything the engine is given."""

    request: Request
    profile: Profile
    candidates: tuple[Candidate, ...]

    @property
    def count(self) -> Callable[[str], int]:
        return get_tokenizer(self.request.tokenizer).count

    def assembled(self) -> Assembled:
        return assemble(self.request, self.profile, self.candidates, get_tokenizer(self.request.tokenizer))


# --- Situations ----------------------------------------------------------------------------------------------------

LONG = st.builds(lambda text, times: (text or "x") * times, texts(), st.sampled_from([50, 400]))
TEXTS = st.one_of(texts(), texts(), texts(20), LONG)
BUDGETS = st.one_of(
    st.integers(0, 60), st.integers(0, 300), st.integers(0, 3_000), st.integers(0, 200_000), st.just(16_000)
)
LIBRARIAN = Profile(
    "librarian",
    1,
    (
        Section("identity", "Identity", "L1", "agent_files", "text", required=True),
        Section("path", "Task Path", "L6", "task_stack", "sequence", share=15),
        Section("goals", "Team Goals", "L2", "team_files", "text"),
        Section("events", "Recent Activity", "L6", "recent_events", "blocks", share=30),
        Section("chunks", "Relevant Content", "L6", "semantic_content", "blocks"),
        Section("tools", "Tools", "L6", "tools", "blocks", overflow="drop"),
        Section("knowledge", "Knowledge Base", "L7", "agent_files", "text"),
        Section("turns", "Recent Turns", "L6", "turns", "turns", share=40),
    ),
)
"""Every shape that `conversation` does not have, in every combination that a profile may have them."""

SIMILARITIES = st.none() | st.sampled_from([0.1, 0.2, 0.5, 0.5, float("nan")]) | st.floats(-1, 1)
MOMENTS = st.none() | st.integers(0, 3).map(lambda hours: NOW - dt.timedelta(hours=hours))


WEIGHTS = st.builds(Weights, *[st.sampled_from([0, 0.2, 1])] * 5)
SCORES = st.none() | st.sampled_from([0, 0.5, 0.5, 1, float("nan")]) | st.floats(-2, 2)
MEASURES = st.dictionaries(st.sampled_from(["recency", "relevance", "salience", "weight"]), st.floats(0, 1))


LABELLED: list[dict[str, tuple[str, ...]]] = [{}, {}, {"tag": ("up",)}, {"tag": ("down", "up")}, {"tag": ("out",)}]
LABELS = st.sampled_from(LABELLED)
RULES = (
    Rule("a", 1, "agent", Condition(), Actions(boost=(Boost(Selector("tag", "up"), 2.5),))),
    Rule("b", 2, "team", Condition(), Actions(boost=(Boost(Selector("tag", "down"), 0),))),
    Rule("c", 3, "everywhere", Condition(), Actions(exclude=(Selector("tag", "out"), Selector("source", "tools")))),
)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A profile as it is, or with small caps, so that all bounds are met."""
    profile: Profile = draw(st.sampled_from([CONVERSATION, LIBRARIAN]))
    if draw(st.booleans()):
        return profile
    caps, shares = st.none() | st.integers(0, 80), st.none() | st.sampled_from([0, 5, 33.3, 100])
    changed = [
        section
        if section.required
        else replace(section, cap=draw(caps), share=draw(shares), top_k=draw(st.none() | st.integers(0, 6)))
        for section in profile.sections
    ]
    return replace(profile, sections=tuple(changed), weights=draw(WEIGHTS))


@st.composite
def candidates_of(draw: st.DrawFn, section: Section) -> list[Candidate]:
    most = 1 if section.shape == "text" else 7
    return [
        Candidate(
            ref=f"memory:{number}@{draw(st.integers(1, 2))}",
            section=section.key,
            text=draw(TEXTS),
            kind=draw(st.sampled_from(["fact", "decision", "", "two\nlines"])),
            date=NOW.date() - dt.timedelta(days=draw(st.integers(0, 3))),
            occurred_at=draw(MOMENTS),
            similarity=draw(SIMILARITIES),
            superseded_by=draw(st.sampled_from([None, None, None, "memory:9@1"])),
            score=draw(SCORES),
            measures=draw(MEASURES),
            position=draw(st.none() | st.integers(0, 9)),
            labels=draw(LABELS),
        )
        for number in range(draw(st.integers(0, most)))
    ]


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    tokenizer = draw(st.sampled_from(["cl100k_base", "chars4"]))
    exclude = tuple(draw(st.lists(st.sampled_from(["memory:1", "2", "memory:3@1", "9"]), max_size=2)))
    rules = tuple(rule for rule in RULES if draw(st.booleans()))
    request = Request(draw(BUDGETS), draw(texts(2)), tokenizer, NOW, exclude, rules=rules)
    profile = draw(profiles())
    filled = draw(st.lists(st.sampled_from(profile.sections), unique=True))
    return Situation(request, profile, tuple(item for section in filled for item in draw(candidates_of(section))))


def conversation(budget: int, tokenizer: str, **files: str) -> Situation:
    """A situation with these files alone, by the label of their sections."""
    keys = {section.label.lower().replace(" ", "_"): section.key for section in CONVERSATION.sections}
    candidates = tuple(Candidate(f"file:{label}@1", keys[label], text) for label, text in files.items())
    return Situation(Request(budget, "", tokenizer, NOW), CONVERSATION, candidates)


PROSE = "The quick brown fox jumps over the lazy dog.\n\nPack my box with five dozen liquor jugs.\n"
HUGE = conversation(16_000, "cl100k_base", identity="I am.", knowledge_base=(PROSE * 2_500)[:200_000])
HUGE_SCRIPTLESS = conversation(
    900, "cl100k_base", team_goals="漢字" * 20_000, knowledge_base="👩\u200d👩\u200d👧" * 9_000
)
TOO_LARGE = conversation(10, "cl100k_base", identity=PROSE, instructions=" \n", team_goals="Ship it.")
NOTHING = conversation(0, "chars4", team_goals="x")

everything = given(situation=situations())


def with_examples(test: Callable[[Situation], None]) -> Callable[[Situation], None]:
    for situation in (HUGE, replace(HUGE, request=replace(HUGE.request, tokenizer="chars4")), HUGE_SCRIPTLESS):
        test = example(situation=situation)(test)
    for situation in (TOO_LARGE, NOTHING):
        test = example(situation=situation)(test)
    return everything(test)


# --- The format, spelled out again ---------------------------------------------------------------------------------


def lead_and_body(section: Section, candidate: Candidate) -> tuple[str, str]:
    body = candidate.text.rstrip()
    if section.shape == "entries":
        return f"### {candidate.date}\n", body
    if section.shape == "lines":
        kind = f"[{' '.join(candidate.kind.splitlines())}] " if candidate.kind else ""
        return f"- {kind}", " ".join(body.splitlines())
    if section.shape == "turns":
        return f"**{' '.join(candidate.kind.splitlines())}**: ", body
    return "", body


def heading(section: Section) -> str:
    return f"## {section.label}\n" + ("\n" if section.shape in BLANK_LINE_AFTER_HEADING else "")


def opened(section: Section, before: str, so_far: str) -> str:
    if so_far != before:
        return SEPARATORS.get(section.shape, "\n\n")
    return ("\n\n" if before else "") + heading(section)


def cap_of(section: Section, budget: int) -> int | None:
    caps = [] if section.cap is None else [section.cap]
    return min(caps if section.share is None else [*caps, int(budget * (section.share / 100))], default=None)


def tighter(section: Section, used: int, budget: int) -> tuple[int, str]:
    cap = cap_of(section, budget)
    if cap is not None and used + cap < budget:
        return used + cap, "over_section_budget"
    return budget, "over_total_budget"


def expected_status(found: set[str]) -> str:
    inside = found & {"fits", "required"}
    if "truncated" in found:
        return "cut"
    if found & FOR_WANT_OF_ROOM:
        return "partial" if inside else "left_out"
    return "whole" if inside else "empty"


def of(situation: Situation, section: Section) -> list[Candidate]:
    return [candidate for candidate in situation.candidates if candidate.section == section.key]


def candidate_of(situation: Situation, decision: Decision) -> Candidate:
    wanted = (decision.section, decision.ref)
    return next(candidate for candidate in situation.candidates if (candidate.section, candidate.ref) == wanted)


def included(assembled: Assembled) -> list[Decision]:
    """In the order of the text."""
    return sorted([item for item in assembled.decisions if item.included], key=lambda item: item.start or 0)
