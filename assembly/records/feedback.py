"""Feedback says what a context was worth: measures of 0 to 1, and which of its items helped.

It is append-only. Windows of contexts tune profiles by it; a memory's credibility moves
at once, by a small step, and only once for each context.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from agents.access import is_permitted as is_agent_permitted
from agents.models import Agent
from assembly.engine.refs import Ref, without_version
from assembly.models import Assembly, AssemblyFeedback
from assembly.records.reader import StoredAssembly, load_record
from config.db.statements import lock_until_commit
from config.http.errors import Conflict, Forbidden, Invalid, NotFound
from memories.models import Memory
from memories.services.authorship import memory_rate, require_changeable
from teams.access import is_permitted as is_team_permitted
from teams.models import Team
from teams.principal import Action, Principal
from teams.secret_scanning.handling import storable_text

MAX_FEEDBACK = 20
"""The most feedback that one context takes."""
MAX_REFS = 200
"""The most items that one feedback names as used, and as useless."""
MAX_NAMED = 5
SATISFIED = 0.5
"""The satisfaction from which on a used item has helped; below it, credibilities move (K.6)."""
CREDIBILITY_STEP = 0.02
MIN_CREDIBILITY, MAX_CREDIBILITY = 0.05, 0.95
MEMORY = "memory"


class ItemState(StrEnum):
    """How far an item got: it was a candidate, it was included, somebody used it, and it helped."""

    RETRIEVED = "retrieved"
    INCLUDED = "included"
    USED = "used"
    HELPED = "helped"


@dataclass(frozen=True, slots=True)
class FeedbackFacts:
    """What somebody says about a context; measures are 0 to 1, None is not said. Items are named by their refs."""

    coherence: float | None = None
    completeness: float | None = None
    contradiction_rate: float | None = None
    satisfaction: float | None = None
    used: Sequence[str] = ()
    useless: Sequence[str] = ()
    note: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        measures = (self.coherence, self.completeness, self.contradiction_rate, self.satisfaction)
        return all(one is None for one in measures) and not (self.used or self.useless or self.note.strip())


@dataclass(frozen=True, slots=True)
class GivenFeedback:
    """Stored feedback, and the memories of which it moved the credibility, each with the new value."""

    feedback: AssemblyFeedback
    credibilities: Mapping[UUID, float] = field(default_factory=dict)


@transaction.atomic
def feedback_create(*, assembly: Assembly, facts: FeedbackFacts, principal: Principal) -> GivenFeedback:
    """Store feedback on a context. A ref without a version names the version that is included.

    Raises NotFound if the context's agent or team was deleted, Forbidden for who may not write there, Invalid for refs
    that are not among the included items and for a note with a secret, Conflict if the context has all the feedback
    that it takes.
    """
    agent = _require_writer(principal, assembly)
    if facts.is_empty:
        raise Invalid("satisfaction", "Say something: a measure, used or useless items, or a note.", "required")
    included = _included_refs(load_record(assembly))
    used, useless = (_known_refs(name, getattr(facts, name), included) for name in ("used", "useless"))
    if both := [ref for ref in useless if ref in set(used)]:
        raise Invalid("useless", f"These items are named as used, too: {_listed(both)}.")
    _lock_feedback(assembly)
    before = list(feedback_of(assembly))
    if len(before) >= MAX_FEEDBACK:
        raise Conflict(f"This context has {MAX_FEEDBACK} entries of feedback already, which is the maximum.")
    steps = _steps(used, useless, _moved_memories(before)) if _is_dissatisfied(facts.satisfaction) else {}
    moved = _move_credibilities(assembly, steps, principal)
    feedback = AssemblyFeedback.objects.create(
        assembly=assembly.id,
        given_by=principal.ref,
        giver_name=principal.name,
        coherence=facts.coherence,
        completeness=facts.completeness,
        contradiction_rate=facts.contradiction_rate,
        satisfaction=facts.satisfaction,
        used=used,
        useless=useless,
        note=storable_text(facts.note, agent, "note"),
        moved_memories=[*moved],
    )
    return GivenFeedback(feedback, moved)


def _lock_feedback(assembly: Assembly) -> None:
    """Wait for other feedback on the context, so that its limit holds and no credibility moves twice.

    The lock's number is the random part of the context's id.
    """
    lock_until_commit(assembly.id.int % 2**62)


def _require_writer(principal: Principal, assembly: Assembly) -> Agent:
    """Return the context's agent. Raises NotFound, and Forbidden for who may not write for it and in the team."""
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    team = Team.objects.filter(id=assembly.team_id).first() if assembly.team_id else None
    if agent is None or (assembly.team_id and team is None):
        raise NotFound("The agent or the team of this context")
    may = is_agent_permitted(principal, agent, Action.WRITE)
    if not may or (team is not None and not is_team_permitted(principal, team, Action.WRITE)):
        raise Forbidden("Your role does not allow feedback on this context. Ask an admin of the team.")
    return agent


def may_give_feedback(principal: Principal, assembly: Assembly) -> bool:
    """Return whether the principal may give feedback on the context; nobody may if its agent or team was deleted."""
    if not Agent.objects.permitting(Action.WRITE, principal).filter(id=assembly.agent_id).exists():
        return False
    team = assembly.team_id
    return team is None or Team.objects.permitting(Action.WRITE, principal).filter(id=team).exists()


def feedback_of(assembly: Assembly) -> QuerySet[AssemblyFeedback]:
    """Return the feedback on the context."""
    return AssemblyFeedback.objects.filter(assembly=assembly.id)


def _included_refs(told: StoredAssembly) -> dict[str, str]:
    """Return the refs of the included items by themselves and by their refs without version."""
    refs = [decision.ref for decision in told.decisions if decision.included]
    return {**{without_version(ref): ref for ref in refs}, **{ref: ref for ref in refs}}


def _known_refs(name: str, refs: Iterable[str], included: Mapping[str, str]) -> list[str]:
    if unknown := [ref for ref in refs if ref not in included]:
        raise Invalid(name, f"The context does not include these items: {_listed(unknown)}.", "unknown")
    return list(dict.fromkeys(included[ref] for ref in refs))


def _listed(refs: Sequence[str]) -> str:
    more = f" and {len(refs) - MAX_NAMED} more" if len(refs) > MAX_NAMED else ""
    return ", ".join(refs[:MAX_NAMED]) + more


def _is_dissatisfied(satisfaction: float | None) -> bool:
    return satisfaction is not None and satisfaction < SATISFIED


def _moved_memories(given: Iterable[AssemblyFeedback]) -> set[UUID]:
    """Return the memories that feedback has moved. Of older feedback, that is what it named."""
    moved: set[UUID] = set()
    for one in given:
        if one.moved_memories is not None:
            moved.update(one.moved_memories)
        elif _is_dissatisfied(one.satisfaction):
            moved.update(_memory_ids([*one.used, *one.useless]))
    return moved


def _steps(used: Iterable[str], useless: Iterable[str], moved: Collection[UUID]) -> dict[UUID, float]:
    """Return the steps of the memories among the items of dissatisfied feedback: used ones gain, useless ones lose.

    A memory moves once for each context.
    """
    steps = {
        **dict.fromkeys(_memory_ids(used), CREDIBILITY_STEP),
        **dict.fromkeys(_memory_ids(useless), -CREDIBILITY_STEP),
    }
    return {id_: step for id_, step in steps.items() if id_ not in moved}


def _memory_ids(refs: Iterable[str]) -> list[UUID]:
    return [UUID(ref.id) for ref in map(Ref.parse, refs) if ref.kind == MEMORY]


def _move_credibilities(assembly: Assembly, steps: Mapping[UUID, float], principal: Principal) -> dict[UUID, float]:
    """Move the credibility of the context's memories by these steps, and return the new values by id.

    Memories that were deleted, or that the principal may not change, are passed over.
    """
    moved = {}
    locked = Memory.objects.filter(id__in=steps).select_for_update(no_key=True, of=("self",)).order_by("id")
    for memory in locked.select_related("team"):
        if memory.agent_id != assembly.agent_id and (memory.team_id is None or memory.team_id != assembly.team_id):
            continue
        value = moved_credibility(memory.credibility, steps[memory.id])
        if value != memory.credibility and _may_change(principal, memory):
            memory_rate(memory=memory, credibility=value, principal=principal)
            moved[memory.id] = value
    return moved


def _may_change(principal: Principal, memory: Memory) -> bool:
    try:
        require_changeable(principal, memory)
    except Forbidden:
        return False
    return True


def moved_credibility(credibility: float, step: float) -> float:
    """Return the credibility after a step, within 0.05 to 0.95; a value beyond a bound does not move back to it."""
    moved = round(credibility + step, 6)
    if step > 0:
        return max(credibility, min(MAX_CREDIBILITY, moved))
    return min(credibility, max(MIN_CREDIBILITY, moved))


def feedback_by_assembly(ids: Collection[UUID]) -> dict[UUID, list[AssemblyFeedback]]:
    """Return the feedback on these contexts by their ids, the oldest first; one query."""
    found: dict[UUID, list[AssemblyFeedback]] = {}
    for one in AssemblyFeedback.objects.filter(assembly__in=ids).order_by("created", "id"):
        found.setdefault(one.assembly, []).append(one)
    return found


def item_state(ref: str, said: Iterable[AssemblyFeedback], *, is_included: bool) -> ItemState:
    """Return how far the item got in a context; `said` is the feedback on the context."""
    naming = [one for one in said if ref in one.used]
    if any(one.satisfaction is not None and one.satisfaction >= SATISFIED for one in naming):
        return ItemState.HELPED
    if naming:
        return ItemState.USED
    return ItemState.INCLUDED if is_included else ItemState.RETRIEVED
