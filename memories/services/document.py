"""This module creates and changes documents. New text is split into chunks by a background job, after the commit."""

from collections.abc import Sequence

from django.db import transaction

from agents.models import Agent
from memories.jobs.services import job_create
from memories.lifecycle.thing_tables import DOCUMENTS
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Chunk, Document
from memories.services.agent_item import Facts, agent_item_update, agent_items_create, lock_names
from teams.principal import Principal
from teams.versioned_text.versioned_file import lock_row

DOCUMENTS_PER_JOB = 50
"""Documents are split in jobs of this many, so that several workers share a large import and progress is visible.

A worker that was killed repeats at most one document.
"""

SPLIT_BY = ("path", "language", "content")


@transaction.atomic
def documents_create(*, agent: Agent, facts: Sequence[Facts], principal: Principal) -> list[Document]:
    """Create documents of an agent, all or none, and return them; those whose external id the agent has are skipped.

    Raises InvalidBatch and DuplicateInBatch.
    """
    documents = agent_items_create(model=Document, agent=agent, facts=facts, principal=principal)
    _split_later(agent, documents, principal)
    return documents


@transaction.atomic
def document_update(*, thing: Document, expected_version: int, changes: Facts, principal: Principal) -> Document:
    """Save a new version of the document with these changes, and return it. Without a difference nothing is saved.

    Raises StaleVersion, InvalidBatch and DuplicateInBatch.
    """
    was_searched = thing.is_searched
    if thing.tier != Tier.HOT:
        things_move(DOCUMENTS, [thing.id], Tier.HOT)  # its chunks have their texts again before it changes
    lock_names(thing, changes)
    before = lock_row(thing)
    saved = agent_item_update(thing=before, expected_version=expected_version, changes=changes, principal=principal)
    if saved.version == expected_version:
        return saved
    if not was_searched or any(getattr(saved, name) != getattr(before, name) for name in SPLIT_BY):
        _split_later(saved.agent, [saved], principal)
    elif saved.split_version == expected_version:
        _keep_chunks(saved)
    return saved


def _split_later(agent: Agent, documents: Sequence[Document], principal: Principal) -> None:
    for first in range(0, len(documents), DOCUMENTS_PER_JOB):
        ids = [str(document.id) for document in documents[first : first + DOCUMENTS_PER_JOB]]
        arguments = {"documents": ids}
        job_create(kind="split_documents", arguments=arguments, agent=agent, principal=principal, steps=len(ids))


def _keep_chunks(document: Document) -> None:
    """Assign the chunks of the previous version to the document's new version, which has the same text."""
    Chunk.objects.filter(document=document).update(document_version=document.version)
    document.split_version = document.version
    Document.objects.filter(id=document.id).update(split_version=document.version)
