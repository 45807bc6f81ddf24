"""Writes about documents. Whose text is new is split into chunks in the background, once the change is committed."""

from collections.abc import Sequence

from django.db import transaction

from agents.models import Agent
from memories.jobs.services import job_create
from memories.models import Chunk, Document
from memories.services.agent_item import Facts, agent_item_update, agent_items_create
from teams.principal import Principal
from teams.versioned_text.versioned_file import lock_row

DOCUMENTS_PER_JOB = 50
"""So that workers share a large import, and a job's progress moves. A killed worker repeats one document at most."""

SPLIT_BY = ("path", "language", "content")


@transaction.atomic
def documents_create(*, agent: Agent, facts: Sequence[Facts], principal: Principal) -> list[Document]:
    """New documents of an agent, all or none; those whose external id the agent has already are passed over.

    Raises Unfit and Taken.
    """
    documents = agent_items_create(model=Document, agent=agent, facts=facts, principal=principal)
    _split_later(agent, documents, principal)
    return documents


@transaction.atomic
def document_update(*, thing: Document, expected_version: int, changes: Facts, principal: Principal) -> Document:
    """Save the document's next state; where nothing differs, its version stays.

    Raises StaleVersion, Unfit and Taken.
    """
    before = lock_row(thing)
    saved = agent_item_update(thing=before, expected_version=expected_version, changes=changes, principal=principal)
    if saved.version == expected_version:
        return saved
    if any(getattr(saved, name) != getattr(before, name) for name in SPLIT_BY):
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
    """The new version has the same text, so the chunks are its own, too."""
    Chunk.objects.filter(document=document).update(document_version=document.version)
    document.split_version = document.version
    Document.objects.filter(id=document.id).update(split_version=document.version)
