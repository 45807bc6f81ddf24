"""Conflicting texts, and the jobs that find them."""

from typing import Any

from agents.models import Agent
from assembly.conflicts.find import find_conflicts, noted_conflicts_find
from assembly.models import Conflict, text_hash
from memories.models import Job, Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM

EIGHTY = "The support line opens at 8 in the morning."
NINETY = "The support line opens at 9 in the morning."


def remember(owner: Agent | Team, text: str, **facts: Any) -> Memory:
    """A new memory of an agent or a team."""
    return memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=text, **facts), principal=SYSTEM)


def run_jobs() -> int:
    """Create the jobs for what was saved, run all that wait, and return how many there were."""
    count = 0
    noted_conflicts_find()
    while job := Job.objects.filter(kind="find_conflicts", status="queued").order_by("id").first():
        steps: list[int] = []
        find_conflicts(job, steps.append)
        assert sum(steps) == job.steps
        Job.objects.filter(id=job.id).update(status="done")
        count += 1
        noted_conflicts_find()
    return count


def found_conflict(left: Agent | Team, right: Agent | Team) -> Conflict:
    """A found conflict of a memory of each owner."""
    remember(left, EIGHTY)
    remember(right, NINETY)
    run_jobs()
    return Conflict.objects.get()


def conflict_between(left: Memory, right: Memory, **facts: Any) -> Conflict:
    """A stored conflict of two memories, of a number unless the facts say otherwise."""
    first, second = sorted((left, right), key=lambda memory: memory.id)
    conflict = Conflict(
        agent=left.agent or right.agent,
        team=left.team or right.team,
        left_ref=first.ref,
        left_item=first.id,
        left_sha256=text_hash(first.text),
        left_statement=first.text,
        right_ref=second.ref,
        right_item=second.id,
        right_sha256=text_hash(second.text),
        right_statement=second.text,
        **{"kind": "number", "cue": "The numbers differ.", "similarity": 0.9, "subject": 0.9, "severity": 0.8,
           "probability": 0.9, "sensitivity": max(left.sensitivity, right.sensitivity), **facts},
    )  # fmt: skip
    conflict.explain()
    conflict.save(force_insert=True)
    return conflict
