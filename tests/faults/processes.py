"""The processes of an embedded PostgreSQL: found, killed, waited for."""

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from config.postgres.data_folder import DataFolder
from config.postgres.launch import SUPERVISOR
from config.postgres.processes import command_line


def processes(data: Path) -> list[int]:
    """Supervisors, postmasters and backends of the folder."""
    name = DataFolder(data.resolve()).name
    supervisor = rf"{re.escape(SUPERVISOR)}\0{re.escape(str(data))}\0"
    return matching(rf"{supervisor}|cluster_name={name}|: {name}: ")


def initdb_processes(data: Path) -> list[int]:
    return matching(re.escape(f"{data}/postgres.new-"))


def matching(pattern: str) -> list[int]:
    """Pids of the processes in whose arguments the pattern is found."""
    everybody = [int(process.name) for process in Path("/proc").glob("[0-9]*")]
    return [pid for pid in everybody if re.search(pattern, command_line(pid))]


def supervisor_pid(data: Path) -> int:
    found = DataFolder(data.resolve()).supervisor()
    assert found is not None
    return found[0]


def postmaster_pid(data: Path) -> int:
    return int((data / "postgres" / "postmaster.pid").read_text().split()[0])


def kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(command_line(pid) for pid in pids))


def kill_supervisor(data: Path) -> None:
    """Its locks outlive its arguments in /proc by a moment."""
    kill(supervisor_pid(data))
    until(lambda: DataFolder(data.resolve()).supervisor() is None)


def crash(data: Path) -> None:
    """Kill everything of the server at once."""
    kill(*processes(data))
    until(lambda: not processes(data))


def until(happened: Callable[[], bool], seconds: float = 15.0) -> None:
    """Wait for it. What takes long is asked for less often: looking at all processes slows down who is waited for."""
    began = time.monotonic()
    while not happened():
        waited = time.monotonic() - began
        assert waited < seconds
        time.sleep(min(max(0.02, waited / 20), 0.25))
