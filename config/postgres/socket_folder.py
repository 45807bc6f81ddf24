"""The folder of the server's socket: it must be ours alone, /tmp is shared with everybody."""

import contextlib
import os
import stat

from config.postgres.account import Account
from config.postgres.errors import refusal
from config.postgres.folder import PORT, DataFolder


def prepare_socket_folder(folder: DataFolder, account: Account) -> None:
    """Make it, or refuse one that is not the account's alone. Raises EmbeddedPostgresError, OSError."""
    place = folder.socket_folder
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
        account.owns(place)
    found = place.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() != account.uid:
        account.owns(place)  # we were killed between the two steps
        found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid:
        raise refusal(folder, f"{place} was made by somebody else", "Remove it")
    if stat.S_IMODE(found.st_mode) != 0o700:  # noqa: PLR2004
        place.chmod(0o700)


def has_socket(folder: DataFolder) -> bool:
    """Whether the socket is still there; somebody may have cleaned it away."""
    return (folder.socket_folder / f".s.PGSQL.{PORT}").exists()


def clear_socket_folder(folder: DataFolder) -> None:
    """Remove what a dead server has left. Raises OSError."""
    for leftover in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (folder.socket_folder / leftover).unlink(missing_ok=True)


def leave_socket_folder(folder: DataFolder) -> None:
    """Remove an empty socket folder from /tmp; one in the data folder stays."""
    if folder.socket_folder.parent != folder.path:
        with contextlib.suppress(OSError):
            folder.socket_folder.rmdir()
