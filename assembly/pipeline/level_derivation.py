"""Levels of detail are made in the background after texts are saved, by a job, and stored for later contexts.

Services announce what they saved; the receivers here only note the items, by one statement in the same transaction, so
that a write takes no longer. Every few seconds, a worker makes one job for all noted items: a log to which an agent
appends all day has no job per line. The job extracts the levels of all texts of each item and, where a model is
configured that may be sent texts of this sensitivity, asks it for better ones. What is stored already is not made
again, so a job may run twice, and an item that is gone meanwhile has nothing to be done.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.dispatch import receiver

from assembly.engine.detail_levels import EXTRACTIVE_LEVELS, level_rooms
from assembly.engine.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from assembly.engine.types import ShorterLevel, Summary
from assembly.models import text_hash
from assembly.pipeline.levels import derivers, extracted_levels
from assembly.pipeline.summaries.extractive import compress_all
from assembly.pipeline.summaries.model_server import ModelServer, request_summaries
from assembly.pipeline.summaries.prompt import SummaryPrompt
from assembly.pipeline.summaries.services import MIN_TOKENS
from assembly.records.stored_levels import derived_texts, prune_levels, store_levels
from assembly.sources.level_texts import LEVELLED_KINDS, is_long, levelled_kind_of, stored_texts_of
from config.db.statements import Statement, fetch_rows, run_statement
from config.http.errors import NotFound
from memories.jobs.periodic import periodic
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import Job
from memories.services.announcements import texts_saved
from teams.principal import SYSTEM
from teams.sealing.fields import key_owner, must_be_sealed
from teams.versioned_text.versioned_file import file_saved, lock_row

DERIVE_LEVELS = "derive_levels"
ITEMS_PER_JOB = 500
NOTED_SECONDS = 10
"""The interval at which each worker creates jobs for what was saved meanwhile."""

logger = logging.getLogger(__name__)

NewLevel = tuple[bytes, ShorterLevel, Summary]
"""A level to be stored, with the hash of its text."""


# A row that another transaction notes again is locked until its commit, so it stays until its text can be read.
NOTE_SQL = """
INSERT INTO unlevelled_items (item, kind) SELECT noted, %(kind)s FROM unnest(%(items)s::uuid[]) AS noted
    ON CONFLICT (item) DO UPDATE SET kind = excluded.kind RETURNING item
"""
TAKE_SQL = """
DELETE FROM unlevelled_items WHERE item IN (
    SELECT item FROM unlevelled_items ORDER BY item LIMIT %s FOR UPDATE SKIP LOCKED
) RETURNING kind, item
"""


@receiver(texts_saved)
def note_saved_texts(sender: type[Any], rows: Sequence[Any], **_: Any) -> None:
    """Note those of the saved rows whose text is long."""
    _note(sender, [row.id for row in rows if is_long(row)])


@receiver(file_saved)
def note_saved_file(sender: type[Any], file: Any, **_: Any) -> None:
    """Note a saved file or log if its text is long."""
    _note(sender, [file.id] if is_long(file) else [])


def _note(model: type[Any], ids: Sequence[UUID]) -> None:
    if ids and (kind := levelled_kind_of(model)):
        run_statement(Statement(NOTE_SQL, {"kind": kind, "items": sorted(ids)}))


@periodic(NOTED_SECONDS, "levels")
def noted_levels_derive() -> None:
    """Create jobs for the noted items; several workers may do so at once, each for other items."""
    while _create_jobs_for_noted():
        pass


@transaction.atomic
def _create_jobs_for_noted() -> bool:
    """Create a job per kind for some of the noted items; return whether there may be more."""
    taken: dict[str, list[UUID]] = {}
    for kind, item in fetch_rows(TAKE_SQL, [ITEMS_PER_JOB]):
        taken.setdefault(kind, []).append(item)
    for kind, ids in taken.items():
        _create_job(kind, ids)
    return sum(map(len, taken.values())) == ITEMS_PER_JOB


def levels_derive_all() -> Iterator[Job]:
    """Yield the jobs that derive the missing levels of all current texts, each as it is created."""
    for kind, levelled in LEVELLED_KINDS.items():
        ids = list(levelled.long_rows().order_by("id").values_list("id", flat=True))
        for first in range(0, len(ids), ITEMS_PER_JOB):
            yield _create_job(kind, ids[first : first + ITEMS_PER_JOB])


def _create_job(kind: str, ids: Sequence[UUID]) -> Job:
    arguments = {"kind": kind, "items": [str(id_) for id_ in ids]}
    return job_create(kind=DERIVE_LEVELS, arguments=arguments, agent=None, principal=SYSTEM, steps=len(ids))


@job_kind(DERIVE_LEVELS)
def derive_levels_of_items(job: Job, advance: Advance) -> None:
    """Run a job that derives the missing levels of items; deleted items count as done."""
    for id_ in job.arguments["items"]:
        item_levels_derive(kind=job.arguments["kind"], id_=UUID(id_))
        advance(1)


def item_levels_derive(*, kind: str, id_: UUID) -> None:
    """Store the missing levels of the item's texts, and delete those of texts that it no longer has."""
    texts = stored_texts_of(kind, id_)
    if texts is None:
        return
    by_hash = {text_hash(text): text for text in texts}
    known = derived_texts(id_)
    missing = [key for key in by_hash if (key, EXTRACTIVE_LEVELS) not in known]
    _store(kind, id_, [level for key in missing for level in _named(key, extracted_levels(by_hash[key]))])
    if server := ModelServer.configured():
        missing_texts = {key: text for key, text in by_hash.items() if (key, derivers()[0]) not in known}
        for levels in _model_levels(server, missing_texts, partial(_may_be_sent, server, kind, id_)):
            _store(kind, id_, levels)


def _may_be_sent(server: ModelServer, kind: str, id_: UUID) -> bool:
    """Return whether the server may be sent the texts of the item, which may have been raised since they were read."""
    levels: QuerySet[Any] = LEVELLED_KINDS[kind].model._default_manager.filter(id=id_)  # noqa: SLF001 - Django's documented name
    level: int | None = levels.values_list("sensitivity", flat=True).first()
    return level is not None and server.may_read(level)


def _named(sha256: bytes, levels: Mapping[ShorterLevel, Summary]) -> list[NewLevel]:
    return [(sha256, level, summary) for level, summary in levels.items()]


def _store(kind: str, id_: UUID, levels: Sequence[NewLevel]) -> None:
    """Store the levels of texts that the item still has, and delete those of its former texts.

    The texts are read again, because they may have changed while the levels were made. Levels of a model take the place
    of extracted ones, so contexts with these are out of date: writing the row counts as a change of it.
    """
    with transaction.atomic():
        try:
            row = lock_row(LEVELLED_KINDS[kind].model(id=id_))  # so that no level outlives its item
        except NotFound:
            return
        present = set(map(text_hash, stored_texts_of(kind, id_) or ()))
        sealed_for = key_owner(row) if must_be_sealed(row) else None
        stored = [level for level in levels if level[0] in present]
        store_levels(id_, stored, sealed_for=sealed_for)
        prune_levels(id_, present)
        if any(summary.model != EXTRACTIVE_LEVELS for _, _, summary in stored):
            type(row)._base_manager.filter(id=id_).update(version=F("version"))  # noqa: SLF001 - Django's documented name


def _model_levels(
    server: ModelServer, texts: Mapping[bytes, str], may_be_sent: Callable[[], bool]
) -> Iterator[list[NewLevel]]:
    """Yield the levels that the model makes of the texts, a few texts at a time; it is not asked again after a failure,
    nor once the texts may not be sent any more.

    An answer that is too long is shortened to the level's limit.
    """
    tokenizer, name = get_tokenizer(DEFAULT_TOKENIZER), derivers()[0]
    wanted = [
        (key, level, SummaryPrompt(text, room))
        for key, text in texts.items()
        for level, room in level_rooms(text, tokenizer).items()
        if room >= MIN_TOKENS
    ]
    # The answers are told apart by their texts, so one request is about one level of each text.
    for level in sorted({level for _, level, _ in wanted}):
        prompts = [(key, prompt) for key, of, prompt in wanted if of == level]
        for first in range(0, len(prompts), server.concurrency):
            if not may_be_sent():
                return
            some = prompts[first : first + server.concurrency]
            result = request_summaries(server, [prompt for _, prompt in some], seconds=server.timeout_ms / 1000)
            answered = [
                (key, prompt, result.summaries[prompt.text]) for key, prompt in some if prompt.text in result.summaries
            ]
            short = compress_all([(answer, prompt.max_tokens) for _, prompt, answer in answered], tokenizer)
            yield [
                (key, level, Summary(one.text, name))
                for (key, _, _), one in zip(answered, short, strict=True)
                if one.text
            ]
            if result.code:
                logger.warning("levels of detail: %s: %s; extracted ones are used", result.code, result.fault)
                return
