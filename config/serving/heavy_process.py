"""The process of the heavy lane, as its parent sees it, and the folder that the processes of one `serve` share."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from config.serving.allocator import environment_of_child
from config.serving.kept_process import KeptProcess

SOCKET = "DOSSIER_HEAVY_SOCKET"
"""The variable that tells web processes where the heavy lane is."""
RENEWED = 75
"""The exit code of a heavy process that gives back memory: another one takes its place at once."""


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Make a folder for sockets and counts that nobody else may enter; it goes with the block."""
    with tempfile.TemporaryDirectory(prefix="dossier-serve-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def heavy_socket(folder: Path) -> Path:
    """Return the socket of the heavy lane in the folder."""
    return folder / "heavy.sock"


class HeavyProcess(KeptProcess):
    """A child that runs `manage.py heavy`. It reads its input, which ends with us, by SIGKILL too."""

    harmless_codes = frozenset({RENEWED})

    def __init__(self, socket: Path, variables: Mapping[str, str]) -> None:
        super().__init__("heavy process")
        program = Path(settings.BASE_DIR) / "manage.py"
        self._command = [sys.executable, str(program), "heavy", f"--socket={socket}"]
        self._environment = environment_of_child(variables)

    def spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
