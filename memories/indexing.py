"""Jobs that make what an agent keeps findable: documents are split into embedded chunks, missing embeddings made."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from agents.models import Agent
from config.http.errors import NotFound
from memories.embedding import MODEL_NAME, embed
from memories.jobs import Advance, job_create, job_kind
from memories.models import Chunk, Document, Entity, Job, Memory, Tool
from memories.services.preparation import prepare
from memories.splitting import split
from teams.files import locked
from teams.principal import Principal

BATCH_ROWS = 200


@job_kind("split_documents")
def split_documents(job: Job, advance: Advance) -> None:
    """Split the documents that the job names; those that are gone or split already count as done."""
    for id_ in job.arguments["documents"]:
        document_split(id_=UUID(id_))
        advance(1)


def document_split(*, id_: UUID) -> None:
    """Give the document the chunks of its current version: all of them, once, or none yet."""
    while (document := Document.objects.filter(id=id_).first()) and document.split_version != document.version:
        chunks = list(_chunks(document))
        if _chunks_replaced(document, chunks):
            return


def _chunks(document: Document) -> Iterator[Chunk]:
    pieces = split(path=document.path, language=document.language, text=document.content)
    for position, (piece, vector) in enumerate(zip(pieces, embed([piece.text for piece in pieces]), strict=True)):
        yield Chunk(
            document_id=document.id,
            agent_id=document.agent_id,
            document_version=document.version,
            position=position,
            start=piece.start,
            end=piece.end,
            line=piece.line,
            text=piece.text,
            embedding=vector,
            embedding_model=MODEL_NAME,
        )


@transaction.atomic
def _chunks_replaced(document: Document, chunks: list[Chunk]) -> bool:
    """Whether the chunks are the document's now; they are not when it has got a newer version meanwhile."""
    try:
        current = locked(document)  # two workers with the same document take turns
    except NotFound:
        return True
    if current.version != document.version:
        return False
    Chunk.objects.filter(document=document).delete()
    Chunk.objects.bulk_create(chunks, batch_size=BATCH_ROWS)
    # Not save(): that would make the document look changed.
    Document.objects.filter(id=document.id).update(split_version=document.version)
    return True


def reindex(*, agent: Agent | None, principal: Principal) -> Job:
    """A job that makes the embeddings that an agent's memories, entities and tools lack; with no agent, all teams'."""
    steps = sum(rows.count() for rows in _lacking(agent))
    return job_create(kind="embed_missing", arguments={}, agent=agent, principal=principal, steps=steps)


@job_kind("embed_missing")
def embed_missing(job: Job, advance: Advance) -> None:
    """Embed anew what has no embedding, or one of another model; a text without known words stays without."""
    for rows in _lacking(job.agent):
        last = UUID(int=0)
        while last_of_batch := _batch_embedded(rows.filter(id__gt=last), advance):
            last = last_of_batch


def _lacking(agent: Agent | None) -> list[QuerySet[Any]]:
    missing = Q(embedding=None) | ~Q(embedding_model=MODEL_NAME)
    owned: list[QuerySet[Any]] = (
        [model.objects.filter(agent=agent) for model in (Memory, Entity, Tool)]
        if agent
        else [Memory.objects.filter(agent=None)]
    )
    return [rows.filter(missing) for rows in owned]


def _batch_embedded(rows: QuerySet[Any], advance: Advance) -> UUID | None:
    """Embed the first of the rows; returns the id of the last of them, None when there was none."""
    with transaction.atomic():
        batch = list(rows.select_for_update(no_key=True).order_by("id")[:BATCH_ROWS])
        if not batch:
            return None
        _embed(batch)
        type(batch[0]).objects.bulk_update(batch, ["embedding", "embedding_model"])
    advance(len(batch))
    last: UUID = batch[-1].id
    return last


def _embed(things: list[Any]) -> None:
    if isinstance(things[0], Memory):
        for memory, vector in zip(things, embed([memory.text for memory in things]), strict=True):
            memory.embedding, memory.embedding_model = vector, MODEL_NAME
    else:
        prepare(things[0].agent_id, dict(enumerate(things)))
