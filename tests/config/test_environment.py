"""Settings that cannot be stop the start, and say what can."""

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
