"""What else is stored about a subject besides linked things: feedback, flags, alerts, conflicts, log entries, and more.

A row is found because a spelling stands in it, as an erasure finds it, or because it is about a linked thing or a
context that told one. Rows about things that are dismissed, or not reviewed yet, are left out. The tables are those of
`privacy.erasure.places`, so a table that is new is searched as well, or a test demands a reason why it is not.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Q

from privacy.erasure.live_rows import keys_with_spellings
from privacy.erasure.places import Place, Treatment, places_of
from privacy.erasure.sought import TABLE_OF_KIND, Sought
from privacy.erasure.spelling_patterns import SpellingPatterns
from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.stored_texts import THING_KINDS

MAX_ROWS = 10_000
"""The most rows of a table in a file, the newest."""
LINKED_TABLES = frozenset(
    {
        *TABLE_OF_KIND.values(),
        *(kind.versions._meta.db_table for kind in THING_KINDS.values() if kind.versions),  # noqa: SLF001
    }
)
"""The tables of what is reviewed and linked, which the file has as things with versions, or as contexts."""
SUBJECT_TABLES = frozenset(
    {"subjects", "subject_versions", "subject_identifiers", "subject_mentions", "subject_corrections"}
)
"""The tables of the subject itself, which the file has first."""
SEARCHED_BESIDES = frozenset({"webhook_deliveries"})
_COMPUTED = "It is computed from a text that is in the file."
_SHORT = "It is packed or encrypted, stored for a short time, and cannot be searched."
NOT_IN_FILE: Mapping[str, str] = {
    "chunks": _COMPUTED,
    "file_passages": _COMPUTED,
    "text_levels": _COMPUTED,
    "pieces": "Refs and titles of items in recorded contexts; the file names the items with each context.",
    "stored_texts": "Texts of items in recorded contexts are those of the things and their versions. Texts that stand "
    "in requests alone are in the file with their contexts.",
    "context_file_parts": _SHORT,
    "context_files": _SHORT,
    "import_plans": _SHORT,
    "idempotent_requests": _SHORT,
    "shared_cache": _SHORT,
    "memory_requests": "Ids that programs give to their requests, stored for a short time.",
    "subject_files": "Files such as this one.",
    "subject_scans": "How far a search is.",
    "subject_correction_results": "What became of each thing in a correction, which is in the file; former values are "
    "the wrong value of the correction.",
    "subject_erasures": "An erasure; while it runs, the identifiers, which are in the file.",
}
"""Why the rows of a table are not in the file, though they can name the person."""


@dataclass(frozen=True)
class AboutSubject:
    """What rows are attached to: the subject, the refs of its linked things, and the ids of contexts that told them."""

    subject: Subject
    things: Collection[str]
    contexts: Collection[UUID]

    @cached_property
    def ids(self) -> list[UUID]:
        """The ids of the linked things."""
        return [UUID(ref.partition(":")[2]) for ref in self.things]

    @cached_property
    def conflicts(self) -> list[UUID]:
        """The ids of conflicts of the linked things."""
        rows = _rows("conflicts").filter(Q(left_item__in=self.ids) | Q(right_item__in=self.ids))
        return list(rows.values_list("pk", flat=True))

    def attached(self, table: str) -> Q | None:
        """Return which rows of the table are about any of it, whether they name the person or not."""
        of_contexts = Q(assembly__in=list(self.contexts))
        refs = [*self.things, *(f"conflict:{id_}" for id_ in self.conflicts)]
        return {
            "conflicts": Q(pk__in=self.conflicts),
            "conflict_decisions": Q(conflict_id__in=self.conflicts),
            "alerts": Q(thing__in=refs),
            "activities": Q(about__in=self.things) | Q(target=f"subject:{self.subject.id}"),
            "assembly_feedback": of_contexts,
            "assembly_flags": of_contexts,
            "proposals": Q(assembly_id__in=list(self.contexts)),
            "legal_holds": Q(target=self.subject.id),
        }.get(table)


def further_places() -> list[Place]:
    """Return the tables that are searched for the file besides those of linked things."""
    found = [place for place in places_of(Treatment.REPLACED) if place.table not in LINKED_TABLES]
    return [*found, *(place for place in places_of(Treatment.DELETED) if place.table in SEARCHED_BESIDES)]


def further_rows(about: AboutSubject, spellings: Collection[str]) -> Iterator[tuple[Place, list[Any], bool]]:
    """Yield the tables with such rows, the newest first, and whether there are more than `MAX_ROWS`."""
    others = SubjectMention.objects.filter(subject=about.subject).exclude(status=MentionStatus.LINKED)
    spared = frozenset(mention.about for mention in others)
    sought = Sought(about.subject.id, SpellingPatterns.of(spellings), frozenset(), spared)
    for place in further_places():
        chosen = Q(pk__in=keys_with_spellings(place, sought)) & ~_about_others(place.table, spared)
        attached = about.attached(place.table)
        found = _rows(place.table).filter(chosen if attached is None else chosen | attached).order_by("-pk")
        if rows := list(found[: MAX_ROWS + 1]):
            yield place, rows[:MAX_ROWS], len(rows) > MAX_ROWS


def _about_others(table: str, things: Collection[str]) -> Q:
    """Return which rows of the table are about one of these things, though they have ids of their own."""
    ids = [UUID(ref.partition(":")[2]) for ref in things]
    return {
        "conflicts": Q(left_item__in=ids) | Q(right_item__in=ids),
        "alerts": Q(thing__in=things),
        "activities": Q(about__in=things),
    }.get(table, Q(pk__in=[]))


def _rows(table: str) -> Any:
    model = model_of(table)
    return getattr(model, "everything", model._default_manager).all()  # noqa: SLF001 - Django's documented name


def model_of(table: str) -> Any:
    """Return the model of a table. Raises KeyError."""
    return {model._meta.db_table: model for model in apps.get_models()}[table]  # noqa: SLF001 - as above
