"""The embedded PostgreSQL lives in odd data folders, and explains those in which it cannot."""

import os
import stat
from pathlib import Path

import pytest

from config.postgres.embedded import EmbeddedPostgres
from config.postgres.failures import EmbeddedPostgresError
from tests.faults.processes import processes
from tests.faults.sessions import execute

pytestmark = pytest.mark.faults


@pytest.mark.deep
def test_very_long_data_folder_gets_a_short_socket_folder(tmp_path: Path) -> None:
    data = tmp_path / ("a long name " * 8) / ("and, \"odd\" 'quotes' " * 5) / "var"
    server = EmbeddedPostgres(data)
    host = Path(server.connection("app")["HOST"])
    server.attach()
    assert len(os.fsencode(host)) < 90
    assert stat.S_IMODE(host.stat().st_mode) == 0o700
    assert execute(server, "SELECT 1", "app") == [(1,)]
    server.detach(wait=True)
    assert not processes(data)
    assert not host.exists()


def test_planted_socket_folder_is_refused(tmp_path: Path) -> None:
    data = tmp_path / ("long " * 20) / "var"
    server = EmbeddedPostgres(data)
    host = Path(server.connection("app")["HOST"])
    host.symlink_to(tmp_path)
    try:
        with pytest.raises(EmbeddedPostgresError, match=r"made by somebody else.*Log: .*postgres\.log$"):
            server.attach()
        assert not processes(data)
    finally:
        host.unlink()


def test_unusable_data_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    server = EmbeddedPostgres(tmp_path / "file" / "var")
    with pytest.raises(EmbeddedPostgresError, match=r"DOSSIER_DATA_DIR.*Log: .*\.log$"):
        server.attach()
    with pytest.raises(EmbeddedPostgresError, match="DOSSIER_DATA_DIR"):
        server.connection("app")


def test_folder_that_holds_something_else_is_explained_and_left_alone(data: Path) -> None:
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "letter.txt").write_text("dear")
    with pytest.raises(EmbeddedPostgresError, match="not a PostgreSQL cluster"):
        EmbeddedPostgres(data).attach()
    assert (data / "postgres" / "letter.txt").read_text() == "dear"


@pytest.mark.deep
def test_older_cluster_is_explained(data: Path, server: EmbeddedPostgres) -> None:
    server.detach(wait=True)
    (data / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedPostgresError, match=r"PostgreSQL 17.*Log: "):
        server.attach()


def test_broken_server_is_explained(data: Path, server: EmbeddedPostgres) -> None:
    server.detach(wait=True)
    (data / "postgres" / "global" / "pg_control").unlink()
    with pytest.raises(EmbeddedPostgresError, match=r"does not start: .*pg_control.*Log: .*postgres\.log$"):
        server.attach()
    assert not processes(data)
