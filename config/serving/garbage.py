"""Less work for Python's garbage collector in processes that live long and make many objects for each request."""

import gc

THRESHOLDS = 50_000, 20, 50
"""New objects, less those that went, before the young are looked through; and how often, before the older are."""


def collect_seldom() -> None:
    """Leave what is there by now alone for ever, and look through the rest far less often than Python does by itself.

    For a process that has loaded everything. Nearly all garbage goes without the collector, as soon as nobody holds it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
