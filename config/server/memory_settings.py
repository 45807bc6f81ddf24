"""Serving processes set up memory allocation and garbage collection so that memory of costly requests is returned.

glibc keeps freed memory for later, in as many arenas as threads allocated at the same time, and raises by itself the
size above which an allocation has pages of its own. After a burst of costly requests, a process stayed 300 MB larger,
of which its caches had 30. Python computes in one thread at a time, so one arena is enough. The garbage collector has
less work in processes that live long and create many objects per request, and does it between requests.
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
"""Settings of glibc, which reads them when a process starts: the number of arenas; the size in bytes above which an
allocation has pages of its own, which are returned when it is freed; the bytes that may stay free at the end of the
heap.

Other C libraries ignore them.
"""
TRIM_SECONDS, COLLECT_SECONDS = 0.15, 0.5
"""CPU seconds of a request after which memory is trimmed, and after which all generations of garbage are collected;
most requests take less. Trimming after each context costs a tenth of the context, and saves no memory.
"""
YOUNG_GENERATION = 1
"""The older of the two youngest generations (0 and 1) of Python's garbage collector."""


def child_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with these variables, and with the allocator's settings unless they are set already."""
    return {**SETTINGS, **os.environ, **variables}


def release_memory(seconds: float = inf) -> None:
    """Free the memory that a request of this many CPU seconds left behind, and return it to the system if the C library
    can.

    A response refers to itself, with all of its text, so only the garbage collector frees it, which by itself runs
    after thousands of requests.
    """
    gc.collect() if seconds > COLLECT_SECONDS else gc.collect(YOUNG_GENERATION)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


THRESHOLDS = 50_000, 20, 50
"""The thresholds of Python's garbage collector: new objects (less freed ones) before a collection of the youngest
generation, and how many collections precede one of each older generation.
"""
SCHEDULED_THRESHOLDS = 50_000, 1_000, 1_000
"""The thresholds where a `GarbageSchedule` says when older generations are collected; its collections count, too."""


def configure_garbage_collector(thresholds: tuple[int, int, int] = THRESHOLDS) -> None:
    """Exclude all existing objects from garbage collection, and collect others far less often than Python does by
    default.

    This is for a process that has loaded everything. Nearly all garbage is freed without the collector, when its last
    reference ends.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*thresholds)


SECONDS_PER_COLLECTION = 0.04
"""CPU seconds of requests between two collections of the youngest generation: about one context."""
COLLECTIONS_PER_OLDER = 100, 10
"""Collections of a generation (0 and 1) before the next older one is collected, too.

A collection of generation 1 takes tens of milliseconds, because it visits what caches hold, and finds little.
"""


class GarbageSchedule:
    """This says when garbage is collected between the requests of a process, a little at a time.

    By itself, Python collects when so many more objects were made than freed (`THRESHOLDS`): after about a hundred
    contexts, within one that then takes three times as long, and counts as a costly one.
    """

    def __init__(self) -> None:
        self._due_seconds = 0.0
        self._collections = 0

    def due_after(self, seconds: float) -> int | None:
        """Return the generation to collect after a request of this many CPU seconds; None if it is not time yet."""
        self._due_seconds += seconds
        if self._due_seconds < SECONDS_PER_COLLECTION:
            return None
        self._due_seconds = 0.0
        self._collections += 1
        young, middle = COLLECTIONS_PER_OLDER
        return 2 if self._collections % (young * middle) == 0 else 1 if self._collections % young == 0 else 0
