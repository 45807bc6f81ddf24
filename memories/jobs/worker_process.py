"""The process of a worker is supervised by its parent: restarted when it dies, and stopped when the parent ends.

It gives way to the processes that answer requests. Niceness alone is not enough: where Linux groups processes by
session (`sched_autogroup`, as Debian and Ubuntu do), it only counts among the processes of one session, and the
children of `serve` each have a session of their own. The group's niceness counts among sessions.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from django.conf import settings

from config.server.supervised_process import SupervisedProcess

UNTIL_INPUT_ENDS = "--until-input-ends"
NICENESS = 10
"""The niceness that is added to a worker, so that requests get the processors first."""
GROUP_NICENESS = 5
"""The niceness of its session: it gets a third of the time of another one that wants the same processor.

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


class WorkerProcess(SupervisedProcess):
    """A child process that runs `manage.py work`. If it has to be killed, another worker repeats its job.

    The child reads its standard input, a pipe to which the parent never writes. When the parent ends, even by SIGKILL,
    the kernel closes the pipe and the child stops by itself.
    """

    def __init__(self, concurrency: int = 1, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        """The variables are added to the environment."""
        super().__init__("worker")
        self._variables = variables
        program = Path(settings.BASE_DIR) / "manage.py"
        # The parent has checked the local files; where they break later, jobs go on without them.
        options = [f"--concurrency={concurrency}", "--skip-checks", UNTIL_INPUT_ENDS]
        self._command = [sys.executable, str(program), "work", *options]

    def spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            env={**os.environ, **self._variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
