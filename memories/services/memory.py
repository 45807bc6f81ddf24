"""This module creates, changes and deletes memories; it embeds each text, detects its language and stores a version.

Merging is in `memories.services.memory_merging`.
"""

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

from django.contrib.postgres.search import SearchQuery
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from agents.models import Agent
from config.http.errors import Conflict, Invalid
from memories.embeddings.vectors import embed_rows
from memories.models import Memory, MemoryVersion
from memories.search.languages import DEFAULT, detected_language
from memories.services.announcements import announce_in_reach, announce_texts
from memories.services.authorship import require_changeable
from memories.services.batch_errors import invalid_at
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.level_changes import record_level, require_level
from teams.models import Team
from teams.origin import Origin
from teams.principal import Principal
from teams.secret_scanning.handling import require_no_secret, storable_text
from teams.sensitivity import DEFAULT_LEVEL
from teams.services import erase
from teams.versioned_text.versioned_file import StaleVersion, author_of_text, lock_row

NEWEST_ROWS = 50
"""The prevailing language of an owner is the most frequent one among this many of the newest memories."""


def set_languages(memories: Sequence[Memory], owned: QuerySet[Memory]) -> None:
    """Set the language of each memory, detected by its text. A text too short to tell gets the prevailing language
    among the owner's newest memories and the other memories given.
    """
    found = [detected_language(memory.text) for memory in memories]
    prevailing = None if all(found) else _prevailing_language(owned, [language for language in found if language])
    for memory, language in zip(memories, found, strict=True):
        memory.language = language or prevailing or DEFAULT


def _prevailing_language(owned: QuerySet[Memory], others: Sequence[str]) -> str:
    newest = owned.order_by(Coalesce("occurred_at", "created").desc()).values_list("language", flat=True)[:NEWEST_ROWS]
    counted = Counter([*newest, *others])
    return max(counted, key=counted.__getitem__, default=DEFAULT)


def words_in_any_language(words: str, owned: QuerySet[Memory]) -> SearchQuery:
    """Return a query for the words, as people type them into a search box, in each language of the owner's memories."""
    query = SearchQuery(words, config=DEFAULT, search_type="websearch")
    for language in owned.exclude(language=DEFAULT).order_by().values_list("language", flat=True).distinct():
        query |= SearchQuery(words, config=language, search_type="websearch")
    return query


Owner = Agent | Team
BATCH_ROWS = 500
MAX_PINNED = 20
"""The most memories that one owner can pin, because every context offers all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """The content of a memory. `salience` and `credibility` are 0 to 1; `external_id` is its id in another system.

    `language` is one of `memories.search.languages.LANGUAGES`; where it is empty, the language is detected by the text.
    `origin` is where a new text comes from, if it is trusted less than its author: the parts of a summary, an archive.
    """

    kind: str
    text: str
    occurred_at: datetime.datetime | None = None
    salience: float = 0.5
    credibility: float = 0.5
    external_id: str = ""
    language: str = ""
    origin: Origin = Origin.PERSON
    sensitivity: int | None = None
    """The level of the memory; None: internal for a new one, unchanged for another."""


def memory_create(*, owner: Owner, facts: MemoryFacts, principal: Principal) -> Memory:
    """Create a memory of an agent or a team, and return it. Raises Conflict where the owner has its external id
    already.
    """
    created = memories_create(owner=owner, facts=[facts], principal=principal)
    if not created:
        raise Conflict("A memory with this external id exists already.")
    return created[0]


@transaction.atomic
def memories_create(*, owner: Owner, facts: Sequence[MemoryFacts], principal: Principal) -> list[Memory]:
    """Create memories of one owner, all or none, and return them; those whose external id the owner already has, or
    another fact before them, are skipped. Raises InvalidBatch for a text with a secret.
    """
    lock_row(owner)  # concurrent imports wait for each other
    named = [fact.external_id for fact in facts if fact.external_id]
    known = set(_all_of(owner).filter(external_id__in=named).values_list("external_id", flat=True))
    memories = []
    for place, fact in enumerate(facts):
        if fact.external_id not in known:
            memories.append(_new_memory(owner, place, fact, principal))
            known |= {fact.external_id} - {""}
    for memory in memories:
        require_level(principal, memory, memory.sensitivity)
    set_languages([memory for memory in memories if not memory.language], memories_of(owner))
    embed_rows(memories)
    Memory.objects.bulk_create(memories, batch_size=BATCH_ROWS)
    MemoryVersion.objects.bulk_create([memory.as_version() for memory in memories], batch_size=BATCH_ROWS)
    announce_texts(memories)
    return memories


def memories_of(owner: Owner) -> QuerySet[Memory]:
    """Return the memories of an agent or a team that the current reader may read."""
    return Memory.objects.filter(agent=owner) if isinstance(owner, Agent) else Memory.objects.filter(team=owner)


def _all_of(owner: Owner) -> QuerySet[Memory]:
    """Return all memories of an agent or a team, whoever reads."""
    rows: QuerySet[Memory] = Memory.everything.all()
    return rows.filter(agent=owner) if isinstance(owner, Agent) else rows.filter(team=owner)


def owner_of(memory: Memory) -> Owner:
    """Return the agent or the team that owns the memory."""
    owner = memory.agent or memory.team
    assert owner is not None  # noqa: S101 - the database's constraint `memory_one_owner`
    return owner


def facts_of(memory: Memory) -> MemoryFacts:
    """Return the current content of the memory, without its language and origin: an unchanged text keeps them."""
    own: dict[str, Any] = {"language": "", "origin": Origin.PERSON, "sensitivity": None}
    return MemoryFacts(**{field.name: getattr(memory, field.name) for field in fields(MemoryFacts)} | own)


def _new_memory(owner: Owner, place: int, facts: MemoryFacts, principal: Principal) -> Memory:
    """Return the unsaved memory. Raises InvalidBatch, whose error names the position of the facts."""
    try:
        text = storable_text(facts.text, owner)
        external_id = require_no_secret(facts.external_id, owner, "external_id")
    except Invalid as error:
        raise invalid_at(place, error) from None
    memory = Memory(
        agent=owner if isinstance(owner, Agent) else None,
        team=owner if isinstance(owner, Team) else None,
        kind=facts.kind,
        text=text,
        salience=facts.salience,
        credibility=facts.credibility,
        occurred_at=facts.occurred_at,
        external_id=external_id,
        language=facts.language,
        origin=facts.origin,
        sensitivity=DEFAULT_LEVEL if facts.sensitivity is None else facts.sensitivity,
    )
    memory.signed_by(principal.author)
    return memory


@transaction.atomic
def memory_update(
    *,
    memory: Memory,
    expected_version: int,
    facts: MemoryFacts,
    superseded_by: Memory | None,
    pinned: bool | None = None,
    retired_because: str | None = None,
    note: str = "",
    principal: Principal,
) -> Memory:
    """Save a new version of a memory, and return it. Without a difference nothing is saved. The external id never
    changes; the language stays where the facts name none and the text is unchanged, and so does the origin.

    `pinned` and `retired_because` stay unchanged where they are None; a reason retires the memory, an empty reason
    restores it. A retired or superseded memory is unpinned. `note` says in the author's words what changed.

    Raises StaleVersion, Invalid for an impossible successor or pin, and Forbidden for an agent's key in a team whose
    memories by people it must not change.
    """
    if superseded_by is not None or pinned:
        lock_row(owner_of(memory))  # otherwise two memories could supersede each other at once, or be one pin too many
    current = lock_expected(memory, expected_version)
    _check_successor(current, superseded_by)
    if retired_because:
        retired_because = storable_text(retired_because, owner_of(current), "archive_reason")
    told = _next_status(current, superseded_by, pinned, retired_because)
    names_another_language = facts.language not in {"", current.language}
    facts = replace(facts, text=storable_text(facts.text, owner_of(current)))
    unnamed = replace(facts, external_id=current.external_id, language="", origin=Origin.PERSON, sensitivity=None)
    is_classed_anew = names_another_language or facts.sensitivity not in {None, current.sensitivity}
    if told == memory_status(current) and unnamed == facts_of(current) and not is_classed_anew:
        return current
    require_changeable(principal, current)
    require_level(principal, current, facts.sensitivity)
    old_level, stood, day = current.sensitivity, current.stands, current.occurred_at
    current.superseded_by, current.pinned, current.retired_because = superseded_by, told.pinned, told.retired_because
    saved = _save_next_version(current, facts, principal, note)
    if (saved.stands and not stood) or saved.occurred_at != day:
        announce_in_reach(Memory, [saved.id])
    record_level(principal, saved, old_level)
    return saved


@transaction.atomic
def memory_level_set(*, memory: Memory, level: int, principal: Principal, note: str = "") -> Memory:
    """Give a memory this level, as `level_set` does; one that search did not read, or that is lowered, is embedded.

    Raises Forbidden as `require_level` does, and NotFound.
    """
    current = lock_row(memory)
    old_level = current.sensitivity
    if level != old_level:
        require_level(principal, current, level)
        current.sensitivity = level
        store_next_version(current, principal, note, is_lowered=level < old_level)
        record_level(principal, current, old_level)
    return current


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """The status of a memory tells whether contexts include it: pinned ones first, superseded or retired ones never."""

    superseded_by: UUID | None
    pinned: bool
    retired_because: str


def memory_status(memory: Memory) -> MemoryStatus:
    """Return the current status of the memory: its successor, pin and reason for retirement."""
    return MemoryStatus(memory.superseded_by_id, memory.pinned, memory.retired_because)


def _next_status(
    memory: Memory, successor: Memory | None, pinned: bool | None, retired_because: str | None
) -> MemoryStatus:
    """Return the memory's status after a change; None leaves a value as it is. Raises Invalid for an impossible pin."""
    because = memory.retired_because if retired_because is None else retired_because
    stands = successor is None and not because
    if pinned and not stands:
        raise Invalid("pinned", "An archived or superseded memory cannot be pinned. Restore it first.")
    if pinned and not memory.pinned and _all_of(owner_of(memory)).filter(pinned=True).count() >= MAX_PINNED:
        raise Invalid("pinned", f"At most {MAX_PINNED} memories can be pinned. Unpin another one first.")
    still = memory.pinned if pinned is None else pinned
    return MemoryStatus(successor.pk if successor else None, still and stands, because)


def _save_next_version(memory: Memory, facts: MemoryFacts, principal: Principal, note: str) -> Memory:
    """Save the facts as the memory's next version, and return the memory."""
    says_something_else = facts.text != memory.text
    is_lowered = facts.sensitivity is not None and facts.sensitivity < memory.sensitivity
    memory.kind, memory.text, memory.occurred_at = facts.kind, facts.text, facts.occurred_at
    memory.salience, memory.credibility = facts.salience, facts.credibility
    if facts.sensitivity is not None:
        memory.sensitivity = facts.sensitivity
    by = principal.relaying(facts.origin)
    store_next_version(
        memory, by, note, says_something_else=says_something_else, is_lowered=is_lowered, language=facts.language
    )
    return memory


def store_next_version(
    memory: Memory,
    principal: Principal,
    note: str = "",
    *,
    says_something_else: bool = False,
    is_lowered: bool = False,
    language: str = "",
    merged: Sequence[UUID] = (),
    origin: Origin | None = None,
) -> None:
    """Increase the version of a memory, save its changed fields, and store them as a new version.

    Where the text changed (`says_something_else`), the memory is embedded again, its language is detected if none
    is given, and its origin is who changed it. A memory whose level was lowered (`is_lowered`) is embedded again,
    because an embedder on a server may not have been given it before. `origin` is that of a text made of several
    memories.
    """
    memory.version += 1
    author = principal.author
    if says_something_else:
        author = author_of_text(author, MemoryVersion.objects.filter(file=memory), memory.text)
    memory.signed_by(author, rewritten=says_something_else)
    memory.origin = origin or memory.origin
    if language:
        memory.language = language
    elif says_something_else:
        set_languages([memory], memories_of(owner_of(memory)).exclude(id=memory.id))
    if is_embedded := says_something_else or is_lowered or not memory.is_searched:
        embed_rows([memory])
    memory.save()
    memory.as_version(storable_text(note, owner_of(memory), "note"), merged).save(force_insert=True)
    if says_something_else:
        announce_texts([memory])
    elif is_embedded:
        announce_in_reach(Memory, [memory.id])


def lock_expected(memory: Memory, expected_version: int) -> Memory:
    """Lock the memory until the transaction ends, and return its newest state. Raises StaleVersion and NotFound."""
    current = lock_row(memory)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    return current


def _check_successor(memory: Memory, successor: Memory | None) -> None:
    if successor is None:
        return
    if (successor.agent_id, successor.team_id) != (memory.agent_id, memory.team_id):
        raise Invalid("superseded_by", "Name a memory of the same owner.")
    seen = {memory.pk}
    successor = lock_row(successor)  # it may have been superseded since it was read
    while successor is not None:
        if successor.pk in seen:
            raise Invalid("superseded_by", "A memory cannot be superseded by itself, directly or in a circle.")
        seen.add(successor.pk)
        successor = successor.superseded_by


@transaction.atomic
def memory_delete(*, memory: Memory, principal: Principal) -> None:
    """Delete a memory with its versions; records of contexts keep its text.

    Raises NotFound, and Forbidden for an agent's key in a team whose memories by people it must not change.
    """
    require_changeable(principal, memory)
    owner = owner_of(memory)
    standing = list(_all_of(owner).filter(superseded_by=memory, retired_because="").values_list("id", flat=True))
    erase("memories", memory.id, principal)
    announce_in_reach(Memory, standing)  # nothing supersedes them any more
    of = owner.teams.values_list("id", flat=True) if isinstance(owner, Agent) else [owner.id]
    activity_record(principal, ActivityAction.MEMORY_DELETED, owner.name, team_ids=of, detail={"id": str(memory.id)})
