"""Clients start the supervisor, recognise it, and request that it stops."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

from config.postgres.data_folder import DataFolder
from config.postgres.failures import EmbeddedPostgresError
from config.postgres.processes import Deadline, command_line

SUPERVISOR = "config.postgres.supervisor"  # the module to run, and what its process is recognised by
REPOSITORY = Path(__file__).resolve().parent.parent.parent


def start_supervisor(folder: DataFolder, deadline: Deadline) -> None:
    """Start a supervisor, and wait until it is ready, has failed, or has ended because another one exists.

    Raises EmbeddedPostgresError, OSError.
    """
    with (
        _opened_privately(folder.supervisor_log) as log,
        subprocess.Popen(
            [sys.executable, "-m", SUPERVISOR, str(folder.path)],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        complaint = _complaint(process, deadline)
    if not complaint and process.returncode:
        complaint = f"The supervisor ended with code {process.returncode}. Log: {folder.supervisor_log}"
    if complaint:
        raise EmbeddedPostgresError(complaint)


def _opened_privately(file: Path) -> IO[bytes]:
    """Return the file, opened for appending and readable by no other user, even if it existed before."""
    log = open(file, "ab", opener=lambda path, flags: os.open(path, flags, 0o600))  # noqa: SIM115 - Path has no opener
    os.fchmod(log.fileno(), 0o600)
    return log


def _complaint(process: subprocess.Popen[bytes], deadline: Deadline) -> str:
    """Return what the supervisor prints before it closes its output; "" if it succeeded."""
    assert process.stdout is not None  # noqa: S101 - for the type checker
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(deadline.seconds_left()):
            raise deadline.too_late()
    return process.stdout.read().decode(errors="replace").strip()


def is_supervisor(folder: DataFolder, pid: int) -> bool:
    """Return whether the process is a running supervisor of the folder."""
    command = command_line(pid) if pid else ""
    return SUPERVISOR in command and str(folder.path) in command


def ask_to_stop(folder: DataFolder, pid: int) -> None:
    """Tell the supervisor to stop an unused server without the grace period."""
    # The pid is the lock holder's word, but that may be an initdb that has outlived its supervisor.
    if is_supervisor(folder, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
