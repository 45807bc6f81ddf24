"""The embedded PostgreSQL starts whatever an earlier one has left behind."""

import subprocess
import time
from pathlib import Path

import pytest

from config.postgres.embedded import EmbeddedPostgres
from tests.faults.client import Client
from tests.faults.processes import crash, initdb_processes, kill, processes, until
from tests.faults.sessions import execute, rows_are_kept

pytestmark = [pytest.mark.deep, pytest.mark.faults]


def test_leftover_pid_files_neither_stop_a_start_nor_hit_a_bystander(
    data: Path, server: EmbeddedPostgres, bystander: subprocess.Popen[bytes]
) -> None:
    file = data / "postgres" / "postmaster.pid"
    socket_lock = data / "run" / ".s.PGSQL.5432.lock"
    for leftover in ("", "{stale_half}", "\0\0\0\0", "rubbish\n", "99999999\n/nowhere\n", "{bystander}\n{rest}"):
        stale, _, rest = file.read_text().partition("\n")
        crash(data)
        file.write_text(leftover.format(stale_half=stale[:-1], bystander=bystander.pid, rest=rest))
        socket_lock.write_text(f"{bystander.pid}\n{rest}")
        server.attach()
        assert rows_are_kept(server)
        assert bystander.poll() is None


@pytest.mark.parametrize("moment", [0.05, 0.5])
def test_interrupted_first_start_leaves_nothing_that_cannot_start(data: Path, moment: float) -> None:
    client = Client(data)
    client.ask("attach")
    until(lambda: any(data.glob("postgres.new-*")))
    time.sleep(moment)
    kill(*processes(data), *initdb_processes(data))
    client.kill()
    server = EmbeddedPostgres(data)
    server.attach()
    assert execute(server, "SELECT count(*) FROM pg_extension WHERE extname = 'vector'") == [(1,)]
    assert not list(data.glob("postgres.new-*"))


def test_lost_passwords_are_set_anew(data: Path, server: EmbeddedPostgres) -> None:
    for lost in (["dossier_admin"], ["dossier_app", "dossier_owner"]):
        server.detach(wait=True)
        for role in lost:
            (data / "secrets" / role).unlink()
        server.attach()
        assert execute(server, "SELECT 1", "app") == [(1,)]
        assert rows_are_kept(server)
