"""What several processes count, kept together: each writes to files of its own in one folder, any reads all."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus_client reads when it is imported: where it is set, it counts in files."""


@contextmanager
def multiprocess_metrics(processes: int) -> Iterator[Mapping[str, str]]:
    """The variables for processes that count together within the block; none for one, which counts in its memory."""
    if processes == 1:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="dossier-metrics-", ignore_cleanup_errors=True) as folder:
        yield {FOLDER: folder}


def is_multiprocess() -> bool:
    """Whether this process is one of several that count together."""
    return FOLDER in os.environ
