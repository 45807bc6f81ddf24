"""What workers do again and again for the record: they follow new assemblies, and prune what was kept long enough."""

from assembly.afterwards import followers
from assembly.afterwards.taking import new_assemblies_follow
from assembly.following import count_and_watch
from assembly.retention.pruning import records_prune
from assembly.seals.sealing import records_seal
from memories.sweeping import every

FOLLOW_SECONDS = 5
PRUNE_SECONDS = 3_600

followers += [records_seal, count_and_watch]


@every(FOLLOW_SECONDS, "follow")
def follow() -> None:
    """All that are new now."""
    while new_assemblies_follow():
        pass


@every(PRUNE_SECONDS, "prune")
def prune() -> None:
    """All whose time is over."""
    records_prune()
