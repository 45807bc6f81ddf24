"""Live tables: things are deleted as a whole, and spellings are replaced in all columns that have a policy.

What follows from changed texts is deleted with them and made again by the usual jobs: vectors, passages, levels.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Q
from django.utils import timezone

from agents.models import Agent
from assembly.models import TextLevel
from assembly.models.assembly import ERASED
from assembly.pipeline.level_derivation import DERIVE_LEVELS
from assembly.sources.level_texts import LEVELLED_KINDS
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.backfill import EMBEDDED_MODELS
from memories.embeddings.indexing import reindex
from memories.jobs.services import job_create
from memories.lifecycle.thing_tables import THING_TABLES, ThingTable
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Chunk, Document, FilePassage, Memory
from memories.models.file_passage import FILE_MODELS
from memories.services.announcements import announce_in_reach
from privacy.erasure.places import Place, Treatment
from privacy.erasure.sealed_rows import sealed_keys, sealed_rows_erase
from privacy.erasure.sought import TABLE_OF_KIND, Sought
from privacy.models import (
    Subject,
    SubjectCorrection,
    SubjectErasure,
    SubjectFile,
    SubjectIdentifier,
    SubjectMention,
    SubjectScan,
)
from privacy.subjects.withholding import withheld_things_sync
from teams.principal import SYSTEM

ERASE_THINGS_SQL = "SELECT erase_things(%s, %s, %s)"
ERASE_SPELLINGS_SQL = "SELECT erase_spellings(%s, %s, %s, %s, %s, %s, %s)"
ERASE_ROWS_SQL = "SELECT erase_rows(%s, %s, %s, %s, %s, %s, %s)"
ERASE_VERSIONS_SQL = "SELECT erase_subject_versions(%s)"
COUNT_SQL = "SELECT count_spellings(%s, %s, %s, %s, %s, %s)"
KEYS_SQL = "SELECT * FROM keys_with_spellings(%s, %s, %s, %s, %s, %s)"
BATCH = 200
SLOTS = ("embedding", "second_embedding")


def things_erase(sought: Sought) -> dict[str, int]:
    """Delete the things that go as a whole, with their versions and parts; return how many, by table.

    The passages and levels of a deleted file are deleted by triggers; relations would go with their entities, so they
    are deleted and counted first. Memories that a deleted one superseded stand again.
    """
    by_table = sorted(sought.whole_ids.items(), key=lambda one: one[0] != "relations")
    memories = sought.whole_ids.get(Memory._meta.db_table, [])  # noqa: SLF001
    superseded = Memory.everything.filter(superseded_by__in=memories, retired_because="").exclude(id__in=memories)
    standing = list(superseded.values_list("id", flat=True))
    erased = {table: int(fetch_rows(ERASE_THINGS_SQL, [sought.erasure, table, ids])[0][0]) for table, ids in by_table}
    announce_in_reach(Memory, standing)
    return erased


def packed_things_unpack(sought: Sought) -> int:
    """Store packed and archived texts with a spelling as they were written; return their number.

    The key of an archived text is in its row alone, so the bytes that remain in the archive cannot be read any more.
    """
    moved = 0
    for table in THING_TABLES:
        for ids in _packed_batches(table):
            column = table.column
            rows = table.model._default_manager.filter(pk__in=ids).values_list("pk", column)  # noqa: SLF001
            named = [id_ for id_, value in rows if sought.patterns.is_in_value(value)]
            moved += len(things_move(table, named, Tier.HOT)) if named else 0
    return moved


def _packed_batches(table: ThingTable) -> Iterator[list[UUID]]:
    after: UUID | None = None
    select = (
        f"SELECT id FROM {table.name} WHERE (packed IS NOT NULL OR frozen IS NOT NULL)"  # noqa: S608 - constants
        f" AND (%s::uuid IS NULL OR id > %s) ORDER BY id LIMIT {BATCH}"
    )
    while ids := [id_ for (id_,) in fetch_rows(select, [after, after])]:
        yield ids
        after = ids[-1]


def place_erase(place: Place, sought: Sought) -> int:
    """Replace the spellings in a place, or delete its rows with a spelling; return the number of rows.

    Jobs that compute again what follows from the texts are created in the same transaction.
    """
    if place.treatment is Treatment.EMPTIED:
        return len(fetch_rows(f"DELETE FROM {place.table} RETURNING 1"))  # noqa: S608 - a constant
    if place.treatment is Treatment.DELETED:
        sealed = len(sealed_rows_erase(place, sought))
        return sealed + int(fetch_rows(ERASE_ROWS_SQL, [sought.erasure, *_arguments(place, sought)])[0][0])
    again = _Recomputed(place, sought)
    changed = len(sealed_rows_erase(place, sought))
    changed += int(fetch_rows(ERASE_SPELLINGS_SQL, [sought.erasure, *_arguments(place, sought)])[0][0])
    if changed:
        again.prepare()
    return changed


def place_count(place: Place, sought: Sought) -> int:
    """Return the number of rows of a place in which a spelling stands."""
    if place.treatment is Treatment.EMPTIED:
        return int(fetch_rows(f"SELECT count(*) FROM {place.table}")[0][0])  # noqa: S608 - a constant
    return int(fetch_rows(COUNT_SQL, _arguments(place, sought))[0][0]) + len(sealed_keys(place, sought))


def keys_with_spellings(place: Place, sought: Sought) -> list[str]:
    """Return the keys of the rows of a place in which a spelling stands, sealed or not."""
    keys = [key for (key,) in fetch_rows(KEYS_SQL, _arguments(place, sought))]
    return [*keys, *sealed_keys(place, sought)]


def _arguments(place: Place, sought: Sought) -> list[Any]:
    patterns = sought.patterns
    loose = place.treatment is Treatment.DELETED  # a part of a longer word is no reason to keep what is made again
    strict = patterns.loose if loose else patterns.strict
    return [place.table, list(place.columns), strict, patterns.loose, place.thing, sought.spared_texts]


class _Recomputed:
    """The rows of a place that are about to change, and what has to be made again for them."""

    def __init__(self, place: Place, sought: Sought) -> None:
        self.table = place.table
        self.ids = self._ids(place, sought) if self._is_derived_from() else []

    def _is_derived_from(self) -> bool:
        return self.table == "documents" or self.table in _FILE_TABLES or self.table in _EMBEDDED_TABLES

    def _ids(self, place: Place, sought: Sought) -> list[UUID]:
        return [UUID(key) for key in keys_with_spellings(place, sought)]

    def prepare(self) -> None:
        """Delete the passages of the rows, create the jobs that make passages, vectors and levels of detail, and
        announce the rows; documents are announced after the split.

        A level without a spelling is deleted by its job, because it is one of the former text.
        """
        levels = TextLevel.objects.filter(item__in=self.ids).order_by("item")
        if items := [str(item) for item in levels.values_list("item", flat=True).distinct()]:
            of_items: dict[str, Any] = {"kind": _LEVELLED_TABLES[self.table], "items": items}
            job_create(kind=DERIVE_LEVELS, arguments=of_items, agent=None, principal=SYSTEM, steps=len(items))
        if self.table == "documents":
            Chunk.objects.filter(document__in=self.ids).delete()
            execute_sql("UPDATE documents SET split_version = 0 WHERE id = ANY(%s)", [self.ids])
            hot = Document.objects.filter(id__in=self.ids, tier=Tier.HOT).values_list("id", flat=True)
            documents = [str(id_) for id_ in hot]
            arguments: dict[str, Any] = {"documents": documents}
            job_create(kind="split_documents", arguments=arguments, agent=None, principal=SYSTEM, steps=len(documents))
        elif self.table in _FILE_TABLES:
            FilePassage.objects.filter(file_id__in=self.ids).delete()
            files = [[_FILE_TABLES[self.table], str(id_)] for id_ in self.ids]
            arguments = {"files": files}
            job_create(kind="split_files", arguments=arguments, agent=None, principal=SYSTEM, steps=len(files))
            announce_in_reach(FILE_MODELS[_FILE_TABLES[self.table]], self.ids)
        elif self.table in _EMBEDDED_TABLES:
            rows = _EMBEDDED_TABLES[self.table]._default_manager.filter(id__in=self.ids)  # noqa: SLF001
            for agent in Agent.objects.filter(id__in=rows.exclude(agent=None).values("agent_id")):
                reindex(agent=agent, principal=SYSTEM)
            if rows.filter(agent=None).exists():
                reindex(agent=None, principal=SYSTEM)
            announce_in_reach(_EMBEDDED_TABLES[self.table], self.ids)


_FILE_TABLES = {model._meta.db_table: kind for kind, model in FILE_MODELS.items()}  # noqa: SLF001
_LEVELLED_TABLES = {TABLE_OF_KIND[kind]: kind for kind in LEVELLED_KINDS}
_EMBEDDED_TABLES: dict[str, Any] = {
    model._meta.db_table: model  # noqa: SLF001
    for model in EMBEDDED_MODELS
    if model not in {Chunk, FilePassage}
}


def vector_hashes(tables: Sequence[Place], sought: Sought) -> list[str]:
    """Return the hashes of the vectors of all rows with a spelling or of things to delete, in hexadecimal."""
    found: set[str] = set()
    for place in tables:
        model = next((one for one in EMBEDDED_MODELS if one._meta.db_table == place.table), None)  # noqa: SLF001
        if model is None:
            continue
        ids = keys_with_spellings(place, sought)
        chosen = Q(pk__in=ids)
        if place.table in sought.whole_ids:
            chosen |= Q(pk__in=sought.whole_ids[place.table])
        for row in model._default_manager.filter(chosen).values_list(*SLOTS):  # noqa: SLF001
            found |= {vector_hash(vector) for vector in row if vector is not None}
    return sorted(found)


def vector_hash(vector: Any) -> str:
    """Return the hash of a vector: SHA-256 of its numbers in half precision, in which some vectors are stored."""
    return hashlib.sha256(np.asarray(vector, np.dtype("<f2")).tobytes()).hexdigest()


def rows_with_vectors(hashes: Sequence[str]) -> int:
    """Return the number of rows that have one of these vectors: those that a search by meaning finds at once."""
    known, found = set(hashes), 0
    if not known:
        return 0
    for model in EMBEDDED_MODELS:
        for row in model._default_manager.order_by().values_list(*SLOTS).iterator(chunk_size=1_000):  # noqa: SLF001
            found += any(vector is not None and vector_hash(vector) in known for vector in row)
    return found


def subject_rows_erase(erasure: SubjectErasure) -> dict[str, int]:
    """Erase the subject's own data, and lift its restriction; its row stays, to say that it was erased, and when."""
    subject = Subject.objects.select_for_update(no_key=True).filter(id=erasure.subject_id).first()
    if subject is None:
        return {}
    if subject.is_restricted:
        subject.restricted_at, subject.restricted_by, subject.restricter_name = None, "", ""
        subject.save()
        withheld_things_sync(subject)
    counts = {
        model._meta.db_table: model.objects.filter(subject=subject).delete()[0]  # noqa: SLF001
        for model in (SubjectIdentifier, SubjectMention, SubjectFile, SubjectScan, SubjectCorrection)
    }
    subject.name, subject.note, subject.erased_at = ERASED, "", subject.erased_at or timezone.now()
    subject.save()
    ((versions,),) = fetch_rows(ERASE_VERSIONS_SQL, [erasure.id])
    return {**counts, "subject_versions": int(versions), "subjects": 1}
