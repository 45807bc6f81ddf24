"""Any two recorded contexts beside each other, each difference explained by what changed from the one to the other."""

from dataclasses import dataclass
from time import thread_time

from assembly.again.beside import Beside
from assembly.again.cause import Cause
from assembly.again.explaining import Explained, deeds_of, explained
from assembly.again.meantime import between
from assembly.again.side import side_recorded
from assembly.models import Assembly
from assembly.recorded import recorded
from config.http.cpu_budget import check_cpu


@dataclass(frozen=True, slots=True)
class Two:
    """Two contexts in the order in which they are looked at, whichever is older."""

    beside: Beside
    changes: tuple[Explained, ...]
    """Those of the comparison, each with its causes."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What was changed between the making of the one and of the other, each once."""
        return deeds_of(self.changes)


def two(before: Assembly, after: Assembly) -> Two:
    """Compare them. Raises RecordDamaged, and TooCostly. Whether somebody may look is for the caller to decide."""
    begun = thread_time()
    side = side_recorded(recorded(before))
    check_cpu(thread_time() - begun)  # the other one takes about as long, and no replay is stopped
    beside = Beside.of(side, side_recorded(recorded(after)))
    return Two(beside, explained(beside, between(before, after)))
