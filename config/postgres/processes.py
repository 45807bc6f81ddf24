"""What the kernel tells about processes, on Linux and macOS."""

import contextlib
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path


def command_line(pid: int) -> str:
    """A process's arguments, separated by NUL (by blanks without /proc); "" for a zombie or no process."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="surrogateescape")
        except OSError:
            return ""
    listed = subprocess.run(["/bin/ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, check=False)
    return listed.stdout.decode(errors="surrogateescape").rstrip("\n")


def pids(uid: int) -> list[int]:
    """The user's processes."""
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
    """Pid of the process's parent; 0 when it cannot be known."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def is_dead(pid: int) -> bool:
    """Whether there is provably no such process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def listener(connected_socket: int) -> int:
    """Pid of the process that listens at the other end of the open socket; 0 when it cannot be known."""
    if sys.platform != "linux":
        return 0
    with socket.socket(fileno=os.dup(connected_socket)) as peer:
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid
