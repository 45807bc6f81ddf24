"""A recorded context in a sentence or two, what its reader must know, and what became of an item in a word or two.

Pure: everything comes in as values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.engine.codes import Code, WarningCode
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.warnings import warnings_of

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CODES = {
    Code.OVER_SECTION_BUDGET: ("no room", "warn"),
    Code.OVER_TOTAL_BUDGET: ("no room", "warn"),
    Code.BELOW_RELEVANCE: ("off topic", "plain"),
    Code.CONFLICT_LOST: ("conflict", "bad"),
    Code.RULE_EXCLUDED: ("by a rule", "plain"),
    Code.RULE_INCLUDED: ("by a rule", "good"),
    Code.TRUNCATED: ("cut", "warn"),
    Code.REQUIRED: ("whole", "good"),
    Code.FITS: ("whole", "good"),
    Code.PINNED: ("pinned", "good"),
    Code.EXPIRED: ("retired", "plain"),
    Code.SUMMARISED: ("as a summary", "good"),
    Code.COMPACTED: ("made shorter", "good"),
}
CHOICES = {
    Code.REQUIRED: "always in",
    Code.FITS: "in, whole",
    Code.RULE_INCLUDED: "in by a rule",
    Code.RULE_EXCLUDED: "left out by a rule",
    Code.OVER_SECTION_BUDGET: "no room in its section",
    Code.OVER_TOTAL_BUDGET: "no room in the whole",
}
"""Where two codes have one label, or one label would not say on its own what is meant: what tells them apart."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A short outcome; `tone` is good, warn, bad or plain."""

    label: str
    tone: str


def tag_of_code(code: Code) -> Tag:
    """What became of an item."""
    return Tag(*CODES.get(code, (label_of_code(code), "plain")))


def cut_tag(decision: Decision) -> Tag:
    """How much of a text that was cut is in."""
    whole, of = decision.detail.get("kept_paragraphs"), decision.detail.get("of_paragraphs")
    return Tag(f"cut: {whole:,} of {of:,} paragraphs" if whole else "cut", "warn")


def label_of_code(code: str) -> str:
    """The code among others, for one to choose from."""
    known = CODES.get(Code(code), (code.replace("_", " "),))
    return CHOICES.get(Code(code), known[0])


def is_left_out(decision: Decision) -> bool:
    """Whether there was something to leave out: an empty text is none."""
    return not decision.included and decision.code != Code.EMPTY


def headline(assembly: Assembly, decisions: Sequence[Decision]) -> str:
    """What happened, in a sentence or two."""
    told = f"{assembly.agent_name} was told {assembly.tokens:,} of a possible {assembly.budget:,} tokens."
    if WarningCode.BUDGET_EXCEEDED in assembly.warnings:
        told = f"{assembly.agent_name} was told {assembly.tokens:,} tokens, more than the {assembly.budget:,} allowed."
    cut = sum(decision.code == Code.TRUNCATED for decision in decisions)
    out = sum(is_left_out(decision) for decision in decisions)
    parts = [f"{_counted(cut, 'text')} cut"] if cut else []
    parts += [f"{_counted(out, 'item')} left out"] if out else []
    if not parts:
        return f"{told} Nothing was left out."
    rest = " and ".join(parts)
    return f"{told} {rest[0].upper()}{rest[1:]}."


def _counted(count: int, noun: str) -> str:
    number = NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
    return f"{number} {noun} was" if count == 1 else f"{number} {noun}s were"


def warnings(assembly: Assembly) -> list[str]:
    """What the reader must know, in plain sentences."""
    return [warned.message for warned in warnings_of(assembly)]
