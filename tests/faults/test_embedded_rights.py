"""The embedded PostgreSQL keeps its data, and keeps it from everybody else."""

import stat
from pathlib import Path

import psycopg
import pytest

from config.postgres.data_folder import ROLES
from config.postgres.embedded import EmbeddedPostgres
from config.postgres.processes import command_line
from tests.faults.processes import processes
from tests.faults.sessions import execute, sign_in

pytestmark = pytest.mark.faults


def test_folders_are_private(original: Path, quiet_server: EmbeddedPostgres) -> None:
    for private in ("postgres", "secrets", "log", "run"):
        assert stat.S_IMODE((original / private).stat().st_mode) == 0o700
    secrets = list((original / "secrets").iterdir())
    assert {secret.name for secret in secrets} == {"dossier_admin", *ROLES.values()}
    assert {stat.S_IMODE(secret.stat().st_mode) for secret in secrets} == {0o600}


@pytest.mark.finding("6.9")
def test_logs_are_private(original: Path, quiet_server: EmbeddedPostgres) -> None:
    modes = {log.name: oct(stat.S_IMODE(log.stat().st_mode)) for log in (original / "log").iterdir()}
    assert set(modes.values()) == {"0o600"}, modes
    assert "supervisor.log" in modes


def test_passwords_are_in_no_log_and_in_no_argument(original: Path, quiet_server: EmbeddedPostgres) -> None:
    logs = "".join(log.read_text() for log in (original / "log").iterdir())
    arguments = "".join(command_line(pid) for pid in processes(original))
    for secret in (original / "secrets").iterdir():
        assert secret.read_text() not in logs + arguments


def test_app_role_makes_nothing_and_owns_nothing(quiet_server: EmbeddedPostgres) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(quiet_server, "CREATE TABLE mine (value int)", "app")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(quiet_server, "SELECT value FROM kept", "app")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(quiet_server, "CREATE ROLE friend", "app")


def test_owner_makes_databases_that_have_vectors(quiet_server: EmbeddedPostgres) -> None:
    with sign_in(quiet_server) as session:
        session.autocommit = True
        session.execute("CREATE DATABASE later")
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
    with sign_in(quiet_server, NAME="later") as session:
        assert session.execute("SELECT '[1,2]'::vector <-> '[1,2]'").fetchone() == (0.0,)


def test_server_is_durable_checksummed_and_hidden_from_the_network(quiet_server: EmbeddedPostgres) -> None:
    facts = {
        "fsync": "on",
        "synchronous_commit": "on",
        "data_checksums": "on",
        "listen_addresses": "",
        "TimeZone": "UTC",
        "server_encoding": "UTF8",
    }
    for name, value in facts.items():
        assert execute(quiet_server, f"SHOW {name}") == [(value,)]


def test_wrong_password_is_refused(quiet_server: EmbeddedPostgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        sign_in(quiet_server, PASSWORD="guess").close()
