"""Sentences about a recorded context and its items: what was included, what was left out, and why. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from msgspec import structs

from assembly.contexts.links import ItemLinks
from assembly.contexts.near_misses import near_misses
from assembly.contexts.scores import ScorePart, score_parts
from assembly.engine.codes import Code, WarningCode
from assembly.engine.reasons import decision_sentence
from assembly.engine.refs import without_version
from assembly.engine.types import Decision
from assembly.models import Assembly, Purpose
from assembly.records.item_titles import short_title, title_of
from assembly.records.reader import StoredAssembly
from assembly.records.warnings import warnings_of

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
REASON_TAGS = {
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
REASON_LABELS = {
    Code.REQUIRED: "always in",
    Code.FITS: "in, whole",
    Code.RULE_INCLUDED: "in by a rule",
    Code.RULE_EXCLUDED: "left out by a rule",
    Code.OVER_SECTION_BUDGET: "no room in its section",
    Code.OVER_TOTAL_BUDGET: "no room in the whole",
}
"""Where two codes have one label, or one label would not say on its own what is meant: what tells them apart."""


@dataclass(frozen=True, slots=True)
class OutcomeTag:
    """A short outcome; `tone` is good, warn, bad or plain."""

    label: str
    tone: str


def tag_of_code(code: Code) -> OutcomeTag:
    """What became of an item."""
    return OutcomeTag(*REASON_TAGS.get(code, (label_of_code(code), "plain")))


def cut_tag(decision: Decision) -> OutcomeTag:
    """How much of a text that was cut is in."""
    whole, of = decision.detail.get("kept_paragraphs"), decision.detail.get("of_paragraphs")
    return OutcomeTag(f"cut: {whole:,} of {of:,} paragraphs" if whole else "cut", "warn")


def label_of_code(code: str) -> str:
    """The code among others, for one to choose from."""
    known = REASON_TAGS.get(Code(code), (code.replace("_", " "),))
    return REASON_LABELS.get(Code(code), known[0])


def is_left_out(decision: Decision) -> bool:
    """Whether there was something to leave out: an empty text is none."""
    return not decision.included and decision.code != Code.EMPTY


HEADLINE_SUBJECTS = {
    Purpose.AGENT: "{agent} was told",
    Purpose.PREVIEW: "Preview: {agent} would have been told",
    Purpose.TEST: "Test: {agent} would have been told",
}


def headline(assembly: Assembly, decisions: Sequence[Decision]) -> str:
    """What happened, in a sentence or two."""
    subject = HEADLINE_SUBJECTS[assembly.effective_purpose].format(agent=assembly.agent_name)
    told = f"{subject} {assembly.tokens:,} of a possible {assembly.budget:,} tokens."
    if WarningCode.BUDGET_EXCEEDED in assembly.warnings:
        told = f"{subject} {assembly.tokens:,} tokens, more than the {assembly.budget:,} allowed."
    cut = sum(decision.code == Code.TRUNCATED for decision in decisions)
    out = sum(is_left_out(decision) for decision in decisions)
    parts = [f"{count_phrase(cut, 'text')} cut"] if cut else []
    parts += [f"{count_phrase(out, 'item')} left out"] if out else []
    if not parts:
        return f"{told} Nothing was left out."
    rest = " and ".join(parts)
    return f"{told} {rest[0].upper()}{rest[1:]}."


def count_phrase(count: int, noun: str) -> str:
    number = NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else f"{count:,}"
    return f"{number} {noun} was" if count == 1 else f"{number} {noun}s were"


def warnings(assembly: Assembly) -> list[str]:
    """What the reader must know, in plain sentences."""
    return [warned.message for warned in warnings_of(assembly)]


@dataclass(frozen=True, slots=True)
class ItemView:
    """A candidate and what became of it, in words. `position`: its place in the order of deciding, from 0."""

    position: int
    decision: Decision
    title: str
    short_title: str
    layer: str
    size: str
    tag: OutcomeTag
    why: str
    near: str
    """What it would have needed to be in; empty where no number says that."""
    rank: str
    """Of what was left out; empty where the reason tells it."""
    standing: str
    """Of one item among others of its section, which its rank and its score set apart."""
    score: str
    parts: Sequence[ScorePart]
    """Of its score."""
    address: str
    """Of the version that it came from; empty where that can no longer be read."""

    @property
    def is_shorter(self) -> bool:
        """Whether it is told in fewer words than it has."""
        return self.decision.code in {Code.COMPACTED, Code.SUMMARISED}

    @property
    def needs_reason(self) -> bool:
        """Whether it is not simply in, and whole."""
        return self.tag.tone != "good" or self.is_shorter or not self.decision.included


@dataclass(frozen=True)
class ItemViews:
    """All that a context considered; each is worded when it is asked for."""

    told: StoredAssembly
    whereabouts: ItemLinks

    def at(self, positions: Iterable[int]) -> list[ItemView]:
        """Those at these positions."""
        wanted = [*positions]
        near = near_misses(self.told.decisions, [self.told.decisions[position] for position in wanted])
        return [self._item(position, near) for position in wanted]

    def _item(self, position: int, near: Mapping[tuple[str, str], str]) -> ItemView:
        decision, candidate = self.told.decisions[position], self.told.inputs.candidates[position]
        section, title = self._sections[decision.section], self.title(position)
        is_one_of_many = decision.section not in self._one_text and not candidate.date
        return ItemView(
            position=position,
            decision=decision,
            title=title,
            short_title=short_title(title),
            layer=section["layer"].lower(),
            size=_size(decision),
            tag=tag_of_code(decision.code),
            why=self._reason(decision, section["label"]),
            near=near.get((decision.section, decision.ref), ""),
            rank=_rank(decision),
            standing=_rank_sentence(decision, section["label"]) if is_one_of_many else "",
            score=floatformat(decision.score, 2),
            parts=score_parts(decision, self.told.inputs.profile.weights),
            address=self.whereabouts.address_of(candidate),
        )

    def title(self, position: int) -> str:
        """What the item is called: by its section, where it is all of it."""
        candidate = self.told.inputs.candidates[position]
        is_all = candidate.section in self._one_text
        return str(self._sections[candidate.section]["label"]) if is_all else title_of(candidate)

    def address(self, position: int) -> str:
        """Where its version can be read."""
        return self.whereabouts.address_of(self.told.inputs.candidates[position])

    def _reason(self, decision: Decision, label: str) -> str:
        """The engine's sentence, with what it names by reference put in words.

        How much room it would have needed stands beside it, with who else would have had that.
        """
        detail = {name: value for name, value in decision.detail.items() if name != "needed"}
        if by := detail.get("by"):
            near = self._positions.get(by, self._positions.get(without_version(by)))
            detail["by"] = "one that was not among those considered" if near is None else self.title(near)
        return decision_sentence(structs.replace(decision, detail=detail), label)

    @cached_property
    def _sections(self) -> dict[str, dict[str, str]]:
        return {section["key"]: section for section in self.told.assembly.sections}

    @cached_property
    def _one_text(self) -> set[str]:
        """The sections that are one text."""
        return {section.key for section in self.told.inputs.profile.sections if section.shape == "text"}

    @cached_property
    def _positions(self) -> dict[str, int]:
        """By ref, and by what it names, whichever version."""
        numbered = [(position, candidate.ref) for position, candidate in enumerate(self.told.inputs.candidates)]
        return {without_version(ref): position for position, ref in numbered} | {
            ref: position for position, ref in numbered
        }


def _size(decision: Decision) -> str:
    tokens = decision.tokens if decision.included else decision.tokens_full
    return ngettext("%(tokens)s token", "%(tokens)s tokens", tokens) % {"tokens": intcomma(tokens)}


def _rank(decision: Decision) -> str:
    if decision.included or not decision.rank or decision.code == Code.OUTRANKED:
        return ""
    return _("Rank %(rank)s.") % {"rank": intcomma(decision.rank)}


def _rank_sentence(decision: Decision, label: str) -> str:
    """The section, the rank there, and the score that gave it."""
    rank = _("rank %(rank)s") % {"rank": intcomma(decision.rank)}
    if decision.score is None:
        return f"{label}, {rank}"
    return f"{label}, {rank}, " + _("score %(score)s") % {"score": floatformat(decision.score, 2)}


def included_positions(told: StoredAssembly) -> list[int]:
    """The positions of what is in, in the order of the text."""
    found = [position for position, decision in enumerate(told.decisions) if decision.included]
    return sorted(found, key=lambda position: told.decisions[position].start or 0)


def left_out_positions(told: StoredAssembly) -> list[int]:
    """The positions of what was left out, in the order of deciding."""
    return [position for position, decision in enumerate(told.decisions) if is_left_out(decision)]


def empty_positions(told: StoredAssembly) -> list[int]:
    """The positions of what has no text."""
    return [position for position, decision in enumerate(told.decisions) if decision.code == Code.EMPTY]
