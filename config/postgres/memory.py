"""How much memory PostgreSQL may keep pages in, by what the machine has."""

import os
from pathlib import Path

SHARE = 16
LEAST_MB, MOST_MB = 128, 512
"""PostgreSQL's own default, and enough for the vectors of some hundred thousand memories with their index."""

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def shared_buffers_mb(memory_mb: int) -> int:
    """A sixteenth of the memory, within bounds: the rest is for the web processes and the system's own cache."""
    return min(MOST_MB, max(LEAST_MB, memory_mb // SHARE))


def memory_mb(limit: Path = CONTAINER_LIMIT) -> int:
    """What this machine has, or as much of it as its container may use."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        allowed = int(limit.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container, or one without a limit: max
        allowed = machine
    return min(machine, allowed) >> 20
