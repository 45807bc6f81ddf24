"""A process that nobody waits for gives way to those that answer requests.

Niceness alone is not enough: where Linux groups processes by session (`sched_autogroup`, as Debian and Ubuntu do), it
only counts among the processes of one session, and the children of `serve` each have a session of their own. The
group's niceness counts among sessions.
"""

import os
from contextlib import suppress
from pathlib import Path

NICENESS = 10
"""The niceness that is added to the process, so that requests get the processors first."""
GROUP_NICENESS = 5
"""The niceness of the session: it gets a third of the time of another one that wants the same processor.

It is less than that of the process, because all programs of the machine come before it, not only requests.
"""
GROUP_FILE = Path("/proc/self/autogroup")
"""The file with the niceness of this session's group; without groups, it does not exist or cannot be written."""


def lower_priority() -> None:
    """Lower the priority of this process and, if it leads a session, of its session."""
    with suppress(OSError):
        os.nice(NICENESS)
        if os.getsid(0) == os.getpid():  # otherwise a shell and its other programs have the session, too
            GROUP_FILE.write_text(str(GROUP_NICENESS), encoding="ascii")
