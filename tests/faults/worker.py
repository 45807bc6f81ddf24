"""Real workers, and servers that start them, on a database of the test's own."""

import base64
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connections

from config.keys.store_connections import run_in_store
from config.postgres.processes import command_line, parent
from tests.faults.processes import matching, until

REPOSITORY = Path(__file__).resolve().parent.parent.parent


class Command:
    """A running `manage.py` command and all the processes that it started."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        variables = {"DJANGO_SETTINGS_MODULE": "tests.faults.worker_settings", "JOB_PATIENCE_SECONDS": "1"}
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # What a shell runs in its background ignores Ctrl-C, and so would the command. In a terminal it heeds it.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=REPOSITORY,
            env=os.environ | _addresses() | variables | environment,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
            start_new_session=True,
        )
        self.seen: set[int] = set()

    def family(self) -> list[int]:
        """The process and its descendants that run."""
        found = {self.process.pid} if command_line(self.process.pid) else set()
        everybody = matching("manage.py")
        while more := {pid for pid in everybody if parent(pid) in found} - found:
            found |= more
        self.seen |= found
        return sorted(found)

    def workers(self) -> list[int]:
        """Those of them that do jobs."""
        return [pid for pid in self.family() if "\0--concurrency=1\0" in command_line(pid)]

    def kill(self) -> str:
        """Everything at once, as a machine without power does; returns what it logged."""
        for pid in self.family():
            os.kill(pid, signal.SIGKILL)
        return self.end()

    def stop(self) -> str:
        """Ask it to end; returns what it logged."""
        self.family()
        self.process.terminate()
        return self.end()

    def end(self) -> str:
        """Return what it logged when nothing of it is left."""
        self.process.wait(timeout=30)
        until(self.is_gone)
        with self.log:
            self.log.seek(0)
            return self.log.read().decode()

    def is_gone(self) -> bool:
        return not any(command_line(pid) for pid in self.seen)


def _addresses() -> Mapping[str, str]:
    """Where the database of this test is, for another process."""
    databases = {
        variable: address_of(connections[alias].settings_dict)
        for variable, alias in (("DATABASE_URL", "default"), ("DATABASE_OWNER_URL", "owner"))
    }
    return {**databases, **key_store_address()}


def key_store_address() -> Mapping[str, str]:
    """Where the keys of this test's database are, which exist from now on, for another process."""
    assert settings.KEY_STORE
    run_in_store(("SELECT 1", {}))
    master_key = base64.b64encode(settings.MASTER_KEY).decode()
    return {"KEYS_DATABASE_URL": address_of(settings.KEY_STORE), "MASTER_KEY": master_key}


def address_of(facts: Mapping[str, str]) -> str:
    assert settings.EMBEDDED_POSTGRES  # keeps it up for all of them
    account = f"{quote(facts['USER'])}:{quote(facts['PASSWORD'], safe='')}"
    return f"postgresql://{account}@/{facts['NAME']}?host={quote(facts['HOST'], safe='')}"
