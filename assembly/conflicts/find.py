"""Conflicts are found in the background after texts are saved: each text is compared with those nearest in meaning.

What is saved is only noted (`uncompared_items.py`). Every few seconds, a worker makes a job for some of it, one job at
a time: comparing the passages of a document takes minutes, and other work must not wait for all documents of an import.
Items that fail become a job of their own, so that those beside them are compared and others do not wait for them.
A job may run twice: a pair of texts has one row, which keeps what a person decided. A conflict is gone when either side
has another text, or when its texts are compared again and it is not found.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from time import monotonic
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assembly.conflicts.compared_texts import (
    ComparedText,
    conflict_between,
    conflicts_between,
    items_of_all_kinds,
    lock_current,
    refs_of,
    texts_of,
)
from assembly.conflicts.counts import OwnerCounts
from assembly.conflicts.detection import Comparison, InferenceModel, compare_texts
from assembly.conflicts.detection.caches import cache_bytes, clear_caches
from assembly.conflicts.detection.nearness import is_near
from assembly.conflicts.known_conflicts import (
    TextPair,
    close_outdated,
    close_unfound,
    disputed_texts,
    pair_of,
    side_texts,
    undecided_conflicts,
)
from assembly.conflicts.language_model.model_in_use import model_in_use
from assembly.conflicts.nearest_texts import nearest_texts
from assembly.conflicts.uncompared_items import Item, note_all, note_items, take_items
from assembly.models import (
    Conflict,
    ConflictAction,
    ConflictDecision,
    ConflictKind,
    ConflictResolution,
    ConflictSide,
    ConflictStatus,
)
from assembly.models.conflict import MAX_MODEL_CHARACTERS, MAX_STATEMENT_CHARACTERS
from assembly.monitoring.alerts.conflict_alerts import conflict_alerts_close
from assembly.monitoring.alerts.watch import alerts_lock
from config.caching.cache_metrics import CacheUsage
from memories.jobs.periodic import periodic
from memories.jobs.services import UNFINISHED, Advance, JobStopped, RetryLater, job_create, job_kind
from memories.models import Job, JobStatus, Memory
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity, may_cache

FIND_CONFLICTS = "find_conflicts"
ITEMS_PER_JOB = 25
JOB_SECONDS = 60
"""A job begins no further item after this: passages of a long document take minutes, and other work must not wait."""
ALWAYS_COMPARED = 2
"""A job compares so many items in any case: the latest and the one that waits longest."""
NOTED_SECONDS = 10
"""The interval at which each worker creates a job for what was saved meanwhile, unless one is waiting or running."""
RETRY_PAUSE = timedelta(minutes=5)
"""Items whose comparison failed wait so long; a job is given up after several attempts."""
STORED_LABELS = frozenset({"conflict", "duplicate"})
MAX_STORED = 10
"""The most conflicts that are stored of one text with others, and the most duplicates: the surest of each."""
MAX_CUE_CHARACTERS = 500
TEXT_IS_BACK = "The text from before the edit was saved again."

logger = logging.getLogger(__name__)
_usage = CacheUsage("process", "conflict_detection")


@periodic(NOTED_SECONDS, "conflicts")
@transaction.atomic
def noted_conflicts_find() -> None:
    """Create a job for some of the noted items, unless there is one; several workers may do so, for other items.

    The job begins with the item that was noted last, and goes on with that which was noted first. A job that failed and
    waits for another attempt is no reason to wait.
    """
    waits_for_retry = Q(status=JobStatus.QUEUED, attempts__gt=0)
    if Job.objects.filter(kind=FIND_CONFLICTS, status__in=UNFINISHED).exclude(waits_for_retry).exists():
        return
    if taken := take_items(ITEMS_PER_JOB):
        _create_job([(kind, id_) for kind, id_, _ in taken], noted=[noted.isoformat() for *_, noted in taken])


def conflicts_find_all() -> int:
    """Note all current texts behind those that are saved meanwhile, and return how many items there are."""
    count = 0
    for kind, ids in items_of_all_kinds():
        note_all(kind, ids)
        count += len(ids)
    return count


def _create_job(items: Iterable[Item], *, noted: Sequence[str] = ()) -> Job:
    named = [[kind, str(id_)] for kind, id_ in items]
    arguments = {"items": named, "noted": noted}
    return job_create(kind=FIND_CONFLICTS, arguments=arguments, agent=None, principal=SYSTEM, steps=len(named))


@job_kind(FIND_CONFLICTS)
def find_conflicts(job: Job, advance: Advance) -> None:
    """Run a job that compares items; deleted items count as done.

    Once its time is up, it notes the others again, which later jobs compare. Items that fail become another job. Raises
    RetryLater if all of them failed.
    """
    items = [(kind, UUID(id_)) for kind, id_ in job.arguments["items"]]
    is_repeated = job.attempts > 1 or bool(job.error)  # what the last attempt found is unchanged
    counts, errors = OwnerCounts(), dict[Item, Exception]()
    ends = monotonic() + JOB_SECONDS
    try:
        for place, (kind, id_) in enumerate(items):
            if place >= ALWAYS_COMPARED and monotonic() > ends:
                _note_again(job, place)
                break
            is_changed = True  # unless it ends and says otherwise
            try:
                is_changed = bool(item_conflicts_find(kind=kind, id_=id_, advance=advance))
            except JobStopped:
                raise
            except Exception as error:
                logger.exception("the %s %s was not compared", kind, id_)
                errors[kind, id_] = error
            finally:
                if is_changed or is_repeated:
                    counts.add(id_)
            _usage.use(*cache_bytes())
            advance(1)
    finally:
        if not may_cache(Sensitivity.RESTRICTED):
            clear_caches()
        counts.finish()
    if errors and len(errors) == len(items):
        *_, last = errors.values()
        told = f"Items not compared: {len(errors)}, the last one because of {type(last).__name__}: {last}"
        raise RetryLater(told, RETRY_PAUSE) from last
    if errors:
        _create_job(errors)


def _note_again(job: Job, first: int) -> None:
    """Note the job's items from this one on, where they were in the queue; those of a job that does not tell, now."""
    noted = job.arguments.get("noted", [])[first:]
    for (kind, id_), at in zip_longest(job.arguments["items"][first:], noted):
        note_items(kind, [UUID(id_)], datetime.fromisoformat(at) if at else timezone.now())


class _Relation(NamedTuple):
    """The relation of two texts that were compared says how they relate; the left one has the lower id."""

    left: ComparedText
    right: ComparedText
    comparison: Comparison
    similarity: float


def item_conflicts_find(*, kind: str, id_: UUID, advance: Advance | None = None) -> list[Conflict]:
    """Compare the item's texts with those near them, store what is found, and return the conflicts whose state changed.

    Conflicts with texts that the item no longer has are gone afterwards, and so are those that are not found again if
    nobody has ever decided on them. If a language model is asked, `advance` is told after each text that the job goes
    on: those of a long document may take longer than a job may be silent.
    """
    texts = texts_of(kind, id_)
    if texts is None:
        return []
    changed = close_outdated(id_, refs_of(kind, id_, texts))
    undecided, compared, found = undecided_conflicts(id_), set[TextPair](), list[_Relation]()
    model = model_in_use()
    for text in texts:
        near = nearest_texts(text)
        near += disputed_texts(text, undecided, near)
        relations = _compare(text, near, model)
        if model is None or not model.is_failing:  # cues alone do not find what the model has found
            compared |= {pair_of(text, other) for other in near}
        compared -= {pair_of(one.left, one.right) for one in relations if one.comparison.label in STORED_LABELS}
        found += _surest(relations)
        if model and advance:
            advance(0)
    changed += [conflict for one in found if (conflict := _store(*one))]
    changed += close_unfound(conflict for pair, conflict in undecided.items() if pair in compared)
    return changed


def _compare(text: ComparedText, near: Iterable[ComparedText], model: InferenceModel | None) -> list[_Relation]:
    """Return how the text relates to each of these texts that is near and may be about the same."""
    relations = []
    for other in near:
        if not text.shares_subject(other) or not is_near(text.text, other.text, other.similarity):
            continue
        left, right = sorted((text, other), key=lambda one: (one.item, one.ref))
        comparison = compare_texts(
            left.text,
            right.text,
            similarity=other.similarity,
            left_date=left.date,
            right_date=right.date,
            model=model,
        )
        relations.append(_Relation(left, right, comparison, other.similarity))
    return relations


def _surest(relations: Sequence[_Relation]) -> Iterator[_Relation]:
    """Yield the surest conflicts and duplicates of a text."""
    for label in STORED_LABELS:
        mine = [one for one in relations if one.comparison.label == label]
        yield from sorted(mine, key=lambda one: -one.comparison.probability)[:MAX_STORED]


def remaining_contradiction(memory: Memory, other: ConflictSide) -> str:
    """Return the sentence that tells how the memory contradicts this side; empty if it does not.

    The caller is a request, which has no time for a language model: a worker asks one afterwards.
    """
    for text in texts_of("memory", memory.id) or ():
        for one in _compare(text, side_texts(text, other), None):
            if one.comparison.label == "conflict":
                return one.comparison.cue
    return ""


@transaction.atomic
def _store(left: ComparedText, right: ComparedText, comparison: Comparison, similarity: float) -> Conflict | None:
    """Store the conflict of the two texts, and return it if it is new, open again, or has become a duplicate or been
    one.

    Comparing takes seconds or minutes. Nothing is stored if either item was deleted or has another text meanwhile, and
    what an edit resolved is opened again only if both texts are there again.
    """
    alerts_lock()
    conflict = conflicts_between(left, right).select_for_update(no_key=True).first()
    # After the conflict, so that no decision changes a text from here on.
    if not (lock_current(left) and lock_current(right)):
        return None
    values = {
        "kind": ConflictKind.DUPLICATE if comparison.label == "duplicate" else comparison.kind,
        "cue": comparison.cue[:MAX_CUE_CHARACTERS],
        "similarity": similarity,
        "subject": comparison.subject,
        "severity": comparison.severity,
        "probability": comparison.probability,
        "model": comparison.model[:MAX_MODEL_CHARACTERS],
        "left_statement": comparison.left_statement[:MAX_STATEMENT_CHARACTERS],
        "right_statement": comparison.right_statement[:MAX_STATEMENT_CHARACTERS],
    }
    if conflict is None:
        conflict = conflict_between(left, right, **values)
        conflict.explain()
        # Another worker may find the same pair at once, from its other side.
        Conflict.objects.bulk_create([conflict], ignore_conflicts=True)
        return conflict
    values |= {"left_ref": left.ref, "right_ref": right.ref}
    was_edited = conflict.resolution == ConflictResolution.EDITED
    is_reopened = was_edited or conflict.status == ConflictStatus.GONE
    if not is_reopened and all(getattr(conflict, name) == was for name, was in values.items()):
        return None
    was_duplicate = conflict.is_duplicate
    for name, value in values.items():
        setattr(conflict, name, value)
    if is_reopened:
        conflict.reopen()
    conflict.explain()
    conflict.save(force_update=True)
    if was_edited:
        ConflictDecision.objects.create(
            conflict=conflict,
            action=ConflictAction.UNDO,
            resolution=ConflictResolution.EDITED,
            reason=TEXT_IS_BACK,
            by_ref=SYSTEM.ref,
            by_name=SYSTEM.name,
        )
    is_other = is_reopened or conflict.is_duplicate != was_duplicate
    if conflict.is_duplicate:
        conflict_alerts_close(conflict)
    return conflict if is_other and conflict.is_open else None


def count_open_conflicts() -> int:
    """Return the number of conflicts, without duplicates, that wait for a person."""
    return Conflict.objects.waiting().exclude(kind=ConflictKind.DUPLICATE).count()
