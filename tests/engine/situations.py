"""Situations for the promises: everything that the engine is given, and the settled run that comes of it."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from assembly.engine.assemble import assemble
from assembly.engine.profile import Profile, Section
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, Decision, EngineRequest, EngineResult, Summary, WantedSummary
from assembly.profiles.shipped import CONVERSATION
from tests.engine.factories import NOW, texts
from tests.engine.strategies import candidates_of, profiles, rules, with_room

Manner = Literal["third", "brim", "nothing"]
"""How a text is summarised: by the first third of its words, by as much as is allowed, or not at all."""


@dataclass(frozen=True)
class Settled:
    """A finished context: where it started, the candidates that it rests on, and after how many runs of the engine."""

    started_from: "Situation"
    situation: "Situation"
    assembled: EngineResult
    runs: int

    @cached_property
    def _candidates(self) -> dict[tuple[str, str], Candidate]:
        return {(candidate.section, candidate.ref): candidate for candidate in self.situation.candidates}

    def candidate(self, decision: Decision) -> Candidate:
        """What was decided on."""
        return self._candidates[decision.section, decision.ref]

    def of(self, section: Section) -> list[Decision]:
        """The decisions on the section's candidates."""
        return [decision for decision in self.assembled.decisions if decision.section == section.key]

    def inside(self, section: Section) -> list[Decision]:
        """Those on what is in, in the order of the text."""
        return sorted([item for item in self.of(section) if item.included], key=lambda item: item.start or 0)


@dataclass(frozen=True)
class Situation:
    """Everything the engine is given, and how the summaries are made that it wants."""

    request: EngineRequest
    profile: Profile
    candidates: tuple[Candidate, ...]
    manners: tuple[Manner, ...] = ("third",)

    @property
    def count(self) -> Callable[[str], int]:
        return get_tokenizer(self.request.tokenizer).count

    def assembled(self) -> EngineResult:
        return assemble(self.request, self.profile, self.candidates, get_tokenizer(self.request.tokenizer))

    def settled(self) -> Settled:
        """The engine's last run, which wants nothing any more: as the service does, but without an end of patience."""
        situation, runs = self, 1
        while (assembled := situation.assembled()).wanted:
            situation, runs = situation.summarised(assembled.wanted), runs + 1
        return Settled(self, situation, assembled, runs)

    def summarised(self, wanted: tuple[WantedSummary, ...]) -> "Situation":
        made = {(want.section, want.ref): Summary(self.summary_of(want), "of-tests") for want in wanted}
        candidates = [
            structs.replace(item, summary=made.get((item.section, item.ref), item.summary)) for item in self.candidates
        ]
        return replace(self, candidates=tuple(candidates))

    def summary_of(self, want: WantedSummary) -> str:
        manner = self.manners[zlib.crc32(want.ref.encode()) % len(self.manners)]
        words = want.text.split()
        most = {"third": len(words) // 3, "brim": len(words), "nothing": 0}[manner]
        low, high = 0, most
        while low < high:  # the most words that have room, or about as many: longer texts may count less
            middle = (low + high + 1) // 2
            fits = self.count(" ".join(words[:middle])) <= want.max_tokens
            low, high = (middle, high) if fits else (low, middle - 1)
        return " ".join(words[:low])


# --- Drawn ---------------------------------------------------------------------------------------------------------

BUDGETS = st.one_of(st.integers(0, 30), st.integers(0, 300), st.integers(0, 3_000), st.integers(0, 200_000))
PARTS = st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.95])
MANNERS: st.SearchStrategy[tuple[Manner, ...]] = st.sampled_from([("third",), ("brim",), ("third", "brim", "nothing")])


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    tokenizer = draw(st.sampled_from(["cl100k_base", "chars4"]))
    exclude = draw(st.sampled_from([(), (), (), ("memory:1", "9"), ("2", "memory:3@1")]))
    fired = draw(rules())
    profile = with_room(draw(profiles()), fired)
    candidates = tuple(item for section in profile.sections for item in draw(candidates_of(section)))
    # Where there is some room, but not for all of it, there is most to decide.
    required = {section.key for section in profile.sections if section.required}
    least = sum(len(item.text) for item in candidates if item.section in required) // 3
    rest = sum(min(2_000, len(item.text)) for item in candidates if item.section not in required) // 4
    budget = draw(BUDGETS) if draw(st.integers(0, 5)) == 5 else least + int(draw(PARTS) * rest)
    request = EngineRequest(budget, draw(texts(2)), tokenizer, NOW, exclude, rules=fired)
    return Situation(request, profile, candidates, draw(MANNERS))


# --- Always tried --------------------------------------------------------------------------------------------------


def conversation(budget: int, tokenizer: str, **files: str) -> Situation:
    """A situation with these files alone, by the label of their sections."""
    keys = {section.label.lower().replace(" ", "_"): section.key for section in CONVERSATION.sections}
    candidates = tuple(Candidate(f"file:{label}@1", keys[label], text) for label, text in files.items())
    return Situation(EngineRequest(budget, "", tokenizer, NOW), CONVERSATION, candidates)


PROSE = "The quick brown fox jumps over the lazy dog.\n\nPack my box with five dozen liquor jugs.\n"
HUGE = conversation(16_000, "cl100k_base", identity="I am.", knowledge_base=(PROSE * 2_500)[:200_000])
HUGE_SCRIPTLESS = conversation(
    900, "cl100k_base", team_goals="漢字" * 20_000, knowledge_base="👩\u200d👩\u200d👧" * 9_000
)
TOO_LARGE = conversation(10, "cl100k_base", identity=PROSE, instructions=" \n", team_goals="Ship it.")
NOTHING = conversation(0, "chars4", team_goals="x")
ALWAYS = (HUGE, replace(HUGE, request=replace(HUGE.request, tokenizer="chars4")), HUGE_SCRIPTLESS, TOO_LARGE, NOTHING)


def with_examples(test: Callable[[Situation], None]) -> Callable[[Situation], None]:
    for situation in ALWAYS:
        test = example(situation=situation)(test)
    return given(situation=situations())(test)
