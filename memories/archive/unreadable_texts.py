"""An export that lacks texts would look complete: it is refused, and says how many texts cannot be read now."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import Q

from memories.archive.sections import ExportScope
from memories.embeddings.active_model import SLOTS
from memories.lifecycle.frozen_texts import FrozenTextUnreachable
from memories.lifecycle.listed_texts import is_readable, listed
from memories.lifecycle.tiers import Tier
from memories.models import Memory

MOST_TRIED = 500
"""So many archived texts are tried to say how many cannot be read: one page, for which lists wait some seconds."""


@contextmanager
def whole_exports(scope: ExportScope) -> Iterator[None]:
    """Raise FrozenTextUnreachable with the number of unreadable texts in the scope, where the block met one."""
    try:
        yield
    except FrozenTextUnreachable as error:
        raise FrozenTextUnreachable(_sentence(scope)) from error


def _sentence(scope: ExportScope) -> str:
    owned = Q(agent__in=[one.pk for one in scope.agents]) | Q(team__in=[one.pk for one in scope.teams])
    frozen = Memory.objects.filter(owned, tier=Tier.FROZEN)
    total = frozen.count()
    tried = listed(frozen.defer(*SLOTS, "search").order_by("id"))[:MOST_TRIED]
    unreadable = sum(not is_readable(memory.text) for memory in tried)
    least = "" if total <= MOST_TRIED else "At least "
    return (
        f"{least}{unreadable} of {total} archived memories cannot be read now, so nothing was exported: the archive"
        " would lack their texts. Try again later. If it stays so, the operator of Dossier looks at the store of"
        " frozen texts, see docs/lifecycle.md."
    )
