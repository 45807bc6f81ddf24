"""The postmaster of one data folder, told from all other processes by its arguments."""

import re
import time

from config.postgres.deadline import POLL_SECONDS
from config.postgres.errors import refusal
from config.postgres.folder import DataFolder
from config.postgres.processes import command_line, parent, pids

ORPHAN_SECONDS = 60.0


def mark(folder: DataFolder) -> str:
    """Stands in the arguments of the postmaster; its children show the name in theirs."""
    return f"cluster_name={folder.name}"


def find_postmaster(folder: DataFolder, uid: int) -> int:
    """Pid of the user's running postmaster of this folder, 0 when there is none."""
    found = _processes(uid, _own_arguments(folder))
    # A child that was forked this very moment still shows its parent's arguments.
    return next((pid for pid in found if parent(pid) not in found and is_postmaster(folder, pid)), 0)


def is_postmaster(folder: DataFolder, pid: int) -> bool:
    command = command_line(pid)
    return bool(re.match(_own_arguments(folder), command)) and "--single" not in command


def await_orphans(folder: DataFolder, uid: int) -> None:
    """Backends outlive a killed postmaster for a moment, and its shared memory with them.

    Raises EmbeddedPostgresError when they do not end.
    """
    deadline = time.monotonic() + ORPHAN_SECONDS
    while orphans := _processes(uid, rf"postgres: {re.escape(folder.name)}: |{_own_arguments(folder)}"):
        if time.monotonic() > deadline:
            raise refusal(
                folder, f"Processes {', '.join(map(str, orphans))} of an earlier server do not end", "End them"
            )
        time.sleep(POLL_SECONDS)


def _own_arguments(folder: DataFolder) -> str:
    """A pattern; single-user mode matches, too."""
    arguments = f"-D {folder.cluster} -c {mark(folder)} "
    return r"[^\0]*postgres[\0 ](--single[\0 ])?" + "[\\0 ]".join(re.escape(part) for part in arguments.split(" "))


def _processes(uid: int, pattern: str) -> list[int]:
    """Pids of the user's processes whose arguments match."""
    return [pid for pid in pids(uid) if re.match(pattern, command_line(pid))]
