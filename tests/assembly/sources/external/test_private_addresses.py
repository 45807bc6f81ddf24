"""Promise 7, its outer side: nothing private is asked, however its address is written or hidden."""

import socket
from typing import Any

import pytest

from assembly.engine.codes import SourceCode
from assembly.sources.external.questions import ExternalQuery
from config.http.errors import Invalid
from config.http.outbound.ssrf import FOR_SOURCES, AddressRefused, is_public, parse_address, parse_url, validate_url
from tests.assembly.conftest import NOW
from tests.http_endpoints import GOOD, giving, serving, told_of

PRIVATE = "Its host lies in a private or reserved network"

LOCAL_HOSTS = [  # of this machine, as resolvers read them
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0X7F.0.0.1",
    "017700000001", "0177.1", "0", "0.0.0.0", "localhost", "LOCALHOST",  # noqa: S104 - nothing is bound to it
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
]  # fmt: skip
PRIVATE_HOSTS = [
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200",
    "169.254.169.254", "2852039166", "0xa9fea9fe", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[ff0e::1]", "[100::1]", "[2001:db8::1]",
    "[3fff::1]", "[5f00::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[64:ff9b::127.0.0.1]", "[64:ff9b::a00:1]", "[64:ff9b:1::1]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]",
    "[::ffff:0:127.0.0.1]",
]  # fmt: skip


@pytest.mark.parametrize("host", LOCAL_HOSTS + PRIVATE_HOSTS)
def test_private_hosts_are_refused_when_registered_and_when_asked(host: str) -> None:
    url = f"https://{host}:8443/ask"
    with pytest.raises(Invalid, match=PRIVATE):
        validate_url(url, FOR_SOURCES)
    told = told_of([ExternalQuery("tickets", NOW, url=url, limit=5, timeout_ms=5_000)], seconds=5.0)[0]
    assert (told.code, told.fault.startswith(PRIVATE)) == (SourceCode.SOURCE_FAILED, True)
    assert host.strip("[]") not in told.fault


PUBLIC = ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_public(parse_address(address))


NO_URLS = {
    "ftp://search.example.org/": "Write the URL like",
    "file:///etc/passwd": "Write the URL like",
    "search.example.org/ask": "Write the URL like",
    "https://": "Write the URL like",
    "https:///ask": "Write the URL like",
    "": "Write the URL like",
    "https://[fe80::1%25eth0]/": "Write the URL like",
    "https://search%2eexample.org/": "Write the URL like",
    "https://a b.example.org/": "without spaces",
    "https://search.example.org/\n": "without spaces",
    "https://①②⑦.0.0.1/": "without spaces",
    "https://search。example。org/": "without spaces",
    "https://ada:secret@search.example.org/": "Remove user, password",
    "https://127.0.0.1\\@search.example.org/": "Remove user, password",
    "https://search.example.org/#ask": "Remove user, password",
    "https://search.example.org:0/": "The port",
    "https://search.example.org:99999/": "The port",
    "https://search.example.org:port/": "This is not a URL. Write it like https://search.example.org/ask.",
    "https://[::1/": "This is not a URL. Write it like https://search.example.org/ask.",
    "https://0177.0.0.1/": "This is not a URL. Write it like https://search.example.org/ask.",
}


@pytest.mark.parametrize("url", NO_URLS)
def test_what_is_no_plain_url_is_refused_before_any_look_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", None)
    with pytest.raises(AddressRefused, match=NO_URLS[url]):
        parse_url(url)
    with pytest.raises(Invalid, match=NO_URLS[url]):
        validate_url(url, FOR_SOURCES)


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Makes the resolver give these answers, one per look-up; returns the hosts that it was asked for."""
    asked: list[str] = []

    def getaddrinfo(host: str, *_args: Any, **_options: Any) -> list[Any]:
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1", "2606:4700::1"]])
def test_a_name_that_leads_to_a_private_address_is_refused(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, addresses)
    with pytest.raises(Invalid, match=PRIVATE):
        validate_url("https://search.example.org/", FOR_SOURCES)


def test_a_name_without_an_address() -> None:
    with pytest.raises(Invalid, match=r"No address was found for its host\. Check the host's name\."):
        validate_url("https://search.invalid/", FOR_SOURCES)


def test_plain_http_needs_a_network_that_is_allowed_on_purpose(settings: Any) -> None:
    with pytest.raises(Invalid, match="Use https"):
        validate_url("http://93.184.216.34/", FOR_SOURCES)
    with pytest.raises(Invalid, match=PRIVATE):
        validate_url("http://10.1.2.3/", FOR_SOURCES)
    settings.EXTERNAL_ALLOWED_NETWORKS = ["10.1.0.0/16", "fd00:20::/32"]
    for url in ("http://10.1.2.3/", "https://10.1.2.3/", "http://[fd00:20::7]/", "http://[::ffff:10.1.2.3]/"):
        validate_url(url, FOR_SOURCES)
    for url in ("http://10.2.0.1/", "https://10.2.0.1/", "https://[fd00:21::7]/", "https://127.0.0.1/"):
        with pytest.raises(Invalid, match=PRIVATE):
            validate_url(url, FOR_SOURCES)


@pytest.mark.usefixtures("local")
def test_a_name_is_looked_up_once_and_that_address_alone_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: a second look-up would lead elsewhere, so there is none."""
    with serving(giving(GOOD)) as endpoint:
        asked = resolving(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
        url = f"http://search.example.org:{endpoint.port}/"
        told = told_of([ExternalQuery("tickets", NOW, url=url, limit=5, timeout_ms=5_000)], seconds=5.0)[0]
    assert (told.code, asked) == (None, ["search.example.org"])
    assert endpoint.seen[0].headers["Host"] == f"search.example.org:{endpoint.port}"


@pytest.mark.usefixtures("local")
def test_where_the_first_address_is_dead_the_last_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(giving(GOOD)) as endpoint:
        resolving(monkeypatch, ["127.0.0.9", "127.0.0.1"])
        url = f"http://search.example.org:{endpoint.port}/"
        told = told_of([ExternalQuery("tickets", NOW, url=url, limit=5, timeout_ms=5_000)], seconds=5.0)[0]
    assert told.code is None
