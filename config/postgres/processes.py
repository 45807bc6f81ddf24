"""This module finds processes by what the kernel reports on Linux and macOS, such as the postmaster of
a data folder.
"""

import contextlib
import os
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from config.postgres.data_folder import DataFolder
from config.postgres.failures import EmbeddedPostgresError, refusal

POLL_SECONDS = 0.02


ATTACH_LIMIT_SECONDS = 660.0  # recovery may take minutes; nothing is killed when this has passed


class Deadline:
    """The time after which a client waits no longer."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._moment = time.monotonic() + ATTACH_LIMIT_SECONDS

    def pause(self) -> None:
        """Wait briefly. Raises EmbeddedPostgresError if the deadline has passed."""
        if time.monotonic() > self._moment:
            raise self.too_late()
        time.sleep(POLL_SECONDS)

    def seconds_left(self) -> float:
        return max(0.0, self._moment - time.monotonic())

    def too_late(self) -> EmbeddedPostgresError:
        return EmbeddedPostgresError(
            f"PostgreSQL is not ready after {ATTACH_LIMIT_SECONDS:.0f} s, but it is still at work; try again "
            f"in a while, or look for the reason. Log: {self._folder.postgres_log}"
        )


def command_line(pid: int) -> str:
    """Return a process's arguments, separated by NUL (by blanks without /proc); "" for a zombie or no process."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="surrogateescape")
        except OSError:
            return ""
    listed = subprocess.run(["/bin/ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, check=False)
    return listed.stdout.decode(errors="surrogateescape").rstrip("\n")


def pids(uid: int) -> list[int]:
    """Return the user's processes."""
    if Path("/proc/self").exists():
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError):
                if process.stat().st_uid == uid:
                    found.append(int(process.name))
        return found
    listed = subprocess.run(["/bin/ps", "-o", "pid=", "-U", str(uid)], capture_output=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]


def parent(pid: int) -> int:
    """Return the pid of the process's parent; 0 if it is unknown."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def is_dead(pid: int) -> bool:
    """Return whether there is provably no such process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def listener(connected_socket: int) -> int:
    """Return the pid of the process that listens at the other end of the open socket; 0 if it is unknown."""
    if sys.platform != "linux":
        return 0
    with socket.socket(fileno=os.dup(connected_socket)) as peer:
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


ORPHAN_SECONDS = 60.0


def postmaster_mark(folder: DataFolder) -> str:
    """Return the text by which the postmaster of the folder is recognised in its arguments; its children have the name
    in theirs.
    """
    return f"cluster_name={folder.name}"


def find_postmaster(folder: DataFolder, uid: int) -> int:
    """Return the pid of the user's running postmaster of this folder; 0 if there is none."""
    found = _processes(uid, _own_arguments(folder))
    # A child that was forked this very moment still shows its parent's arguments.
    return next((pid for pid in found if parent(pid) not in found and is_postmaster(folder, pid)), 0)


def is_postmaster(folder: DataFolder, pid: int) -> bool:
    command = command_line(pid)
    return bool(re.match(_own_arguments(folder), command)) and "--single" not in command


def await_orphans(folder: DataFolder, uid: int) -> None:
    """Wait until the backends of a killed postmaster have ended, because they hold its shared memory.

    Raises EmbeddedPostgresError if they do not end.
    """
    deadline = time.monotonic() + ORPHAN_SECONDS
    while orphans := _processes(uid, rf"postgres: {re.escape(folder.name)}: |{_own_arguments(folder)}"):
        if time.monotonic() > deadline:
            raise refusal(
                folder, f"Processes {', '.join(map(str, orphans))} of an earlier server do not end", "End them"
            )
        time.sleep(POLL_SECONDS)


def _own_arguments(folder: DataFolder) -> str:
    """Return a pattern of the server's arguments, which single-user mode matches, too."""
    arguments = f"-D {folder.cluster} -c {postmaster_mark(folder)} "
    return r"[^\0]*postgres[\0 ](--single[\0 ])?" + "[\\0 ]".join(re.escape(part) for part in arguments.split(" "))


def _processes(uid: int, pattern: str) -> list[int]:
    """Return the pids of the user's processes whose arguments match."""
    return [pid for pid in pids(uid) if re.match(pattern, command_line(pid))]
