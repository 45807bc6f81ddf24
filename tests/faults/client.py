"""Another process that uses the embedded PostgreSQL."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import sys
from pathlib import Path
from config.postgres.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
for line in sys.stdin:
    getattr(server, line.strip())()
    print("done", flush=True)
"""


class Client:
    """Another process that attaches, detaches and dies as told."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(data)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, what: Literal["attach", "detach"]) -> None:
        self.ask(what)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "done\n"

    def ask(self, what: Literal["attach", "detach"]) -> None:
        """Does not wait until it is done."""
        assert self.process.stdin is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        with self.process:
            self.process.kill()

    def leave(self) -> None:
        with self.process:  # closes its input, at whose end it exits
            pass
