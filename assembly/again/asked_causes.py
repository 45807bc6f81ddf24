"""What two requests asked for otherwise, where that explains a difference between their contexts."""

from collections.abc import Iterator
from dataclasses import dataclass

from assembly.again.cause import Cause
from assembly.again.meantime import Meantime
from assembly.again.thing_causes import Pair
from assembly.engine.codes import Code
from assembly.models import Assembly
from assembly.recorded import Inputs
from assembly.sources.additional_context import REF

OF_TEAM = frozenset({"team_files", "team_memories"})
OF_REQUEST = ("turn:", REF)
UNSEARCHED = frozenset({"agent_files", "team_files", "daily_logs", "turns", "additional_context"})
"""Sources that offer the same whatever the topic is."""


@dataclass(frozen=True, slots=True)
class AskedCauses:
    """Two requests, and the inputs that were gathered for them, in the order in which they are compared."""

    meantime: Meantime
    before: Inputs
    after: Inputs

    def whose(self, pair: Pair, source: str) -> Iterator[Cause]:
        """That it is of an agent or a team whose context the other is not."""
        early, late = self.meantime.early, self.meantime.late
        if late is None or not pair.is_of_one:
            return
        mine = self._side(pair, late)
        if source in OF_TEAM:
            if early.team_id != late.team_id:
                yield Cause("another_team", mine.team_name)
        elif early.agent_id != late.agent_id and not pair.ref.startswith(OF_REQUEST):
            yield Cause("another_agent", mine.agent_name)

    def of(self, pair: Pair) -> Iterator[Cause]:
        """What of the requests bears on it alone."""
        if self.meantime.late is None:
            return
        if pair.ref.startswith(OF_REQUEST):
            yield Cause("brought_along")
        codes = {one.code for one in (pair.change.before, pair.change.after) if one}
        if Code.FILTERED in codes and codes != {Code.FILTERED}:
            yield Cause("left_out_by_request")

    def topic(self, source: str) -> Iterator[Cause]:
        """That the source was searched for something else."""
        if self.before.request.topic != self.after.request.topic and source not in UNSEARCHED:
            yield Cause("topic_changed")

    def room(self) -> Iterator[Cause]:
        """What makes the whole room another one."""
        old, new = self.before.request.budget, self.after.request.budget
        if old != new:
            given = (self.before.profile.budget, self.after.profile.budget) == (old, new)
            yield Cause("budget_changed" if given else "budget_asked", before=old, after=new)
        if self.before.request.tokenizer != self.after.request.tokenizer:
            yield Cause("tokenizer_changed", self.after.request.tokenizer)

    def otherwise(self) -> Iterator[Cause]:
        """What may explain it where nothing else does."""
        if self.meantime.differ("session", "filters", "exclude"):
            yield Cause("asked_otherwise")
        if self.before.request.engine_version != self.after.request.engine_version:
            yield Cause("engine_changed")

    def _side(self, pair: Pair, late: Assembly) -> Assembly:
        """The context that considered it."""
        is_late = (pair.before is None) is not self.meantime.is_backward
        return late if is_late else self.meantime.early
