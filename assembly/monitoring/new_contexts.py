"""What trends and alerts do with new contexts: each record is read once for both."""

from collections.abc import Sequence

from assembly.models import Assembly, Purpose
from assembly.monitoring.alerts.watch import AlertBatch
from assembly.monitoring.trends.counting import counting_begin
from assembly.monitoring.trends.recount import load_with_records


def follow_assemblies(assemblies: Sequence[Assembly]) -> None:
    """Count those of these contexts that are for agents, the oldest first, and open and close alerts.

    Each must come here once, in the transaction that notes that it did.
    """
    counting, watch = counting_begin(), AlertBatch()
    for_agents = [one for one in assemblies if one.effective_purpose is Purpose.AGENT]
    for assembly, told in load_with_records(for_agents):
        counting.add(assembly, told)
        watch.add(assembly, told)
    counting.write()
    watch.write()
