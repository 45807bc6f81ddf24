"""What workers do again and again for the record: they follow new assemblies, and prune what was kept long enough."""

from uuid_utils.compat import uuid7

from assembly.afterwards.taking import new_assemblies_follow
from assembly.retention.pruning import records_prune
from memories.sweeping import every

FOLLOW_SECONDS = 5
PRUNE_SECONDS = 3_600


@every(FOLLOW_SECONDS, "follow")
def follow() -> None:
    """All that are new now. What comes meanwhile is left for the next time: a few at once cost as much as many."""
    newest = uuid7()
    while new_assemblies_follow(newest):
        pass


@every(PRUNE_SECONDS, "prune")
def prune() -> None:
    """All whose time is over."""
    records_prune()
