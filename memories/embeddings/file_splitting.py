"""A background job splits files and daily logs into embedded passages, after each save.

Until the job has run, and where it was given up, searches split the text themselves: see
`memories.search.file_search`.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.dispatch import receiver

from agents.models import Agent, AgentFile, DailyLog
from config.http.errors import NotFound
from memories.embeddings.active_model import EmbeddingModel, lock_active_model, read_active_model
from memories.embeddings.splitting import split_text
from memories.embeddings.vectors import embed_texts, set_vectors
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import FilePassage, Job, JobStatus
from memories.models.file_passage import FILE_KINDS, FILE_MODELS
from memories.search.languages import DEFAULT, detected_language
from teams.principal import SYSTEM, Principal
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import VersionedFile, file_saved, lock_row

SPLIT_FILES = "split_files"
PASSAGES_PER_STATEMENT = 200
OF_AGENTS = (AgentFile, DailyLog)
"""The files that belong to agents."""
WHOLE_KEYS = frozenset({AgentFile.Key.IDENTITY, AgentFile.Key.INSTRUCTIONS})
"""Files that say who an agent is. They are no memory and contexts have them whole, so no passages are stored."""


def passages_of_text(content: str, **facts: Any) -> list[FilePassage]:
    """Return the passages of a Markdown text in order, unsaved and without vectors, with these facts about its file.

    A passage that tells no language has the language of the text's beginning.
    """
    prevailing = detected_language(content) or DEFAULT
    return [
        FilePassage(
            position=position,
            start=piece.start,
            end=piece.end,
            line=piece.line,
            text=piece.text,
            language=detected_language(piece.text) or prevailing,
            **facts,
        )
        for position, piece in enumerate(split_text(path="", language="markdown", text=content))
    ]


@receiver(file_saved, dispatch_uid="memories.split_saved_file")
def split_saved_file(sender: type[Any], file: VersionedFile, **_: Any) -> None:
    """Create the job that splits a file which was saved, unless one waits: many appends to a log make one job.

    A new file without text has nothing to split.
    """
    kind = FILE_KINDS.get(sender)
    is_empty = file.version == 1 and not file.content.strip()
    if kind is None or is_empty or (isinstance(file, AgentFile) and file.file_key in WHOLE_KEYS):
        return
    agent = file.agent if isinstance(file, OF_AGENTS) else None
    arguments = {"files": [[kind, str(file.id)]]}
    if file.version == 1 or not _is_job_waiting(arguments):
        job_create(kind=SPLIT_FILES, arguments=arguments, agent=agent, principal=SYSTEM, steps=1)


def _is_job_waiting(arguments: Mapping[str, Any]) -> bool:
    """Return whether a job with these arguments waits, which then does not begin before this transaction ends."""
    jobs = Job.objects.select_for_update(no_key=True)
    return jobs.filter(kind=SPLIT_FILES, status=JobStatus.QUEUED, arguments=arguments).first() is not None


@job_kind(SPLIT_FILES)
def split_files(job: Job, advance: Advance) -> None:
    """Run a job that splits the files in its arguments; a job that names none splits all that lack passages.

    Files that are deleted or split already count as done.
    """
    named = job.arguments.get("files")
    for kind, id_ in files_without_passages(job.agent) if named is None else named:
        file_split(kind=kind, id_=UUID(str(id_)))
        advance(1)


def split_missing(*, agent: Agent | None, principal: Principal) -> Job | None:
    """Create a job that splits the agent's files which lack passages of their current version, and return it.

    Without an agent, the job splits all such files, also those of teams and of the organisation. Returns None where no
    file lacks passages.
    """
    steps = sum(1 for _ in files_without_passages(agent))
    if not steps:
        return None
    return job_create(kind=SPLIT_FILES, arguments={}, agent=agent, principal=principal, steps=steps)


def files_without_passages(agent: Agent | None) -> Iterator[tuple[str, UUID]]:
    """Yield kind and id of each file of the agent whose current version has no passages; without an agent, of all."""
    for kind, model in FILE_MODELS.items():
        files: QuerySet[Any] = model._default_manager.filter(content__regex=r"\S").exclude(current_passages())  # noqa: SLF001
        if model is AgentFile:
            files = files.exclude(file_key__in=WHOLE_KEYS)
        if agent is None or model in OF_AGENTS:
            owned = files if agent is None else files.filter(agent=agent)
            yield from ((kind, id_) for id_ in owned.order_by("id").values_list("id", flat=True))


def current_passages() -> Exists:
    """Return the condition, for a query of files, that the current version of the file has passages."""
    return Exists(FilePassage.objects.filter(file_id=OuterRef("id"), file_version=OuterRef("version")))


def file_split(*, kind: str, id_: UUID) -> None:
    """Replace the file's passages by those of its current version, unless it has them already.

    Where the file or the embedder changes meanwhile, the file is split again. Nothing happens where it is deleted.
    """
    files: QuerySet[VersionedFile] = FILE_MODELS[kind]._default_manager.filter(id=id_)  # noqa: SLF001
    while file := files.exclude(current_passages()).first():
        space, passages = read_active_model(), _passages(kind, file)
        levels = [getattr(file, "sensitivity", DEFAULT_LEVEL)] * len(passages)
        set_vectors(passages, space, embed_texts(space, [passage.said for passage in passages], levels))
        if _replace_passages(file, passages, space):
            return


def _passages(kind: str, file: VersionedFile) -> list[FilePassage]:
    owner = {name: getattr(file, name) for name in ("agent_id", "team_id") if hasattr(file, name)}
    return passages_of_text(file.content, file_kind=kind, file_id=file.id, file_version=file.version, **owner)


@transaction.atomic
def _replace_passages(file: VersionedFile, passages: list[FilePassage], space: EmbeddingModel) -> bool:
    """Store the passages as the file's, and return whether that is done (true where the file was deleted).

    Returns False where the file has a newer version, or the embedder was changed, since the passages were made.
    """
    try:
        current = lock_row(file)  # workers that split the same file wait for each other
    except NotFound:
        return True
    if current.version != file.version or lock_active_model() != space:
        return False
    for passage in passages:
        passage.sensitivity = getattr(current, "sensitivity", DEFAULT_LEVEL)
    FilePassage.objects.filter(file_id=file.id).delete()
    FilePassage.objects.bulk_create(passages, batch_size=PASSAGES_PER_STATEMENT)
    return True
