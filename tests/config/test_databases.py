"""Which databases Django knows, by the variables that name them."""

from typing import Any

import pytest

from config.databases import databases

APP, OWNER = "postgresql://app@primary/dossier", "postgresql://owner@primary/dossier"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "OWNER_URL", "DIRECT_URL", "REPLICA_URL", "POOL_SIZE", "POOL_TIMEOUT_SECONDS"):
        monkeypatch.delenv(f"DATABASE_{name}", raising=False)
    monkeypatch.setenv("ALLOW_UNENCRYPTED_CONNECTIONS", "true")


def _options(database: dict[str, Any], name: str) -> Any:
    return database["OPTIONS"][name]


def test_without_replicas_there_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", APP)
    monkeypatch.setenv("DATABASE_OWNER_URL", OWNER)
    found = databases(None)
    assert {alias: database["USER"] for alias, database in found.items()} == {"default": "app", "owner": "owner"}
    assert _options(found["default"], "prepare_threshold") == 5
    assert not found["default"]["DISABLE_SERVER_SIDE_CURSORS"]


def test_each_replica_has_a_pool_and_nobody_waits_long_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", APP)
    monkeypatch.setenv("DATABASE_POOL_SIZE", "30")
    monkeypatch.setenv("DATABASE_REPLICA_URL", "postgresql://app@one/dossier,postgresql://app@two/dossier")
    found = databases(None)
    assert {alias: database["HOST"] for alias, database in found.items()} == {
        "default": "primary", "owner": "primary", "replica1": "one", "replica2": "two",
    }  # fmt: skip
    assert _options(found["default"], "pool") == {"min_size": 2, "max_size": 30, "timeout": 5}
    for alias in ("replica1", "replica2"):
        assert _options(found[alias], "pool") == {"min_size": 0, "max_size": 30, "timeout": 1, "reconnect_timeout": 2}
        assert _options(found[alias], "connect_timeout") == 2
        assert _options(found[alias], "prepare_threshold") == 5


def test_behind_a_pooler_nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://app@pgbouncer/dossier")
    monkeypatch.setenv("DATABASE_DIRECT_URL", APP)
    monkeypatch.setenv("DATABASE_REPLICA_URL", "postgresql://app@other-pgbouncer/dossier")
    found = databases(None)
    assert found["owner"]["HOST"] == "primary"
    for alias in ("default", "replica1"):
        assert _options(found[alias], "prepare_threshold") is None
        assert found[alias]["DISABLE_SERVER_SIDE_CURSORS"]
