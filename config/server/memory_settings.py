"""How the C library of serving processes treats memory: what costly requests needed goes back to the system.

glibc keeps freed memory for later, in as many arenas as threads asked for some at the same time, and raises by itself
the size from which a text gets pages of its own. After a burst of costly requests, a process stayed 300 MB larger, of
which its caches had 30. Python computes in one thread at a time, so that one arena is enough.

Less work for Python's garbage collector in processes that live long and make many objects for each request.
"""

import ctypes
import gc
import os
from collections.abc import Mapping
from contextlib import suppress
from math import inf

SETTINGS = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "4194304",
}
"""Arenas; bytes from which an allocation has pages of its own, which go back when it is freed; bytes that may stay free
at the end of the heap. Read by glibc when a process begins; others pass them over."""
TRIM_SECONDS, COLLECT_SECONDS = 0.05, 0.5
"""CPU time of a request that may have needed much memory, and of one whose objects may have grown old meanwhile; most
take a fraction of it."""
YOUNG_GENERATION = 1
"""Python's garbage collector knows generations 0, 1 and 2; these are the first two."""


def child_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with these variables, and with the allocator's settings that nobody has set otherwise."""
    return {**SETTINGS, **os.environ, **variables}


def release_memory(seconds: float = inf) -> None:
    """Free what a request of so many CPU seconds left behind, and return it to the system, where the C library can.

    A response refers to itself, with all of its text, so that it goes with the garbage collector alone, which comes by
    itself after the next thousands of requests (`config.server.memory_settings`).
    """
    gc.collect() if seconds > COLLECT_SECONDS else gc.collect(YOUNG_GENERATION)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


THRESHOLDS = 50_000, 20, 50
"""New objects, less those that went, before the young are looked through; and how often, before the older are."""


def configure_garbage_collector() -> None:
    """Leave what is there by now alone for ever, and look through the rest far less often than Python does by itself.

    For a process that has loaded everything. Nearly all garbage goes without the collector, as soon as nobody holds it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
