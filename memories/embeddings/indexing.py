"""Background jobs split documents into embedded chunks, and make embeddings that are missing."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from agents.models import Agent
from config.http.errors import NotFound
from memories.embeddings.active_model import EmbeddingModel, lock_active_model, read_active_model
from memories.embeddings.backfill import fill_vectors, searched_rows
from memories.embeddings.splitting import is_code, split_text
from memories.embeddings.vectors import embed_texts, set_vectors
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import Chunk, Document, Entity, Job, Memory, Tool
from memories.search.languages import DEFAULT, detected_language
from memories.services.announcements import announce_texts
from teams.principal import Principal
from teams.versioned_text.versioned_file import lock_row

CHUNKS_PER_STATEMENT = 200


@job_kind("split_documents")
def split_documents(job: Job, advance: Advance) -> None:
    """Run a job that splits documents; documents that are deleted or split already count as done."""
    for id_ in job.arguments["documents"]:
        document_split(id_=UUID(id_))
        advance(1)


def document_split(*, id_: UUID) -> None:
    """Replace the document's chunks by those of its current version, unless it has them already.

    Where the document or the embedder changes meanwhile, the document is split again. Nothing happens where it is
    deleted.
    """
    while (document := Document.objects.filter(id=id_).first()) and document.split_version != document.version:
        space, chunks = read_active_model(), list(_chunks(document))
        levels = [document.sensitivity] * len(chunks)
        set_vectors(chunks, space, embed_texts(space, [chunk.said for chunk in chunks], levels))
        if _replace_chunks(document, chunks, space):
            return


def _chunks(document: Document) -> Iterator[Chunk]:
    pieces = split_text(path=document.path, language=document.language, text=document.content)
    code = is_code(path=document.path, language=document.language)
    prevailing = detected_language(document.content) or DEFAULT
    for position, piece in enumerate(pieces):
        yield Chunk(
            document_id=document.id,
            agent_id=document.agent_id,
            document_version=document.version,
            position=position,
            start=piece.start,
            end=piece.end,
            line=piece.line,
            text=piece.text,
            language=DEFAULT if code else detected_language(piece.text) or prevailing,
        )


@transaction.atomic
def _replace_chunks(document: Document, chunks: list[Chunk], space: EmbeddingModel) -> bool:
    """Store the chunks as the document's, and return whether that is done (true where the document was deleted).

    Returns False where the document has a newer version, or the embedder was changed, since the chunks were made.
    """
    try:
        current = lock_row(document)  # workers that split the same document wait for each other
    except NotFound:
        return True
    if current.version != document.version or lock_active_model() != space:
        return False
    for chunk in chunks:
        chunk.sensitivity = current.sensitivity
    Chunk.objects.filter(document=document).delete()
    Chunk.objects.bulk_create(chunks, batch_size=CHUNKS_PER_STATEMENT)
    # update(), because save() would make the document look changed.
    Document.objects.filter(id=document.id).update(split_version=document.version)
    announce_texts([document])
    return True


def reindex(*, agent: Agent | None, principal: Principal) -> Job:
    """Create a job that makes the missing embeddings of an agent's memories, entities and tools, and return it.

    Without an agent, the job embeds the memories of all teams.
    """
    steps = sum(rows.count() for rows in _rows_to_embed(agent, read_active_model()))
    return job_create(kind="embed_missing", arguments={}, agent=agent, principal=principal, steps=steps)


@job_kind("embed_missing")
def embed_missing(job: Job, advance: Advance) -> None:
    """Run a job that embeds rows without a vector or with one of another model.

    A text without known words stays without a vector.
    """
    space = read_active_model()
    for rows in _rows_to_embed(job.agent, space):
        fill_vectors(rows, space, advance)


def _rows_to_embed(agent: Agent | None, space: EmbeddingModel) -> list[QuerySet[Any]]:
    missing = Q(**{space.slot: None}) | ~Q(**{space.model_column: space.model})
    owned: list[QuerySet[Any]] = (
        [searched_rows(model).filter(agent=agent) for model in (Memory, Entity, Tool)]
        if agent
        else [searched_rows(Memory).filter(agent=None)]
    )
    return [rows.filter(missing) for rows in owned]
