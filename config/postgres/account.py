"""PostgreSQL's programs run as a user without root privileges."""

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from config.postgres.data_folder import DataFolder
from config.postgres.failures import refusal


class Account:
    """The user that PostgreSQL's programs run as: the current user, or an unprivileged one instead of root."""

    def __init__(self, folder: DataFolder, program: Path) -> None:
        self.folder = folder
        self.user = self._user()
        self.prefix = self._prefix(program) if os.geteuid() == 0 else []

    @property
    def uid(self) -> int:
        return self.user.pw_uid if self.user is not None else os.geteuid()

    def popen(self, command: list[str], **options: object) -> subprocess.Popen[bytes]:
        return self._popen(self.prefix, command, **options)

    def owns(self, path: Path) -> None:
        """Make the user the owner of a new file or folder."""
        if self.user is not None:
            os.chown(path, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)

    def _user(self) -> pwd.struct_passwd | None:
        """Return the owner of the cluster; without a cluster, `postgres` if it exists or `nobody`; None for the current
        user.
        """
        cluster = self.folder.cluster
        if cluster.is_dir() and (owner := cluster.stat().st_uid) != os.geteuid():
            return self._owner(owner)
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                return pwd.getpwnam(name)
        raise refusal(self.folder, "PostgreSQL does not run as root, and there is no user `nobody`", "Add one")

    def _owner(self, uid: int) -> pwd.struct_passwd:
        cluster = self.folder.cluster
        if os.geteuid() != 0:
            raise refusal(self.folder, f"{cluster} belongs to another user", "Run this as that user")
        with contextlib.suppress(KeyError):
            return pwd.getpwuid(uid)
        raise refusal(self.folder, f"{cluster} belongs to user {uid}, who is not known here", "Add them")

    def _prefix(self, program: Path) -> list[str]:
        """Return the beginning of a command with which the user can access the binaries and the data folder.

        Parent folders may be closed to everyone but root (`mktemp -d`, /root). They are not changed: the user gets the
        capability to pass through closed folders instead. Of the capabilities for that, Docker withholds the narrower
        one.
        """
        if self._reaches(program, []):
            return []
        for capability in ("dac_read_search", "dac_override"):
            prefix = self._setpriv(capability)
            if prefix and self._reaches(program, prefix):
                return prefix
        raise refusal(
            self.folder,
            f"User {self.user.pw_name if self.user else ''} cannot reach {self.folder.path} or {program}",
            "Set DOSSIER_DATA_DIR to a folder, and install Dossier in one, that this user can reach",
        )

    def _setpriv(self, capability: str) -> list[str]:
        setpriv = shutil.which("setpriv")
        if setpriv is None or self.user is None:
            return []
        only = f"-all,+{capability}"
        ids = [f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"]
        # Without this bit the kernel passes over capabilities in access(2), by which initdb looks for `postgres`.
        bits = "--securebits=+no_setuid_fixup"
        return [setpriv, *ids, "--no-new-privs", bits, f"--inh-caps={only}", f"--ambient-caps={only}", "--"]

    def _reaches(self, program: Path, prefix: list[str]) -> bool:
        script = 'cd "$1" && env test -x "$2" && exec "$2" --version'  # env: the shell's own test asks otherwise
        check = ["/bin/sh", "-c", script, "sh", str(self.folder.path), str(program)]
        return self._popen(prefix, check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait() == 0

    def _popen(self, prefix: list[str], command: list[str], **options: object) -> subprocess.Popen[bytes]:
        if self.user is not None and not prefix:
            options |= {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen
        return start(
            [*prefix, *command],
            **{"stdin": subprocess.DEVNULL, "cwd": "/", "env": _clean_environment(), **options},
        )


def _clean_environment() -> dict[str, str]:
    """Return the environment without variables that change how PostgreSQL's programs or libpq work."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}
