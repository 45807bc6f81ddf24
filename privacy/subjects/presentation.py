"""A mention as the page of its subject shows it: the sentence in which the person is named, with the name marked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.linked_things import LinkedThing, linked_things

SENTENCES = 2
"""How many sentences of a thing are shown."""
REACH = 140
"""The most characters of a sentence that are shown before the name, and after it."""
SENTENCE_END = re.compile(r"[.!?]\s|\n")


@dataclass(frozen=True, slots=True)
class Sentence:
    """The part of a text around a spelling."""

    before: str
    spelling: str
    after: str

    @property
    def marked(self) -> SafeString:
        """The sentence as HTML, with the spelling marked."""
        return format_html("{}<mark>{}</mark>{}", self.before, self.spelling, self.after)


@dataclass(frozen=True, slots=True)
class MentionView:
    """A mention with what it is about. Without sentences, the thing names the person in an earlier text only."""

    thing: LinkedThing
    sentences: Sequence[Sentence]

    @property
    def mention(self) -> SubjectMention:
        return self.thing.mention

    @property
    def spellings(self) -> SafeString:
        """All spellings that were found, as HTML."""
        return format_html_join(", ", "<mark>{}</mark>", ((one,) for one in self.mention.spellings))


@dataclass(frozen=True, slots=True)
class MentionGroup:
    """The mentions of one kind on a page."""

    label: str | Promise
    views: Sequence[MentionView]


def mention_groups(mentions: Iterable[SubjectMention]) -> list[MentionGroup]:
    """Return the mentions, which are in the order of their kinds, by kind; one query per kind."""
    views = [
        MentionView(thing, list(sentences_with(thing.mention.spellings, thing.texts))[:SENTENCES])
        for thing in linked_things(mentions, notices=True)
    ]
    by_kind = groupby(views, key=lambda view: view.thing.kind)
    return [MentionGroup(kind.label, list(of_kind)) for kind, of_kind in by_kind]


def sentences_with(spellings: Sequence[str], texts: Iterable[str]) -> Iterable[Sentence]:
    """Yield the sentences of the texts in which one of the spellings stands as it is, each once."""
    if not spellings:
        return
    longest_first = sorted(spellings, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    for text in texts:
        end = 0
        for found in pattern.finditer(text):
            if found.start() >= end:
                sentence = sentence_around(text, found.start(), found.end())
                end = found.end() + len(sentence.after)
                yield sentence


def sentence_around(text: str, start: int, end: int) -> Sentence:
    """Return the sentence of the text in which the characters `start` to `end` stand, shortened around them."""
    before, after = text[max(0, start - REACH) : start], text[end : end + REACH]
    begins = [match.end() for match in SENTENCE_END.finditer(before)]
    ends = SENTENCE_END.search(after)
    cut_before = "" if begins or start <= REACH else "…"
    cut_after = "" if ends or end + REACH >= len(text) else "…"
    return Sentence(
        cut_before + before[begins[-1] if begins else 0 :],
        text[start:end],
        (after[: ends.start() + 1] if ends else after).rstrip("\n") + cut_after,
    )


def status_counts(subject: Subject) -> dict[str, int]:
    """Return the number of mentions of the subject by status; one query."""
    return status_counts_of([subject])[subject.id]


def status_counts_of(subjects: Sequence[Subject]) -> dict[UUID, dict[str, int]]:
    """Return the numbers of mentions by status, by the id of the subject; one query."""
    counts = {subject.id: dict.fromkeys(map(str, MentionStatus.values), 0) for subject in subjects}
    rows = SubjectMention.objects.filter(subject__in=counts).values_list("subject_id", "status")
    for subject_id, status, number in rows.annotate(n=Count("id")):
        counts[subject_id][status] = number
    return counts


def with_counts(subjects: QuerySet[Subject]) -> QuerySet[Subject]:
    """Return the subjects with the numbers of their mentions to review (`found`) and linked (`linked`)."""
    return subjects.annotate(
        found=Count("mentions", filter=Q(mentions__status=MentionStatus.FOUND)),
        linked=Count("mentions", filter=Q(mentions__status=MentionStatus.LINKED)),
    )
