"""What a correction would change: linked things in whose current texts the wrong value stands, by sentences.

Drafts belong to their authors, and what was recorded is what was told: neither is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from privacy.corrections.corrected_text import ValueCorrection
from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.linked_things import LinkedThing, linked_things
from privacy.subjects.presentation import Sentence, sentence_around
from privacy.subjects.stored_texts import THING_KINDS, ThingKind, texts_in

MAX_PLANNED = 500
"""The most things that one correction changes. Whatever is corrected is not in the next plan."""
BATCH = 200
SENTENCES = 3
"""How many sentences of a thing are shown."""
LIVE_KINDS = tuple(kind.name for kind in THING_KINDS.values() if kind.is_live)
UNCORRECTED_COLUMNS = frozenset({"external_id"})
"""Columns that other systems depend on."""


@dataclass(frozen=True, slots=True)
class SentenceChange:
    """A sentence with the wrong value, and the right one that would be in its place."""

    sentence: Sentence
    right: str

    @property
    def before(self) -> SafeString:
        """The sentence as it is, as HTML."""
        return format_html("{}<del>{}</del>{}", self.sentence.before, self.sentence.spelling, self.sentence.after)

    @property
    def after(self) -> SafeString:
        """The sentence as it would be, as HTML."""
        return format_html("{}<ins>{}</ins>{}", self.sentence.before, self.right, self.sentence.after)

    def document(self) -> dict[str, str]:
        """Return both as texts."""
        around = self.sentence
        return {
            "before": f"{around.before}{around.spelling}{around.after}",
            "after": f"{around.before}{self.right}{around.after}",
        }


@dataclass(frozen=True, slots=True)
class PlannedThing:
    """A linked thing with its version, and how often and in which sentences the wrong value stands."""

    thing: LinkedThing
    version: int
    places: int
    sentences: Sequence[SentenceChange]

    @property
    def ref(self) -> str:
        """The ref of the version that was read, as in memory:<uuid>@3."""
        return f"{self.thing.mention.about}@{self.version}"


@dataclass(frozen=True, slots=True)
class CorrectionPlan:
    """What a correction would change. `drafts` is the number of linked drafts that have the wrong value."""

    things: Sequence[PlannedThing]
    has_more: bool
    drafts: int
    identifiers: Sequence[tuple[str, str]]
    """The identifiers of the subject that are wrong, as pairs of kind and value."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to correct."""
        return not self.things and not self.identifiers


def correction_plan(subject: Subject, value: ValueCorrection) -> CorrectionPlan:
    """Return what a correction would change, at most 500 things by their kinds."""
    linked = SubjectMention.objects.filter(subject=subject, status=MentionStatus.LINKED).order_by("ref_kind", "id")
    found = list(islice(_planned(linked.filter(ref_kind__in=LIVE_KINDS), value), MAX_PLANNED + 1))
    drafts = linked.filter(ref_kind__in=("draft", "discarded_text"))
    with_value = sum(
        any(map(value.replacements, thing.texts)) for some in _batches(drafts) for thing in linked_things(some)
    )
    wrong = [
        (kind, one)
        for kind, one in subject.identifiers.order_by("id").values_list("kind", "value")
        if value.is_wrong_identifier(kind, one)
    ]
    return CorrectionPlan(found[:MAX_PLANNED], len(found) > MAX_PLANNED, with_value, wrong)


def _planned(linked: Any, value: ValueCorrection) -> Iterator[PlannedThing]:
    for some in _batches(linked):
        for thing in linked_things(some):
            if thing.row is not None and (planned := _planned_thing(thing, value)):
                yield planned


def _batches(linked: Any) -> Iterator[list[SubjectMention]]:
    mentions = list(linked)
    for at in range(0, len(mentions), BATCH):
        yield mentions[at : at + BATCH]


def _planned_thing(thing: LinkedThing, value: ValueCorrection) -> PlannedThing | None:
    found: list[SentenceChange] = []
    places = 0
    for text in _correctable_texts(thing.kind, thing.row):
        replaced = value.replacements(text)
        places += len(replaced)
        shown = replaced[: SENTENCES - len(found)]
        found += [SentenceChange(sentence_around(text, one.start, one.end), one.new) for one in shown]
    return PlannedThing(thing, thing.row.version, places, found) if places else None


def _correctable_texts(kind: ThingKind, row: Any) -> Iterator[str]:
    for column in correctable_columns(kind):
        yield from texts_in(getattr(row, column))


def correctable_columns(kind: ThingKind) -> list[str]:
    """Return the columns of things of this kind in which values are corrected."""
    return [column for column in kind.columns if column not in UNCORRECTED_COLUMNS]


def corrected_columns(kind: ThingKind, row: Any, value: ValueCorrection) -> tuple[Mapping[str, Any], int]:
    """Return the corrected values by column, those that differ alone, and how often something was replaced."""
    places = sum(len(value.replacements(text)) for text in _correctable_texts(kind, row))
    changes = {}
    for column in correctable_columns(kind):
        before = getattr(row, column)
        if (after := value.corrected_value(before)) != before:
            changes[column] = after
    return changes, places
