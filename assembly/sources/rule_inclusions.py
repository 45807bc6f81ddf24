"""This source returns what rules always include, even if no other source would return it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from msgspec import structs

from agents.models import AgentFile
from assembly.engine.item_formats import format_entity, format_open_file, format_pattern
from assembly.engine.profile import Section
from assembly.engine.rule_effects import ALWAYS_INCLUDED, path_matches
from assembly.engine.types import Candidate
from assembly.sources.base import (
    MAX_BYTES,
    GatherContext,
    SourceResult,
    entity_labels,
    forms_for,
    memory_labels,
    origin_of,
    path_labels,
    pattern_labels,
)
from memories.embeddings.active_model import SLOTS
from memories.models import Document, Entity, Memory, Pattern
from teams.models import TeamFile
from teams.sensitivity import DEFAULT_LEVEL

LIMIT = 20
"""The maximum number of items per selector."""


def rule_inclusions(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return each included item once, in the order in which the rules name it."""
    selectors = dict.fromkeys(selector for rule in gather_context.rules for selector in rule.then.always_include)
    found: dict[str, Candidate] = {}
    for selector in selectors:
        for candidate in _limited(FINDERS[selector.by](gather_context, selector.value)):
            found.setdefault(candidate.ref, candidate)
    placed = [
        structs.replace(candidate, section=section.key, position=place)
        for section in sections
        for place, candidate in enumerate(found.values())
    ]
    return SourceResult(placed, LIMIT * len(selectors) * len(sections))


def _limited(found: Iterator[Candidate]) -> Iterator[Candidate]:
    """Yield the first LIMIT candidates, while the total size of the previous texts is below MAX_BYTES."""
    size = 0
    for candidate in islice(found, LIMIT):
        if size >= MAX_BYTES:
            return
        size += len(candidate.text.encode())
        yield candidate


def _by_path(gather_context: GatherContext, pattern: str) -> Iterator[Candidate]:
    """Yield the matching files of the agent and its team by key, then documents by path."""
    files: list[AgentFile | TeamFile] = [
        *AgentFile.objects.filter(agent=gather_context.agent).order_by("file_key"),
        *TeamFile.objects.filter(team=gather_context.team).order_by("file_key"),
    ]
    for file in files:
        if path_matches(file.file_key, pattern):
            yield _candidate(file.ref, file.content, file.file_key, path_labels(file.file_key), file)
    for document in _documents(gather_context, pattern):
        text = format_open_file(path=document.path, language=document.language, text=document.content)
        yield _candidate(document.ref, text, "document", path_labels(document.path), document)


def _documents(gather_context: GatherContext, pattern: str) -> QuerySet[Document]:
    """Return the matching documents by path. The index finds the text before and after the wildcards, where the path
    is not sealed.
    """
    documents = Document.objects.filter(agent=gather_context.agent).order_by("path")
    if not set(pattern) & {"*", "?"}:
        return documents.filter(path__in=forms_for(gather_context, Document.objects, [pattern]))
    before, _, _ = pattern.replace("?", "*").partition("*")
    after = pattern.replace("?", "*").replace("/", "*").rpartition("*")[2]
    fitting = Q(path__startswith=before.rstrip("/"), path__endswith=after)
    if gather_context.clearances.agent > DEFAULT_LEVEL:
        fitting |= Q(sensitivity__gt=DEFAULT_LEVEL)
    near = documents.filter(fitting).values_list("id", "path")
    ids = list(islice((id_ for id_, path in near.iterator() if path_matches(path, pattern)), LIMIT))
    return documents.filter(id__in=ids)


def _by_entity(gather_context: GatherContext, name: str) -> Iterator[Candidate]:
    names = forms_for(gather_context, Entity.objects, [" ".join(name.lower().split())])
    yield from map(
        _entity_candidate,
        Entity.objects.filter(agent=gather_context.agent, names__overlap=names).order_by("type", "id"),
    )


def _by_kind(gather_context: GatherContext, kind: str) -> Iterator[Candidate]:
    """Yield the newest current memories of the agent and its team of this kind."""
    owned = (
        Q(agent=gather_context.agent) | Q(team=gather_context.team)
        if gather_context.team
        else Q(agent=gather_context.agent)
    )
    memories = Memory.objects.filter(owned, kind__iexact=kind, superseded_by=None, retired_because="")
    newest = memories.order_by(Coalesce("occurred_at", "created").desc(), "id").defer(*SLOTS, "search")
    for memory in newest[:LIMIT]:
        yield _candidate(memory.ref, memory.text, memory.kind, memory_labels(memory.kind), memory)


def _by_tag(gather_context: GatherContext, tag: str) -> Iterator[Candidate]:
    """Yield the patterns with the keyword and the entities with the tag."""
    patterns = Pattern.objects.filter(agent=gather_context.agent, keywords__overlap=list({tag, tag.lower()}))
    for pattern in patterns.order_by("name", "id")[:LIMIT]:
        text = format_pattern(
            name=pattern.name,
            guidance=pattern.guidance,
            successes=pattern.successes,
            applications=pattern.applications,
        )
        yield _candidate(pattern.ref, text, "pattern", pattern_labels(pattern.keywords), pattern)
    tagged = Q(properties__tags__contains=[tag]) | Q(properties__tags=tag)
    yield from map(
        _entity_candidate, Entity.objects.filter(tagged, agent=gather_context.agent).order_by("type", "name")[:LIMIT]
    )


def _entity_candidate(entity: Entity) -> Candidate:
    text = format_entity(kind=entity.type, name=entity.name, properties=entity.properties)
    return _candidate(entity.ref, text, entity.type, entity_labels(entity.names, entity.properties), entity)


def _candidate(ref: str, text: str, kind: str, labels: Mapping[str, tuple[str, ...]], row: Any) -> Candidate:
    """Return the candidate for a text of the row, which has an origin and a sensitivity."""
    return Candidate(
        ref=ref,
        section=ALWAYS_INCLUDED.key,
        text=text,
        kind=kind,
        labels=labels,
        origin=origin_of(row),
        sensitivity=row.sensitivity,
    )


FINDERS: Mapping[str, Callable[[GatherContext, str], Iterator[Candidate]]] = {
    "path": _by_path,
    "kg_entity": _by_entity,
    "memory_kind": _by_kind,
    "tag": _by_tag,
}
