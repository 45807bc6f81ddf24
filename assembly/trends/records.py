"""Contexts one after the other with what they hold, read once for those that repeat each other."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from uuid import UUID

from assembly.models import Assembly
from assembly.recorded import Recorded, recorded_together

TOGETHER = 32
"""Contexts whose records are read at once. Those of one agent have most of their pieces in common."""
KEPT = 16
"""Records in memory beside these, of any number of contexts."""


def with_records(assemblies: Sequence[Assembly]) -> Iterator[tuple[Assembly, Recorded]]:
    """Each context with its record, or with that of the context that it repeats."""
    known: OrderedDict[UUID, Recorded] = OrderedDict()
    for start in range(0, len(assemblies), TOGETHER):
        batch = assemblies[start : start + TOGETHER]
        unread = {decided_in(one): one for one in batch if decided_in(one) not in known}
        known |= zip(unread, recorded_together([*unread.values()]), strict=True)
        for assembly in batch:
            known.move_to_end(decided_in(assembly))
            yield assembly, known[decided_in(assembly)]
        while len(known) > KEPT:
            known.popitem(last=False)


def decided_in(assembly: Assembly) -> UUID:
    """The context that holds what was decided: itself, or the one that it repeats."""
    return assembly.decided_in or assembly.id
