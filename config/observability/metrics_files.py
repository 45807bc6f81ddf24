"""Metrics of several processes are combined: each process writes to files of its own in one folder,
and any reads all.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus_client reads on import: if it is set, metrics are stored in files."""


@contextmanager
def multiprocess_metrics(processes: int) -> Iterator[Mapping[str, str]]:
    """Yield the environment variables of processes that share metrics within the block; none for a single process,
    which counts in memory.
    """
    if processes == 1:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="dossier-metrics-", ignore_cleanup_errors=True) as folder:
        yield {FOLDER: folder}


def is_multiprocess() -> bool:
    """Return whether this process is one of several that share metrics."""
    return FOLDER in os.environ


def forget_ended_processes() -> None:
    """Remove the gauges of processes that have ended, so that sums over the living ones do not contain them."""
    for file in Path(os.environ[FOLDER]).glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            file.unlink(missing_ok=True)
