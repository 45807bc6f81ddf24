"""Contexts one after the other with what they hold, read once for those that repeat each other."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from uuid import UUID

from assembly.models import Assembly
from assembly.recorded import Recorded, recorded

KEPT = 16
"""Records in memory at a time, of any number of contexts."""


def with_records(assemblies: Iterable[Assembly]) -> Iterator[tuple[Assembly, Recorded]]:
    """Each context with its record, or with that of the context that it repeats."""
    known: OrderedDict[UUID, Recorded] = OrderedDict()
    for assembly in assemblies:
        id_ = assembly.decided_in or assembly.id
        if id_ not in known:
            known[id_] = recorded(assembly)
        known.move_to_end(id_)
        yield assembly, known[id_]
        while len(known) > KEPT:
            known.popitem(last=False)
