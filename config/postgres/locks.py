"""Locks of the kernel's on files: they end with the processes that hold them, however those end."""

import fcntl
import os
from pathlib import Path


def open_lock(file: Path) -> int:
    """A descriptor to lock; children do not inherit it. Raises OSError."""
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def lock(descriptor: int, how: int) -> bool:
    """Take the lock if nobody is in the way; never waits."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_at(descriptor: int, file: Path) -> bool:
    """Whether the open file is the one that the path leads to now."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False
