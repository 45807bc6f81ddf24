"""New contexts count as uses of what they included, and their requests may narrow the policies of the agent's items.

Uses are counted once for each context, and never recounted: they move items between storage tiers.
"""

import datetime
from typing import Any
from uuid import UUID

from assembly.engine.refs import Ref
from assembly.models import Assembly
from assembly.monitoring.trends.counting import count_key
from assembly.records.reader import StoredAssembly
from assembly.sources.kinds import KINDS
from memories.lifecycle.requested_policies import RequestedFor, requested_policies_store
from memories.lifecycle.use_counts import UseCount, UseKey, uses_store

UUID_CHARACTERS = 36
_Used = tuple[str, str, datetime.date]
"""The kind, the id and the day of a use; the id as text, because making a UUID of it takes longer than counting."""


class UseBatch:
    """The uses of a batch of contexts, which are written together at the end."""

    def __init__(self) -> None:
        self._uses: dict[_Used, UseCount] = {}
        self._requested: dict[RequestedFor, Any] = {}

    def add(self, assembly: Assembly, told: StoredAssembly) -> None:
        """Count the stored items that the context considered, each once; passages count for their document or file."""
        day = count_key(assembly).day
        included: dict[_Used, bool] = {}
        for decision in told.decisions:
            ref = Ref.parse(decision.ref)
            kind = KINDS.get(ref.kind)
            if kind and len(ref.id) == UUID_CHARACTERS:
                use = kind.name, ref.id, day
                included[use] = included.get(use, False) or decision.included
        policy = told.assembly.request.get("kv_policy")  # a context that repeats another one had the same request
        for use, is_told in included.items():
            told_before, considered = self._uses.get(use, UseCount(0, 0))
            self._uses[use] = UseCount(told_before + is_told, considered + 1)
            if is_told and policy is not None:
                name, id_, _day = use
                self._requested[RequestedFor(name, UUID(id_), assembly.agent_id)] = policy

    def write(self) -> None:
        """Write the uses with two statements, however many contexts there were, and what requests narrow with one."""
        uses_store({UseKey(name, UUID(id_), day): count for (name, id_, day), count in self._uses.items()})
        requested_policies_store(self._requested)
