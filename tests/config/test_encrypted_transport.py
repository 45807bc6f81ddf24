"""Addresses of other machines without TLS are refused at start, with what to write instead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.celery import transport_options
from config.databases import databases, key_store

ROOT = Path(__file__).parents[2]
REMOTE = "postgresql://app:secret@db.example.org/dossier"


@pytest.fixture(autouse=True)
def _nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALLOW_UNENCRYPTED_CONNECTIONS", raising=False)


@pytest.mark.parametrize(
    "address",
    [
        REMOTE, f"{REMOTE}?sslmode=prefer", f"{REMOTE}?sslmode=disable", "postgresql://app:secret@10.0.0.7/dossier",
        "postgresql://app:secret@/dossier?host=db.example.org", "postgresql://app:secret@/dossier?host=/run,db",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["DATABASE_URL", "KEYS_DATABASE_URL", "DATABASE_OWNER_URL"])
def test_a_database_elsewhere_without_tls_is_refused(name: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, address)
    with pytest.raises(ImproperlyConfigured, match=f"{name} is on another machine.*sslmode=require") as error:
        environment.database(name)
    assert "secret" not in str(error.value)
    monkeypatch.setenv("ALLOW_UNENCRYPTED_CONNECTIONS", "true")
    assert environment.database(name)


@pytest.mark.parametrize("mode", ["require", "verify-ca", "verify-full"])
def test_tls_of_a_database_reaches_every_connection(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", f"{REMOTE}?sslmode={mode}&sslrootcert=/etc/ca.pem")
    found = databases(None)
    for alias in ("default", "owner"):
        options = found[alias]["OPTIONS"]
        assert (options["sslmode"], options["sslrootcert"]) == (mode, "/etc/ca.pem")
    assert f"sslmode={mode}" in transport_options(found["default"])["conn_string"]
    assert "pool" not in transport_options(found["default"])["conn_string"]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://app@localhost/dossier", "postgresql://app@127.0.0.1:5433/dossier", "postgresql://app@[::1]/dossier",
        "postgresql://app@/dossier?host=/run/postgres", "postgresql:///dossier",
    ],
)  # fmt: skip
def test_a_database_on_this_machine_needs_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    assert environment.database("DATABASE_URL")


@pytest.mark.parametrize("address", ["redis://:secret@cache:6379/0", "redis://10.0.0.7"])
def test_a_cache_elsewhere_without_tls_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHE_URL", address)
    with pytest.raises(ImproperlyConfigured, match=r"CACHE_URL is on another machine.*rediss://") as error:
        environment.redis_address("CACHE_URL")
    assert "secret" not in str(error.value)
    monkeypatch.setenv("CACHE_URL", address.replace("redis://", "rediss://"))
    assert environment.redis_address("CACHE_URL")


@pytest.mark.parametrize("address", ["redis://broker/0", "amqp://user:secret@broker//", "sqs://aws"])
def test_a_broker_elsewhere_without_tls_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", address)
    with pytest.raises(ImproperlyConfigured, match=r"CELERY_BROKER_URL is on another machine.*amqps://"):
        environment.broker_address("CELERY_BROKER_URL")


@pytest.mark.parametrize("address", ["", "amqps://user@broker//", "rediss://broker/0", "amqp://localhost//"])
def test_other_brokers_are_not(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", address)
    assert environment.broker_address("CELERY_BROKER_URL") == address


def test_dossier_does_not_start_with_such_an_address(tmp_path: Path) -> None:
    started = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": REMOTE, "DOSSIER_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode
    assert "DATABASE_URL is on another machine" in started.stderr
    assert "secret" not in started.stderr


def test_keys_are_in_a_database_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://app@localhost/dossier")
    assert key_store(None) is None
    monkeypatch.setenv("KEYS_DATABASE_URL", "postgresql://app@localhost/dossier")
    with pytest.raises(ImproperlyConfigured, match="Keys must be in a database of their own"):
        key_store(None)
    monkeypatch.setenv("KEYS_DATABASE_URL", "postgresql://keys@localhost/dossier_keys")
    found = key_store(None)
    assert found
    assert found["NAME"] == "dossier_keys"


@pytest.mark.parametrize("value", ["", "c2hvcnQ=", "not base64!", "x" * 44])
def test_a_master_key_has_32_bytes(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER_KEY", value)
    if value:
        with pytest.raises(ImproperlyConfigured, match="MASTER_KEY must have 32 random bytes in base64"):
            environment.master_key("MASTER_KEY", tmp_path / "master")
    else:
        made = environment.master_key("MASTER_KEY", tmp_path / "secrets" / "master")
        assert len(made) == 32
        assert environment.master_key("MASTER_KEY", tmp_path / "secrets" / "master") == made
        assert (tmp_path / "secrets" / "master").stat().st_mode & 0o777 == 0o600
