"""How the C library of serving processes treats memory: what costly requests needed goes back to the system.

glibc keeps freed memory for later, in as many arenas as threads asked for some at the same time, and raises by itself
the size from which a text gets pages of its own. After a burst of costly requests, a process stayed 300 MB larger, of
which its caches had 30. Python computes in one thread at a time, so that one arena is enough.
"""

import ctypes
import os
from collections.abc import Mapping
from contextlib import suppress

SETTINGS = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "4194304",
}
"""Arenas; bytes from which an allocation has pages of its own, which go back when it is freed; bytes that may stay free
at the end of the heap. Read by glibc when a process begins; others pass them over."""
WORTH_SECONDS = 0.05
"""CPU time of a request that may have needed much memory; most take a fraction of it."""


def environment_of_child(variables: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with these variables, and with the allocator's settings that nobody has set otherwise."""
    return {**SETTINGS, **os.environ, **variables}


def give_back_memory() -> None:
    """Return freed memory to the system, where the C library can."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
