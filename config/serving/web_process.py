"""A process that answers requests, as its parent keeps it."""

import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from django.conf import settings

from config.serving.allocator import environment_of_child
from config.serving.kept_process import KeptProcess


class WebProcess(KeptProcess):
    """A child that runs `manage.py web`. Nothing is forked that holds connections or threads: it begins anew.

    Its connections come through a line, whose end it notices when we are gone, by SIGKILL too.
    """

    def __init__(
        self, admit: Callable[[socket.socket], None], variables: Mapping[str, str], gone: Callable[[], None]
    ) -> None:
        """`admit` gets our end of each line; the variables are added to the environment; `gone` is called when one
        ended."""
        super().__init__("web process")
        self._admit = admit
        self._variables = variables
        self._gone = gone

    def spawn(self) -> subprocess.Popen[bytes]:
        ours, theirs = socket.socketpair()
        with theirs:
            program, number = Path(settings.BASE_DIR) / "manage.py", theirs.fileno()
            process = subprocess.Popen(
                [sys.executable, str(program), "web", f"--line={number}"],
                env=environment_of_child(self._variables),
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._admit(ours)
        return process

    def ended(self) -> None:
        self._gone()
