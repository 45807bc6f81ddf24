"""The process of a worker as its parent keeps it: started again when it dies, ended when the parent ends."""

import subprocess
import sys
from pathlib import Path

from django.conf import settings

from config.server.supervised_process import SupervisedProcess

UNTIL_INPUT_ENDS = "--until-input-ends"


class WorkerProcess(SupervisedProcess):
    """A child that runs `manage.py work`. One that has to be killed did not finish its job: another does it again.

    It reads its input, of which we hold the other end and never write: when we are gone, by SIGKILL too, the kernel
    closes that end and the worker stops by itself.
    """

    def __init__(self, concurrency: int = 1) -> None:
        super().__init__("worker")
        program = Path(settings.BASE_DIR) / "manage.py"
        self._command = [sys.executable, str(program), "work", f"--concurrency={concurrency}", UNTIL_INPUT_ENDS]

    def spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
