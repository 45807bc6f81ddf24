"""Writes about memories: each is embedded as it is written and leaves a version behind."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from django.db import transaction
from django.db.models import QuerySet

from agents.models import Agent
from config.http.errors import Conflict, Invalid
from memories.directions import give_directions
from memories.models import Memory, MemoryVersion
from teams.files import StaleVersion, locked
from teams.models import Team
from teams.principal import Principal
from teams.services import erase

Owner = Agent | Team
BATCH_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """What a memory says. `salience` and `credibility` are 0 to 1; `external_id` is its id where it comes from."""

    kind: str
    text: str
    occurred_at: datetime.datetime | None = None
    salience: float = 0.5
    credibility: float = 0.5
    external_id: str = ""


def memory_create(*, owner: Owner, facts: MemoryFacts, principal: Principal) -> Memory:
    """A new memory of an agent or a team."""
    created = memories_create(owner=owner, facts=[facts], principal=principal)
    if not created:
        raise Conflict("A memory with this external id is there already.")
    return created[0]


@transaction.atomic
def memories_create(*, owner: Owner, facts: Sequence[MemoryFacts], principal: Principal) -> list[Memory]:
    """New memories of one owner, all or none; those whose external id the owner has already are passed over,
    and those that repeat the external id of another."""
    locked(owner)  # two imports at once take turns
    named = [fact.external_id for fact in facts if fact.external_id]
    known = set(memories_of(owner).filter(external_id__in=named).values_list("external_id", flat=True))
    fresh = []
    for fact in facts:
        if fact.external_id not in known:
            fresh.append(fact)
            known |= {fact.external_id} - {""}
    memories = [_new_memory(owner, fact, principal) for fact in fresh]
    give_directions(memories)
    Memory.objects.bulk_create(memories, batch_size=BATCH_ROWS)
    MemoryVersion.objects.bulk_create([memory.as_version() for memory in memories], batch_size=BATCH_ROWS)
    return memories


def memories_of(owner: Owner) -> QuerySet[Memory]:
    """All memories of an agent or a team."""
    return Memory.objects.filter(agent=owner) if isinstance(owner, Agent) else Memory.objects.filter(team=owner)


def owner_of(memory: Memory) -> Owner:
    """The agent or the team that keeps the memory."""
    owner = memory.agent or memory.team
    assert owner is not None  # noqa: S101 - the database's constraint `memory_one_owner`
    return owner


def facts_of(memory: Memory) -> MemoryFacts:
    """What the memory says now."""
    return MemoryFacts(**{field.name: getattr(memory, field.name) for field in fields(MemoryFacts)})


def _new_memory(owner: Owner, facts: MemoryFacts, principal: Principal) -> Memory:
    memory = Memory(
        agent=owner if isinstance(owner, Agent) else None,
        team=owner if isinstance(owner, Team) else None,
        kind=facts.kind,
        text=facts.text,
        salience=facts.salience,
        credibility=facts.credibility,
        occurred_at=facts.occurred_at,
        external_id=facts.external_id,
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
    principal: Principal,
) -> Memory:
    """Save a new version of a memory; where nothing differs, none is made. The external id stays.

    Raises StaleVersion, and Invalid for a successor that cannot be one.
    """
    if superseded_by is not None:
        locked(owner_of(memory))  # or two at once could supersede each other
    current = locked(memory)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    _check_successor(current, superseded_by)
    if superseded_by == current.superseded_by and facts == replace(facts_of(current), external_id=facts.external_id):
        return current
    says_something_else = facts.text != current.text
    current.kind, current.text, current.occurred_at = facts.kind, facts.text, facts.occurred_at
    current.salience, current.credibility = facts.salience, facts.credibility
    current.superseded_by = superseded_by
    current.version += 1
    current.signed_by(principal.author)
    if says_something_else:
        give_directions([current])
    current.save()
    current.as_version().save(force_insert=True)
    return current


def _check_successor(memory: Memory, successor: Memory | None) -> None:
    if successor is None:
        return
    if (successor.agent_id, successor.team_id) != (memory.agent_id, memory.team_id):
        raise Invalid("superseded_by", "Name a memory of the same owner.")
    seen = {memory.pk}
    successor = locked(successor)  # it may be superseded itself since it was read
    while successor is not None:
        if successor.pk in seen:
            raise Invalid("superseded_by", "A memory cannot be superseded by itself, directly or in a circle.")
        seen.add(successor.pk)
        successor = successor.superseded_by


def memory_delete(*, memory: Memory, principal: Principal) -> None:
    """Delete a memory with its versions. Assemblies that used it keep its text in their record."""
    erase("memories", memory.id, principal)
