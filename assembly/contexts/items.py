"""This module describes a recorded context and its items in words: what was included or excluded, and why. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from msgspec import structs

from assembly.contexts.level_presentation import level_sentence
from assembly.contexts.links import ItemLinks
from assembly.contexts.near_misses import near_misses
from assembly.contexts.scores import ScorePart, score_parts
from assembly.engine.codes import Code, WarningCode
from assembly.engine.priority import PRIORITY
from assembly.engine.reasons import decision_sentence
from assembly.engine.refs import without_version
from assembly.engine.types import MEMORY_LAYER_SINCE, Decision
from assembly.models import Assembly, Purpose
from assembly.records.item_titles import short_title, title_of
from assembly.records.reader import StoredAssembly
from assembly.records.section_names import name_of_heading
from assembly.records.warnings import warnings_of

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
REASON_TAGS = {
    Code.OVER_SECTION_BUDGET: ("over limit", "warn"),
    Code.OVER_TOTAL_BUDGET: ("over limit", "warn"),
    Code.OUTRANKED: ("low rank", "plain"),
    Code.BELOW_RELEVANCE: ("low relevance", "plain"),
    Code.UNTRUSTED_ORIGIN: ("untrusted origin", "plain"),
    Code.FILTERED: ("excluded by request", "plain"),
    Code.CONFLICT_LOST: ("conflict", "bad"),
    Code.RULE_EXCLUDED: ("excluded by rule", "plain"),
    Code.RULE_INCLUDED: ("included by rule", "good"),
    Code.TRUNCATED: ("truncated", "warn"),
    Code.REQUIRED: ("full", "good"),
    Code.FITS: ("full", "good"),
    Code.PINNED: ("pinned", "good"),
    Code.EXPIRED: ("archived", "plain"),
    Code.SUMMARISED: ("summarised", "good"),
    Code.COMPACTED: ("shortened", "good"),
}
REASON_LABELS = {
    Code.REQUIRED: "required",
    Code.FITS: "included in full",
    Code.RULE_INCLUDED: "included by rule",
    Code.RULE_EXCLUDED: "excluded by rule",
    Code.OVER_SECTION_BUDGET: "over section limit",
    Code.OVER_TOTAL_BUDGET: "over budget",
}
"""Labels of reason codes whose tag is ambiguous or unclear without its context."""


@dataclass(frozen=True, slots=True)
class OutcomeTag:
    """A short label of an outcome; `tone` is good, warn, bad or plain."""

    label: str
    tone: str


def tag_of_code(code: Code) -> OutcomeTag:
    """Return the tag of a reason code."""
    return OutcomeTag(*REASON_TAGS.get(code, (label_of_code(code), "plain")))


def cut_tag(decision: Decision) -> OutcomeTag:
    """Return the tag of a cut text, which says how many of its paragraphs are included."""
    whole, of = decision.detail.get("kept_paragraphs"), decision.detail.get("of_paragraphs")
    return OutcomeTag(f"truncated: {whole:,} of {of:,} paragraphs" if whole else "truncated", "warn")


def label_of_code(code: str) -> str:
    """Return the label of a reason code in a list of choices."""
    known = REASON_TAGS.get(Code(code), (code.replace("_", " "),))
    return REASON_LABELS.get(Code(code), known[0])


def is_left_out(decision: Decision) -> bool:
    """Return whether a non-empty item was excluded."""
    return not decision.included and decision.code != Code.EMPTY


HEADLINE_SUBJECTS = {
    Purpose.AGENT: "Context of {agent}:",
    Purpose.PREVIEW: "Preview for {agent}:",
    Purpose.TEST: "Test for {agent}:",
}


def headline(assembly: Assembly, decisions: Sequence[Decision]) -> str:
    """Return one or two sentences on a context: its tokens, its budget, and how much was cut or excluded."""
    subject = HEADLINE_SUBJECTS[assembly.effective_purpose].format(agent=assembly.agent_name)
    told = f"{subject} {assembly.tokens:,} of {assembly.budget:,} tokens."
    if WarningCode.BUDGET_EXCEEDED in assembly.warnings:
        told = f"{subject} {assembly.tokens:,} tokens, more than the budget of {assembly.budget:,}."
    cut = sum(decision.code == Code.TRUNCATED for decision in decisions)
    out = sum(is_left_out(decision) for decision in decisions)
    parts = [f"{count_phrase(cut, 'text')} truncated"] if cut else []
    parts += [f"{count_phrase(out, 'item')} excluded"] if out else []
    if not parts:
        return f"{told} Nothing was excluded."
    rest = " and ".join(parts)
    return f"{told} {rest[0].upper()}{rest[1:]}."


def count_phrase(count: int, noun: str) -> str:
    number = NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else f"{count:,}"
    return f"{number} {noun} was" if count == 1 else f"{number} {noun}s were"


def warnings(assembly: Assembly) -> list[str]:
    """Return the warnings of an assembly as sentences."""
    return [warned.message for warned in warnings_of(assembly)]


@dataclass(frozen=True, slots=True)
class ItemView:
    """A candidate and its decision in words. `position` is the index of the decision, in the order of deciding."""

    position: int
    decision: Decision
    title: str
    short_title: str
    section: str
    layer: str
    size: str
    tag: OutcomeTag
    why: str
    near: str
    """What the item would have needed to be included; empty if no number says that."""
    rank: str
    """Rank of an excluded item; empty if the reason says it."""
    standing: str
    """The section, the rank in it and the score of an item; empty for an item without others in its section."""
    score: str
    priority: str
    """The priority of an item that has one apart from its score; empty for others."""
    parts: Sequence[ScorePart]
    """Features of the score, and of such a priority."""
    level: str
    """The level of detail at which the item is included, with the tokens of all; empty in profiles without levels."""
    origin: str
    """Where the text comes from; empty in records that do not say."""
    address: str
    """Address of the version that the item came from; empty if it is no longer readable."""

    @property
    def is_shorter(self) -> bool:
        """Whether the item was compacted or summarised."""
        return self.decision.code in {Code.COMPACTED, Code.SUMMARISED}

    @property
    def needs_reason(self) -> bool:
        """Whether the item is not simply included whole, so that the page gives a reason."""
        return self.tag.tone != "good" or self.is_shorter or not self.decision.included


@dataclass(frozen=True)
class ItemViews:
    """The items that a context considered; each is put into words on request."""

    told: StoredAssembly
    whereabouts: ItemLinks

    def at(self, positions: Iterable[int]) -> list[ItemView]:
        """Return the items at these positions."""
        wanted = [*positions]
        near = near_misses(self.told.decisions, [self.told.decisions[position] for position in wanted])
        return [self._item(position, near) for position in wanted]

    def _item(self, position: int, near: Mapping[tuple[str, str], str]) -> ItemView:
        decision, candidate = self.told.decisions[position], self.told.inputs.candidates[position]
        section, title = self._sections[decision.section], self.title(position)
        name = name_of_heading(section["key"], section["label"])
        is_one_of_many = decision.section not in self._one_text and not candidate.date
        return ItemView(
            position=position,
            decision=decision,
            title=title,
            short_title=short_title(title),
            section=name,
            layer=section["layer"].lower(),
            size=_size(decision),
            tag=tag_of_code(decision.code),
            why=self._reason(decision, name),
            near=near.get((decision.section, decision.ref), ""),
            rank=_rank(decision),
            standing=_rank_sentence(decision, name) if is_one_of_many else "",
            score=floatformat(decision.score, 2),
            priority=floatformat(dict(decision.signals).get(PRIORITY), 2),
            parts=score_parts(
                decision,
                self.told.inputs.profile.weights,
                is_mean=self.told.inputs.request.engine_version >= MEMORY_LAYER_SINCE,
            ),
            level=level_sentence(decision),
            origin=candidate.origin or "",
            address=self.whereabouts.address_of(candidate),
        )

    def title(self, position: int) -> str:
        """Return the title of an item; the section's label if the item is the whole section."""
        candidate = self.told.inputs.candidates[position]
        is_all = candidate.section in self._one_text
        section = self._sections[candidate.section]
        return name_of_heading(section["key"], section["label"]) if is_all else title_of(candidate)

    def address(self, position: int) -> str:
        """Return the address of the version that the item came from; empty if unreadable."""
        return self.whereabouts.address_of(self.told.inputs.candidates[position])

    def _reason(self, decision: Decision, label: str) -> str:
        """Return the engine's sentence on a decision, with the title of an item that it names by ref.

        The missing tokens are left out, because the sentence `near` states them.
        """
        detail = {name: value for name, value in decision.detail.items() if name != "needed"}
        if by := detail.get("by"):
            near = self._positions.get(by, self._positions.get(without_version(by)))
            detail["by"] = "an item that is not a candidate" if near is None else self.title(near)
        return decision_sentence(structs.replace(decision, detail=detail), label)

    @cached_property
    def _sections(self) -> dict[str, dict[str, str]]:
        return {section["key"]: section for section in self.told.assembly.sections}

    @cached_property
    def _one_text(self) -> set[str]:
        """The keys of sections that hold one text instead of a list of items."""
        return {section.key for section in self.told.inputs.profile.sections if section.shape == "text"}

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Positions of candidates by their refs, with and without version."""
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
    """Return the section's label, the rank in the section and the score."""
    rank = _("rank %(rank)s") % {"rank": intcomma(decision.rank)}
    if decision.score is None:
        return f"{label}, {rank}"
    return f"{label}, {rank}, " + _("score %(score)s") % {"score": floatformat(decision.score, 2)}


def included_positions(told: StoredAssembly) -> list[int]:
    """Return the positions of the included items, in the order of the text."""
    found = [position for position, decision in enumerate(told.decisions) if decision.included]
    return sorted(found, key=lambda position: told.decisions[position].start or 0)


def left_out_positions(told: StoredAssembly) -> list[int]:
    """Return the positions of the excluded items, in the order of deciding."""
    return [position for position, decision in enumerate(told.decisions) if is_left_out(decision)]


def truncated_positions(told: StoredAssembly) -> list[int]:
    """Return the positions of the texts that are included without their end, in the order of deciding."""
    return [position for position, decision in enumerate(told.decisions) if decision.code == Code.TRUNCATED]


def empty_positions(told: StoredAssembly) -> list[int]:
    """Return the positions of items without text."""
    return [position for position, decision in enumerate(told.decisions) if decision.code == Code.EMPTY]
