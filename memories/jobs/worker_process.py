"""The process of a worker is supervised by its parent: restarted when it dies, and stopped when the parent ends."""

import subprocess
import sys
from pathlib import Path

from django.conf import settings

from config.server.supervised_process import SupervisedProcess

UNTIL_INPUT_ENDS = "--until-input-ends"


class WorkerProcess(SupervisedProcess):
    """A child process that runs `manage.py work`. If it has to be killed, another worker repeats its job.

    The child reads its standard input, a pipe to which the parent never writes. When the parent ends, even by SIGKILL,
    the kernel closes the pipe and the child stops by itself.
    """

    def __init__(self, concurrency: int = 1) -> None:
        super().__init__("worker")
        program = Path(settings.BASE_DIR) / "manage.py"
        # The parent has checked the local files; where they break later, jobs go on without them.
        options = [f"--concurrency={concurrency}", "--skip-checks", UNTIL_INPUT_ENDS]
        self._command = [sys.executable, str(program), "work", *options]

    def spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
