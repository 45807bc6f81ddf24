"""A process that needs the server holds a share of a lock, the clients lock."""

import fcntl
import os
import threading
from pathlib import Path

from config.postgres.data_folder import DataFolder, is_at, lock, open_lock
from config.postgres.processes import Deadline


class Attachment:
    """This process's share of a folder's clients lock, however many objects need it."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.descriptor: int | None = None

    def register(self, folder: DataFolder, deadline: Deadline) -> None:
        """Hold a share from now on. Raises EmbeddedPostgresError, OSError."""
        if self.is_held(folder):
            return
        self.release()  # where the data folder was deleted meanwhile, and our share with it
        folder.prepare()
        descriptor = open_lock(folder.clients_lock)
        try:
            while not lock(descriptor, fcntl.LOCK_SH):  # a supervisor is just stopping the server
                deadline.pause()
        except BaseException:
            os.close(descriptor)
            raise
        self.descriptor = descriptor

    def is_held(self, folder: DataFolder) -> bool:
        """Return whether the share is one of the folder that exists now."""
        return self.descriptor is not None and is_at(self.descriptor, folder.clients_lock)

    def release(self) -> None:
        # Closed, never unlocked: an unlock would end the share of a parent or child with the same descriptor.
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


_ATTACHMENTS: dict[Path, Attachment] = {}


def attachment_to(folder: DataFolder) -> Attachment:
    """Return this process's only attachment to the folder."""
    return _ATTACHMENTS.setdefault(folder.path, Attachment())


def is_anybody_attached(folder: DataFolder) -> bool:
    """Return whether any process holds a share of the clients lock, or is just stopping the server. Raises OSError."""
    descriptor = open_lock(folder.clients_lock)
    try:
        return not lock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _renew_guards() -> None:
    """Renew the guards in a forked child, because the parent's thread that held a guard does not exist there to release
    it.
    """
    for attachment in _ATTACHMENTS.values():
        attachment.guard = threading.RLock()


os.register_at_fork(after_in_child=_renew_guards)
