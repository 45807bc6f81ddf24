"""A thread of each web process reads what is expected next, while the process and its machine are idle.

What it reads are the sources of a context. Rows and what searches found get into caches of this process
(`assembly.pipeline.read_cache`, `assembly.sources.search_reuse`), where a request finds them for five minutes, as long
as no change counter has moved: never a whole answer, because an answer is made for a moment. Nothing is recorded, and
no external source or summariser is asked, until somebody asks for the context.

The process is idle if it has answered no request for PREASSEMBLY_IDLE_MS and the load of the machine is less than
PREASSEMBLY_LOAD_PERCENT of its processors. Both are checked before each request that is expected.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db import connections
from django.utils import timezone

from assembly.pipeline.gather import gather_ahead
from assembly.pipeline.prepare import prepare
from assembly.pipeline.telemetry import PREASSEMBLIES
from assembly.pipeline.token_counts import load_token_counts
from assembly.preassembly.prediction import (
    ExpectedRequest,
    expected_requests,
    recent_agents,
    records_at_this_time,
    records_following,
)
from assembly.sources.time_budget import TimeBudget
from config.http.errors import DossierError
from config.server.requests_in_progress import activity

logger = logging.getLogger(__name__)

AT_THIS_TIME_EVERY_SECONDS = 60.0
PAUSE_AFTER_ERROR_SECONDS = 60.0
REMEMBERED = 1_000
"""The last contexts after which something was expected already."""


def start_preassembly() -> None:
    """Start the thread, which ends with the process; nothing happens if PREASSEMBLY is off."""
    if settings.PREASSEMBLY:
        threading.Thread(target=_run, name="preassembly", daemon=True).start()


def is_idle() -> bool:
    """Return whether neither this process nor its machine has anything else to do."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    is_free = 100 * load < settings.PREASSEMBLY_LOAD_PERCENT
    return is_free and 1_000 * activity.idle_seconds >= settings.PREASSEMBLY_IDLE_MS


def read_ahead(expected: ExpectedRequest) -> bool:
    """Read the sources of an expected request, and return whether they are in the cache now."""
    agent, team = expected.owners.agent, expected.owners.team
    try:
        prepared = prepare(agent, team, expected.asked, timezone.now())
    except DossierError:  # its profile, tokenizer or session does not exist any more
        return False
    gathered = gather_ahead(prepared.profile, prepared.gather_context, TimeBudget.starting_now())
    if gathered is None:
        return False
    ruled, candidates = prepared.with_gathered(gathered)
    load_token_counts(ruled.profile, candidates, ruled.tokenizer)
    PREASSEMBLIES.inc()
    return True


class Preassembly:
    """What the thread does in each of its rounds, and what it has done already."""

    def __init__(self, idle: Callable[[], bool] = is_idle, timer: Callable[[], float] = time.monotonic) -> None:
        self._idle, self._timer = idle, timer
        self._done: deque[UUID] = deque(maxlen=REMEMBERED)
        self._looked_at = -AT_THIS_TIME_EVERY_SECONDS

    def round(self) -> int:
        """Read what is expected now, as long as the process is idle; return how many requests were read for."""
        count = 0
        if not self._idle():
            return count
        for agent, last in recent_agents().items():
            if last in self._done:
                continue
            for expected in expected_requests(records_following(agent), last):
                if not self._idle():
                    return count
                count += read_ahead(expected)
            self._done.append(last)
        if self._timer() - self._looked_at >= AT_THIS_TIME_EVERY_SECONDS:
            for expected in expected_requests(records_at_this_time()):
                if not self._idle():
                    return count
                count += read_ahead(expected)
            self._looked_at = self._timer()
        return count


def _run() -> None:
    preassembly = Preassembly()
    while True:
        time.sleep(settings.PREASSEMBLY_IDLE_MS / 2_000)
        if not is_idle():
            continue
        try:
            preassembly.round()
        except Exception:
            logger.exception("nothing was read ahead; the next attempt is in %d s", PAUSE_AFTER_ERROR_SECONDS)
            time.sleep(PAUSE_AFTER_ERROR_SECONDS)
        finally:
            connections.close_all()
