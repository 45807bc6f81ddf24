"""The log that the server writes."""

import contextlib
import os
import re
import shutil
from pathlib import Path

LOG_BYTES = 10 * 1024 * 1024


class ServerLog:
    """The server's log, and where in it the words of the program that was started last begin."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.start = 0

    def open(self) -> int:
        """A descriptor for a program that is about to be started. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self.file, flags, 0o600)
        self.start = os.fstat(descriptor).st_size
        return descriptor

    def complaints(self) -> list[str]:
        """The last errors of the program that was started last, or its last two lines when it tells none."""
        with self.file.open(errors="replace") as log:
            log.seek(self.start)
            said = log.read().strip()
        return re.findall(r"(?:FATAL|PANIC|ERROR):\s*(.+)", said)[-3:] or said.splitlines()[-2:]

    def bound(self) -> None:
        """Keep the newest 10 to 20 MiB: the server appends to the same open file, so it is copied and emptied."""
        with contextlib.suppress(FileNotFoundError):
            if self.file.stat().st_size > LOG_BYTES:
                shutil.copyfile(self.file, self.file.with_name(self.file.name + ".1"))
                os.truncate(self.file, 0)
