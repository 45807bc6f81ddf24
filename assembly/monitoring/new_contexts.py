"""New contexts are processed for trends and alerts together: each record is read once for both."""

from collections.abc import Sequence

from assembly.models import Assembly, Purpose
from assembly.monitoring.alerts.watch import AlertBatch
from assembly.monitoring.trends.counting import counting_begin
from assembly.monitoring.trends.recount import load_with_records


def follow_assemblies(assemblies: Sequence[Assembly]) -> None:
    """Count the contexts that are for agents, the oldest first, and open and close alerts.

    Each context must be passed once, in the transaction that marks it as processed.
    """
    counting, watch = counting_begin(), AlertBatch()
    for_agents = [one for one in assemblies if one.effective_purpose is Purpose.AGENT]
    for assembly, told in load_with_records(for_agents):
        counting.add(assembly, told)
        watch.add(assembly, told)
    counting.write()
    watch.write()
