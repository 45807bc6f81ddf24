"""New contexts are processed for trends, uses, alerts and quality together: each record is read once for all."""

from collections.abc import Sequence

from assembly.models import Assembly, Purpose
from assembly.monitoring.alerts.watch import AlertBatch
from assembly.monitoring.item_uses import UseBatch
from assembly.monitoring.trends.counting import counting_begin
from assembly.monitoring.trends.recount import load_with_records
from assembly.monitoring.tuning_windows import QualityBatch
from assembly.records.recorded_quality import quality_of_record


def follow_assemblies(assemblies: Sequence[Assembly]) -> None:
    """Count the contexts that are for agents and the uses of items, the oldest first, open and close alerts, and store
    the measures by which profiles are tuned later.

    Each context must be passed once, in the transaction that marks it as processed.
    """
    counting, uses, watch, measured = counting_begin(), UseBatch(), AlertBatch(), QualityBatch()
    for_agents = [one for one in assemblies if one.effective_purpose is Purpose.AGENT]
    for assembly, told in load_with_records(for_agents):
        quality = quality_of_record(told)
        counting.add(assembly, told, quality)
        uses.add(assembly, told)
        measured.add(assembly, quality)
        watch.add(assembly, told)
    counting.write()
    uses.write()
    watch.write()
    measured.write()
