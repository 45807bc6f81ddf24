"""Real concurrency for tests: threads that start together and leave no connection behind."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connections


def at_once(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Runs all jobs at the same moment, each in a thread of its own, and returns what they returned."""
    barrier = Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> Any:
        barrier.wait(timeout=10)
        try:
            return job()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))
