"""A standby by streaming replication of the tests' own server: made by pg_basebackup, with the same programs."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from config.postgres.data_folder import ADMIN, DataFolder
from config.postgres.programs import Programs
from tests.faults.processes import until
from tests.postgres import FOLDER

START_SECONDS = 60.0
PORT = "5432"


class Standby:
    """A running standby. Statements run as the administrator, on any of its databases."""

    def __init__(self, folder: Path, primary: DataFolder) -> None:
        self.folder, self._primary, self._programs = folder, primary, Programs(primary, -1)
        self.process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        """Copy the primary."""
        account = self._programs.account
        account.owns(self.folder)
        arguments = [f"--dbname={self._conninfo_of_primary()}"]
        arguments += [f"--pgdata={self.cluster}", "--checkpoint=fast", "--write-recovery-conf", "--no-sync"]
        arguments += ["--create-slot", f"--slot={self.slot}"]  # so that the primary keeps what the standby lacks
        with (self.folder / "output").open("w+b") as output:
            copying = account.popen([self._program("pg_basebackup"), *arguments], stdout=output, stderr=output)
            assert copying.wait(120) == 0, (self.folder / "output").read_text()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {
            "listen_addresses": "", "port": PORT, "unix_socket_directories": str(self.folder), "fsync": "off",
            "max_standby_streaming_delay": "1s", "wal_receiver_status_interval": "1s",
        }  # fmt: skip
        command = [self._program("postgres"), "-D", str(self.cluster)]
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "output").open("a+b") as output:
            self.process = self._programs.account.popen(command, stdout=output, stderr=output, start_new_session=True)
        until(self._answers, seconds=START_SECONDS)

    def kill(self) -> None:
        """End it at once, as a machine without power does."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGQUIT)
            self.process.wait(30)
            self.process = None

    def forget(self) -> None:
        """Let the primary forget the standby, which does not run any more."""
        with psycopg.connect(self._conninfo_of_primary(), autocommit=True) as session:
            found = "SELECT active FROM pg_replication_slots WHERE slot_name = %s"
            until(lambda: session.execute(found, [self.slot]).fetchall() in ([], [(False,)]))
            drop = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"
            session.execute(drop, [self.slot])

    def run(self, statement: str) -> list[Any]:
        """Run the statement, and return its rows."""
        with psycopg.connect(self._conninfo("postgres"), autocommit=True) as session:
            found = session.execute(statement)
            return list(found.fetchall()) if found.description else []

    def facts(self, of_primary: Mapping[str, Any]) -> dict[str, Any]:
        """Return Django's facts of the same database and role on the standby."""
        return {**of_primary, "HOST": str(self.folder), "PORT": PORT}

    def hold_back(self, seconds: int) -> None:
        """Have it replay each transaction only so many seconds after its commit."""
        self.run(f"ALTER SYSTEM SET recovery_min_apply_delay = '{seconds}s'")
        self.run("SELECT pg_reload_conf()")
        until(lambda: self.run("SHOW recovery_min_apply_delay") == [(f"{seconds}s" if seconds else "0",)])

    def pause(self) -> None:
        """Replay nothing more."""
        self.run("SELECT pg_wal_replay_pause()")
        until(lambda: self.run("SELECT pg_get_wal_replay_pause_state()") == [("paused",)])

    def resume(self) -> None:
        """Replay again, and without delay."""
        self.run("SELECT pg_wal_replay_resume()")
        self.hold_back(0)

    def catch_up(self) -> None:
        """Wait until it has replayed what the primary has now."""
        with psycopg.connect(self._conninfo_of_primary()) as session:
            ((position,),) = session.execute("SELECT pg_current_wal_flush_lsn()::text").fetchall()
        until(lambda: self._has_replayed(position), seconds=30)

    def _has_replayed(self, position: str) -> bool:
        try:
            return self.run(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == [(True,)]
        except psycopg.OperationalError as error:  # what is replayed just now has ended the question, or the connection
            if "conflict with recovery" not in str(error):
                raise
            return False

    @property
    def cluster(self) -> Path:
        return self.folder / "cluster"

    def _program(self, name: str) -> str:
        return str(self._programs.binaries / name)

    @property
    def slot(self) -> str:
        """The name of the standby's replication slot."""
        return f"standby_{self.folder.stat().st_ino}"

    def _conninfo_of_primary(self) -> str:
        return self._primary.conninfo(ADMIN, "postgres", password=self._password())

    def _password(self) -> str:
        return self._primary.password(ADMIN)

    def _conninfo(self, database: str) -> str:
        return psycopg.conninfo.make_conninfo(
            host=str(self.folder), port=PORT, user=ADMIN, dbname=database, password=self._password(), connect_timeout=5
        )

    def _answers(self) -> bool:
        assert self.process
        assert self.process.poll() is None, (self.folder / "output").read_text()
        try:
            return self.run("SELECT 1") == [(1,)]
        except psycopg.OperationalError:
            return False


@contextmanager
def standby_server() -> Iterator[Standby]:
    """Yield a standby of the server of these tests; it is gone after the block."""
    folder = Path(tempfile.mkdtemp(prefix="dossier-standby-"))
    standby = Standby(folder, DataFolder(Path(os.environ[FOLDER])))
    try:
        standby.create()
        standby.start()
        yield standby
    finally:
        standby.kill()
        standby.forget()
        shutil.rmtree(folder, ignore_errors=True)
