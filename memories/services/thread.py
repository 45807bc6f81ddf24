"""Threads: when something last happened in them."""

from collections.abc import Iterable, Mapping

from django.utils import timezone

from memories.models import Thread
from memories.services.flaws import Flaw
from memories.services.kept import Facts, differs, kept_update
from memories.services.preparation import prepares
from teams.principal import Principal


@prepares(Thread)
def prepare_threads(threads: Mapping[int, Thread]) -> Iterable[Flaw]:
    """A new thread was touched now unless it says when."""
    now = timezone.now()
    for thread in threads.values():
        thread.touched_at = thread.touched_at or now
    return ()


def thread_update(*, thing: Thread, expected_version: int, changes: Facts, principal: Principal) -> Thread:
    """As kept_update; a change also touches the thread, unless it says itself when that was. Raises StaleVersion."""
    touched = {"touched_at": timezone.now(), **changes} if differs(thing, changes) else changes
    return kept_update(thing=thing, expected_version=expected_version, changes=touched, principal=principal)
