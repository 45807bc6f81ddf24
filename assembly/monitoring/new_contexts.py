"""What trends and alerts do with new contexts: each record is read once for both."""

from collections.abc import Sequence

from assembly.models import Assembly
from assembly.monitoring.alerts.watch import Watch
from assembly.monitoring.trends.counting import counting_begin
from assembly.monitoring.trends.recount import with_records


def count_and_watch(assemblies: Sequence[Assembly]) -> None:
    """Count these contexts, the oldest first, and open and close alerts.

    Each must come here once, in the transaction that notes that it did.
    """
    counting, watch = counting_begin(), Watch()
    for assembly, told in with_records(assemblies):
        counting.add(assembly, told)
        watch.add(assembly, told)
    counting.write()
    watch.write()
