"""The client's address and scheme: what proxies report is believed from trusted ones alone."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from config import environment
from config.http.client_address import TrustedProxyMiddleware, client_address, client_network
from config.server.callers import address_of
from teams.sign_in.adapter import ClosedAccountAdapter

PROXY, CLIENT = "10.0.0.5", "198.51.100.9"


def request_from(peer: str, **headers: str) -> HttpRequest:
    return RequestFactory().get("/", headers=headers, REMOTE_ADDR=peer)


@pytest.mark.finding("5.2c")
@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded_for", "expected"),
    [
        ([], CLIENT, "", CLIENT),
        ([], "127.0.0.1", "203.0.113.1", "127.0.0.1"),  # loopback is not believed by itself
        (["10.0.0.0/8"], CLIENT, "203.0.113.1", CLIENT),
        (["10.0.0.0/8"], PROXY, CLIENT, CLIENT),
        (["10.0.0.0/8"], PROXY, f"203.0.113.1, {CLIENT}", CLIENT),  # the client wrote the first itself
        (["10.0.0.0/8"], PROXY, f"203.0.113.1,{CLIENT},10.0.0.6", CLIENT),
        (["10.0.0.0/8"], PROXY, "10.0.0.7, 10.0.0.6", "10.0.0.7"),  # a client within the network of the proxies
        (["10.0.0.0/8"], PROXY, "", PROXY),
        (["10.0.0.0/8"], PROXY, "unknown", PROXY),
        (["10.0.0.0/8"], PROXY, f"{CLIENT}, <script>", PROXY),
        (["127.0.0.1", "::1"], "::1", f"{CLIENT}:5000", CLIENT),
        (["127.0.0.1"], "::ffff:127.0.0.1", CLIENT, CLIENT),
        (["2001:db8::/32"], "2001:db8::1", "[2001:DB9::0:7]:443", "2001:db9::7"),
        (["10.0.0.0/8"], "", CLIENT, ""),
    ],
)
def test_the_client_is_the_last_hop_that_is_no_trusted_proxy(
    trusted: list[str], peer: str, forwarded_for: str, expected: str, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = trusted
    assert client_address(request_from(peer, **{"X-Forwarded-For": forwarded_for})) == expected


@pytest.mark.finding("5.2c")
def test_attempts_to_sign_in_are_counted_by_that_address(settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    adapter = ClosedAccountAdapter()
    assert adapter.get_client_ip(request_from(PROXY, **{"X-Forwarded-For": CLIENT})) == CLIENT
    assert adapter.get_client_ip(request_from("127.0.0.1", **{"X-Forwarded-For": CLIENT})) == "127.0.0.1"


@pytest.mark.finding("5.2c")
def test_turns_are_shared_by_that_address(settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    headers = [(b"x-forwarded-for", b"203.0.113.1"), (b"x-forwarded-for", CLIENT.encode())]
    assert address_of({"client": (PROXY, 5000), "headers": headers}) == CLIENT
    assert address_of({"client": ("127.0.0.1", 5000), "headers": headers}) == "127.0.0.1"
    assert address_of({"client": None, "headers": headers}) == ""


@pytest.mark.finding("5.2c")
@pytest.mark.parametrize(
    ("peer", "forwarded", "scheme"),
    [(PROXY, "https", "https"), (PROXY, "http", "http"), (CLIENT, "https", "http"), (PROXY, "", "http")],
)
def test_the_scheme_is_believed_from_trusted_proxies_alone(
    peer: str, forwarded: str, scheme: str, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    middleware = TrustedProxyMiddleware(lambda request: HttpResponse(request.scheme))
    given = {"X-Forwarded-Proto": forwarded, "Trusted-Forwarded-Proto": "https"}  # the second names the variable
    response = middleware(request_from(peer, **given))
    assert isinstance(response, HttpResponse)
    assert response.content.decode() == scheme


@pytest.mark.parametrize(
    ("address", "network"),
    [
        (CLIENT, CLIENT), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("::ffff:198.51.100.9", CLIENT), ("", ""),
    ],
)  # fmt: skip
def test_limits_count_ipv6_clients_by_their_network(address: str, network: str) -> None:
    assert client_network(address) == network


def test_the_setting_that_believed_everybody_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEHIND_PROXY", "true")
    with pytest.raises(ImproperlyConfigured, match="Set TRUSTED_PROXIES to the proxy's address"):
        environment.trusted_proxies("TRUSTED_PROXIES")
    monkeypatch.setenv("TRUSTED_PROXIES", "127.0.0.1, ::1")
    assert environment.trusted_proxies("TRUSTED_PROXIES") == ["127.0.0.1", "::1"]
