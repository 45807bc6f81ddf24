"""An erasure runs as a job in steps. Each step finds what is there and is repeated safely, so an erasure that was
interrupted at any moment goes on with the step in which it was.

| step | what it does |
|---|---|
| `vectors` | remembers the hashes of the vectors that are going to be erased, to search for them at the end |
| `things` | deletes the things that go as a whole |
| `unpack` | stores packed texts with a spelling as they were written |
| `place:<table>` | replaces the spellings in a table, or deletes its rows |
| `caches` | empties caches |
| `records` | erases parts of recorded contexts, each batch with a seal |
| `retire_keys` | sees to it that nothing is stored under the keys of what was erased any more |
| `search` | searches everything again: whatever was written meanwhile is erased in another round |
| `subject` | erases the subject's own rows |
| `rewrite:<table>` | writes a table anew |
| `keys` | enters the erasure into the ledger, waits until no request can use the keys, and destroys them |
| `report` | seals the report and forgets the spellings |
"""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from assembly.pipeline.shared_answers import shared_answers
from config.keys.key_errors import KeyStoreUnavailable
from memories.embeddings.topic_vectors import topic_vectors
from memories.jobs.periodic import periodic
from memories.jobs.services import Advance, RetryLater, job_create, job_kind, job_retry
from memories.models import Job, JobStatus
from privacy.erasure.holds import hold_in_force
from privacy.erasure.ledger import entry_add
from privacy.erasure.live_rows import (
    packed_things_unpack,
    place_count,
    place_erase,
    rows_with_vectors,
    subject_rows_erase,
    things_erase,
    vector_hashes,
)
from privacy.erasure.places import PLACES, Treatment, places_of
from privacy.erasure.record_keys import (
    destroyed_keys_count,
    erasure_keys_destroy,
    erasure_keys_retire,
    keys_due,
    texts_stored_again,
)
from privacy.erasure.records import record_parts, records_erase
from privacy.erasure.report import report_seal
from privacy.erasure.sought import Sought
from privacy.erasure.table_rewrite import MayNotRewrite, TableBusy, rewritten_tables, table_rewrite
from privacy.models import ErasureState, SubjectErasure
from teams.principal import SYSTEM

ERASE_SUBJECT = "erase_subject"
MAX_ROUNDS = 5
BUSY_PAUSE = timedelta(seconds=30)
SWEEP_SECONDS = 30.0
SEARCHED = (Treatment.REPLACED, Treatment.DELETED)
WRITTEN_ANEW = (Treatment.REPLACED, Treatment.DELETED, Treatment.EMPTIED, Treatment.RECORDED, Treatment.OWN)
FURTHER_TABLES = ("summaries", "token_counts", "unused_pieces", "subject_erasures", "withheld_things")
"""Tables without texts whose rows name what is gone."""

logger = logging.getLogger(__name__)

Step = Callable[[SubjectErasure, Sought], dict[str, int | bool | str]]


class RemainsFound(Exception):
    """Something is still found after many rounds: others write it again and again."""


def _steps() -> Iterator[tuple[str, Step]]:
    """Yield the steps of one round of the search and destruction, by name."""
    yield "vectors", _remember_vectors
    yield "things", lambda _erasure, sought: dict(things_erase(sought))
    yield "unpack", lambda _erasure, sought: {"unpacked": packed_things_unpack(sought)}
    for place in places_of(*SEARCHED, Treatment.EMPTIED):
        yield f"place:{place.table}", partial(_erase_place, place.table)
    yield "caches", lambda _erasure, _sought: dict(caches_clear())
    yield "records", _erase_records
    yield "retire_keys", lambda erasure, _sought: dict(erasure_keys_retire(erasure))


def _remember_vectors(erasure: SubjectErasure, sought: Sought) -> dict[str, int | bool | str]:
    erasure.vectors = sorted({*erasure.vectors, *vector_hashes(PLACES, sought)})
    return {"vectors": len(erasure.vectors)}


def caches_clear() -> dict[str, bool]:
    """Empty the caches that processes share and the one on this machine's disk; say of each whether it answered.

    Those in the memory of processes are invalidated by the change counters of what changed.
    """
    return {"shared_answers": shared_answers().clear(), "topic_vectors": topic_vectors().clear()}


def _erase_place(table: str, _erasure: SubjectErasure, sought: Sought) -> dict[str, int | bool | str]:
    place = next(one for one in PLACES if one.table == table)
    return {"rows": place_erase(place, sought)}


def _erase_records(erasure: SubjectErasure, sought: Sought) -> dict[str, int | bool | str]:
    records_erase(erasure, sought)
    return {}


@job_kind(ERASE_SUBJECT)
def erase_subject(job: Job, advance: Advance) -> None:
    """Run a job that erases a subject, from the step on in which it was interrupted."""
    erasure = SubjectErasure.objects.filter(id=UUID(job.arguments["erasure"])).first()
    if erasure and erasure.state != ErasureState.FINISHED:
        erasure_run(erasure, advance)


def erasure_run(erasure: SubjectErasure, advance: Callable[[int], object] = lambda _steps: None) -> None:
    """Do all steps of an erasure that are not done yet.

    Raises RetryLater where something must be waited for; nothing that was done is lost then. Raises RemainsFound.
    """
    if hold := hold_in_force(erasure.subject_id):
        _block(erasure, f"A legal hold forbids it: {hold.reason}")
        return
    if erasure.state == ErasureState.BLOCKED:
        erasure.state, erasure.blocked_because = ErasureState.RUNNING, ""
        erasure.save(update_fields=["state", "blocked_because"])
    try:
        while "keys" not in erasure.steps.get("done", []):
            _destroy(erasure, Sought.of(erasure), advance)
        report_seal(erasure)
    except KeyStoreUnavailable as error:
        raise RetryLater(error.detail, BUSY_PAUSE) from None


def _destroy(erasure: SubjectErasure, sought: Sought, advance: Callable[[int], object]) -> None:
    """Do all steps before the report. A text that a request stored again meanwhile leaves some of them undone."""
    while "search" not in erasure.steps:
        for name, step in _steps():
            _run_step(erasure, sought, name, step)
            advance(1)
        _search_again(erasure, sought)
    _run_step(erasure, sought, "subject", lambda one, _sought: dict(subject_rows_erase(one)))
    for table in rewritten_tables([*(place.table for place in places_of(*WRITTEN_ANEW)), *FURTHER_TABLES]):
        _rewrite(erasure, table)
        advance(1)
    _destroy_keys(erasure)


def _run_step(erasure: SubjectErasure, sought: Sought, name: str, step: Step) -> None:
    """Do a step unless it is done, and add what it found to what earlier rounds found, in one transaction.

    The step of the records commits each of its batches by itself, because each has a seal.
    """
    if name in erasure.steps.get("done", []):
        return
    if name == "records":
        _note(erasure, name, step(erasure, sought))
        return
    with transaction.atomic():
        _note(erasure, name, step(erasure, sought))


def _note(erasure: SubjectErasure, name: str, found: dict[str, int | bool | str]) -> None:
    before = erasure.steps.get("found", {}).get(name, {})
    numbers = {key: value + before.get(key, 0) if type(value) is int else value for key, value in found.items()}
    steps = erasure.steps
    erasure.steps = {
        **steps,
        "done": [*steps.get("done", []), name],
        "found": {**steps.get("found", {}), name: {**before, **numbers}},
    }
    erasure.save(update_fields=["steps", "vectors"])


def _search_again(erasure: SubjectErasure, sought: Sought) -> None:
    """Search all places again; where something is found, the next round begins. Raises RemainsFound."""
    found = {place.table: number for place in places_of(*SEARCHED) if (number := place_count(place, sought))}
    if records := len(record_parts(sought)):
        found["records"] = records
    if near := rows_with_vectors(erasure.vectors):
        found["vectors"] = near
    rounds = erasure.steps.get("rounds", 0) + 1
    steps = {**erasure.steps, "rounds": rounds}
    if not found:
        steps["search"] = {
            "places": len(places_of(*SEARCHED, Treatment.RECORDED)),
            "found": 0,
            "vectors": len(erasure.vectors),
            "found_by_vector": 0,
        }
    else:
        logger.info("the erasure %d begins another round: something was written meanwhile", erasure.number)
        steps["done"] = []
    erasure.steps = steps
    erasure.save(update_fields=["steps"])
    if found and rounds >= MAX_ROUNDS:  # the next attempt of the job does another round
        raise RemainsFound(f"After {rounds} rounds, something is still found in: {', '.join(sorted(found))}.")


def _rewrite(erasure: SubjectErasure, table: str) -> None:
    name = f"rewrite:{table}"
    if name in erasure.steps.get("done", []):
        return
    try:
        table_rewrite(table)
        outcome = "written anew"
    except TableBusy:
        raise RetryLater(f"The table {table} is in use, so it cannot be written anew yet.", BUSY_PAUSE) from None
    except MayNotRewrite as refused:
        outcome = refused.sentence
    _note(erasure, name, {"outcome": outcome})


def _destroy_keys(erasure: SubjectErasure) -> None:
    """Destroy the keys of what was erased, and begin another round if a text was stored again meanwhile.

    Raises RetryLater while requests may still use the keys.
    """
    entry_add(erasure)  # what a backup brings back is erased again, also while this one waits
    due = keys_due(erasure)
    if due and due > timezone.now():
        erasure.keys_due = due
        erasure.save(update_fields=["keys_due"])
        raise RetryLater(f"The keys of recorded texts are destroyed at {due:%H:%M} UTC.", due - timezone.now())
    erasure_keys_destroy(erasure)
    again = texts_stored_again(erasure)
    with transaction.atomic():
        _note(erasure, "keys", dict(destroyed_keys_count(erasure)))
        erasure.keys_due = None
        if again:
            logger.info("the erasure %d begins another round: texts were stored again", erasure.number)
            erasure.steps = {name: value for name, value in erasure.steps.items() if name != "search"} | {"done": []}
        erasure.save(update_fields=["keys_due", "steps"])


def _block(erasure: SubjectErasure, because: str) -> None:
    erasure.state, erasure.blocked_because = ErasureState.BLOCKED, because[:500]
    erasure.save(update_fields=["state", "blocked_because"])


@periodic(SWEEP_SECONDS, "erasures")
def resume_erasures() -> None:
    """Queue erasures again that are not finished and whose job is gone or was given up; an erasure never is."""
    for erasure in SubjectErasure.objects.exclude(state=ErasureState.FINISHED):
        job = job_of(erasure)
        if job is None or job.status == JobStatus.DONE:
            if erasure.state == ErasureState.BLOCKED and hold_in_force(erasure.subject_id):
                continue
            with transaction.atomic():
                erasure.job_id = erasure_job(erasure).id
                erasure.save(update_fields=["job_id"])
        elif job.status == JobStatus.PARKED:
            job_retry(job=job)


def job_of(erasure: SubjectErasure) -> Job | None:
    """Return the job that runs an erasure; None if it was deleted."""
    return Job.objects.filter(id=erasure.job_id).first() if erasure.job_id else None


def erasure_job(erasure: SubjectErasure) -> Job:
    """Create the job that runs an erasure, and return it."""
    return job_create(kind=ERASE_SUBJECT, arguments={"erasure": str(erasure.id)}, agent=None, principal=SYSTEM)
