"""Whether the server is kept up for us can be told without signing in."""

from pathlib import Path

import pytest

from config.postgres.embedded import EmbeddedPostgres
from tests.faults.processes import kill_supervisor, until


def test_it_is_while_we_are_attached_to_a_supervised_server(data: Path, server: EmbeddedPostgres) -> None:
    assert server.is_kept_up()
    kill_supervisor(data)
    assert not server.is_kept_up()
    server.attach()
    assert server.is_kept_up()
    server.detach(wait=True)
    assert not server.is_kept_up()


@pytest.mark.deep
def test_it_is_not_when_others_alone_are_attached(server: EmbeddedPostgres) -> None:
    server.detach()
    until(lambda: not server.is_running())
    assert not server.is_kept_up()
