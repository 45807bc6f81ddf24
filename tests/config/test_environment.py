"""Settings that cannot be stop the start, and say what can."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment


@pytest.mark.parametrize(("given", "read"), [("", "text"), (" json ", "json"), ("text", "text")])
def test_one_of_a_few_words(given: str, read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_FORMAT", given)
    assert environment.choice("LOG_FORMAT", "text", "json") == read


def test_another_word_is_refused_with_those_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    with pytest.raises(ImproperlyConfigured, match=r"LOG_LEVEL is 'DEBUG'\. Set it to WARNING, INFO or ERROR\."):
        environment.choice("LOG_LEVEL", "WARNING", "INFO", "ERROR")


@pytest.mark.parametrize("address", ["", "http://collector:4318", "https://collector.example.org/otlp"])
def test_addresses(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    assert environment.web_address("OTEL_EXPORTER_OTLP_ENDPOINT") == address


@pytest.mark.parametrize("nonsense", ["collector:4318", "grpc://collector", "http://", "true"])
def test_what_is_no_address_is_refused(nonsense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", nonsense)
    with pytest.raises(ImproperlyConfigured, match="must look like"):
        environment.web_address("OTEL_EXPORTER_OTLP_ENDPOINT")


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("", ""),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("https://models.example.org", "https://models.example.org"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_the_base_address_of_an_api(address: str, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARISER_URL", address)
    assert environment.api_address("SUMMARISER_URL") == base


@pytest.mark.parametrize(
    "nonsense",
    [
        "localhost:11434/v1", "ftp://host/v1", "http://", "http://[::1", "http://host:port/v1", "http://host:0/v1",
        "http://host:70000/v1", "http://user:password@host/v1", "http://host/v1?key=x", "http://host/v1#x",
        "http://host/a b",
    ],
)  # fmt: skip
def test_what_is_no_base_address_is_refused(nonsense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARISER_URL", nonsense)
    with pytest.raises(ImproperlyConfigured, match="SUMMARISER_URL must look like http://localhost:11434/v1") as error:
        environment.api_address("SUMMARISER_URL")
    assert "password" not in str(error.value)


def test_a_name_that_another_variable_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.printable("SUMMARISER_MODEL", maximum=5, needed_for="SUMMARISER_URL") == ""
    monkeypatch.setenv("SUMMARISER_URL", "http://localhost/v1")
    with pytest.raises(ImproperlyConfigured, match="SUMMARISER_URL is set, but SUMMARISER_MODEL is not"):
        environment.printable("SUMMARISER_MODEL", maximum=5, needed_for="SUMMARISER_URL")
    monkeypatch.setenv("SUMMARISER_MODEL", "tiny")
    assert environment.printable("SUMMARISER_MODEL", maximum=5, needed_for="SUMMARISER_URL") == "tiny"


@pytest.mark.parametrize("name", ["longer", "a\nb"])
def test_a_name_is_one_short_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARISER_MODEL", name)
    with pytest.raises(ImproperlyConfigured, match="SUMMARISER_MODEL must be one line of at most 5 characters"):
        environment.printable("SUMMARISER_MODEL", maximum=5)


def test_a_key_fits_into_a_header_and_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMMARISER_API_KEY", " sk-123_abc ")
    assert environment.api_key("SUMMARISER_API_KEY") == "sk-123_abc"
    for key in ("two words", "line\nbreak", "schlüssel"):
        monkeypatch.setenv("SUMMARISER_API_KEY", key)
        with pytest.raises(ImproperlyConfigured, match="SUMMARISER_API_KEY must consist of") as error:
            environment.api_key("SUMMARISER_API_KEY")
        assert key not in str(error.value)


@pytest.mark.parametrize(
    ("given", "read"), [("", []), (" 10.20.0.0/16, fd00:20::/32 ", ["10.20.0.0/16", "fd00:20::/32"]), ("::1", ["::1"])]
)
def test_networks(given: str, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTERNAL_ALLOWED_NETWORKS", given)
    assert environment.networks("EXTERNAL_ALLOWED_NETWORKS") == read


@pytest.mark.parametrize("nonsense", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8;192.168.0.0/16", "*"])
def test_what_is_no_network_is_refused(nonsense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTERNAL_ALLOWED_NETWORKS", nonsense)
    with pytest.raises(ImproperlyConfigured, match=r"Write networks like 10\.20\.0\.0/16"):
        environment.networks("EXTERNAL_ALLOWED_NETWORKS")


def test_a_folder_that_may_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.folder_or_off("HERE", tmp_path) == tmp_path
    monkeypatch.setenv("HERE", " ")
    assert environment.folder_or_off("HERE", tmp_path) == tmp_path
    monkeypatch.setenv("HERE", "Off")
    assert environment.folder_or_off("HERE", tmp_path) is None
    monkeypatch.setenv("HERE", "~/models/nli")
    assert environment.folder_or_off("HERE", tmp_path) == Path.home() / "models" / "nli"


def test_the_address_of_the_installation_is_needed_for_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "https://dossier.example.org/")
    assert environment.site_address("HERE", needed_for="EMAIL_HOST") == "https://dossier.example.org"
    monkeypatch.setenv("HERE", "dossier.example.org")
    with pytest.raises(ImproperlyConfigured, match="HERE must look like https://"):
        environment.site_address("HERE", needed_for="EMAIL_HOST")
    monkeypatch.delenv("HERE")
    assert environment.site_address("HERE", needed_for="EMAIL_HOST") == ""
    monkeypatch.setenv("EMAIL_HOST", "mail.example.org")
    with pytest.raises(ImproperlyConfigured, match="EMAIL_HOST is set, but HERE is not"):
        environment.site_address("HERE", needed_for="EMAIL_HOST")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "redis://localhost",
        "redis://:secret@cache:6379/0",
        "rediss://user:p%40ss@[::1]:6380/15",
        "unix:///run/redis.sock",
    ],
)
def test_the_address_of_a_redis(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHE_URL", f" {address} ")
    assert environment.redis_address("CACHE_URL") == address


@pytest.mark.parametrize(
    "nonsense",
    [
        "localhost:6379", "http://:secret@localhost", "redis://", "redis://:secret@host:port/0", "redis://:secret@host:0/0",
        "redis://:secret@host/queue", "redis://:secret@host:70000", "redis://[::1", "unix://",
    ],
)  # fmt: skip
def test_what_is_no_redis_is_refused(nonsense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHE_URL", nonsense)
    with pytest.raises(ImproperlyConfigured, match="CACHE_URL must look like redis://") as error:
        environment.redis_address("CACHE_URL")
    assert "secret" not in str(error.value)


@pytest.fixture(autouse=True)
def _hosts_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an address says of TLS is tested in test_encrypted_transport."""
    monkeypatch.setenv("ALLOW_UNENCRYPTED_CONNECTIONS", "true")


def test_several_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://app@primary/dossier")
    addresses = "postgresql://app:p%2Cw@one:5433/dossier, postgresql://app@/dossier?host=/run/two,"
    monkeypatch.setenv("DATABASE_REPLICA_URL", addresses)
    one, two = environment.databases("DATABASE_REPLICA_URL", needs="DATABASE_URL")
    assert one == {"HOST": "one", "PORT": "5433", "NAME": "dossier", "USER": "app", "PASSWORD": "p,w"}
    assert two == {"HOST": "/run/two", "PORT": "", "NAME": "dossier", "USER": "app", "PASSWORD": ""}


@pytest.mark.parametrize(
    ("primary", "replicas", "says"),
    [
        ("", "postgresql://app@one/dossier", "DATABASE_REPLICA_URL is set, but DATABASE_URL is not"),
        (
            "postgresql://app@primary/dossier",
            "postgresql://app@one/dossier,mysql://app:secret@two/dossier",
            "must look",
        ),
        ("postgresql://app@primary/dossier", "postgresql://app@one/dossier,postgresql://two", "must look like"),
    ],
)
def test_databases_that_cannot_be_replicas(
    primary: str, replicas: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", primary)
    monkeypatch.setenv("DATABASE_REPLICA_URL", replicas)
    with pytest.raises(ImproperlyConfigured, match=says) as error:
        environment.databases("DATABASE_REPLICA_URL", needs="DATABASE_URL")
    assert "secret" not in str(error.value)
