"""The machine is idle while others leave most of its processors unused and nobody has asked for a context just now.

Both are settings: PREASSEMBLY_LOAD_PERCENT is the share of the processors that others may use, PREASSEMBLY_IDLE_MS how
long ago the last context must have been recorded, by any process of the installation.
"""

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic, process_time

from django.conf import settings

from assembly.preassembly.occasions import seconds_since_last_context

PROCESSOR_TIMES = Path("/proc/stat")
LEAST_SECONDS = 0.2
"""The shortest time over which the use of processors is measured: the kernel counts hundredths of a second."""
IDLE_COLUMNS = (4, 5)
"""The columns of the line `cpu` that are no work: idle, and waiting for the disk."""


class ProcessorUse:
    """The share of the processors that others than this process used between two moments."""

    def __init__(
        self,
        read: Callable[[], str] = lambda: PROCESSOR_TIMES.read_text(encoding="ascii"),
        timer: Callable[[], float] = monotonic,
        own: Callable[[], float] = process_time,
    ) -> None:
        self._read, self._timer, self._own = read, timer, own
        self._measured, self._percent = self._measure(), 0.0
        self._at = self._timer()

    def percent(self) -> float:
        """Return the share since the last measurement that is old enough, 0 to 100.

        Where the system does not tell, it is the average number of processes that want a processor, per processor.
        """
        if self._timer() - self._at < LEAST_SECONDS:
            return self._percent
        before, now = self._measured, self._measure()
        if before is None or now is None:
            self._percent = 100 * os.getloadavg()[0] / (os.cpu_count() or 1)
        elif now[0] > before[0]:
            used = now[1] - before[1] - (now[2] - before[2])
            self._percent = max(0.0, 100 * used / (now[0] - before[0]))
        self._measured, self._at = now, self._timer()
        return self._percent

    def _measure(self) -> tuple[float, float, float] | None:
        """Return the seconds of all processors, those that were used, and those that this process used."""
        try:
            columns = self._read().splitlines()[0].split()
        except (OSError, IndexError):
            return None
        if columns[:1] != ["cpu"]:
            return None
        # The last two columns are parts of others.
        seconds = [float(column) / os.sysconf("SC_CLK_TCK") for column in columns[1:9]]
        idle = sum(seconds[place - 1] for place in IDLE_COLUMNS)
        return sum(seconds), sum(seconds) - idle, self._own()


class IdleTime:
    """Whether nobody else needs the machine now."""

    def __init__(self, use: ProcessorUse | None = None) -> None:
        self._use = use or ProcessorUse()

    def is_now(self) -> bool:
        """Return whether others use few of the processors, and no context was recorded a moment ago."""
        if self._use.percent() > settings.PREASSEMBLY_LOAD_PERCENT:
            return False
        seconds = seconds_since_last_context()
        return seconds is None or 1_000 * seconds >= settings.PREASSEMBLY_IDLE_MS
