"""This module prevents requests into private networks: a URL's host is looked up, and every address is checked.

The request is then sent to exactly the checked addresses. Operators may allow networks.
"""

import asyncio
import contextlib
import re
import socket
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import BoundedSemaphore, Thread
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from config.http.errors import Invalid
from config.http.outbound.background_call import run_in_background

Address = IPv4Address | IPv6Address

# The registries of special-purpose addresses (RFC 6890 and what came after it), written out because what `ipaddress`
# counts as global differs between versions of Python. Global by the registries, and here nevertheless, are
# relays and tunnels, which lead elsewhere than they say, and the address of the machine's own host at Azure.
NOT_PUBLIC = tuple(map(ip_network, (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)))  # fmt: skip
GLOBAL_UNICAST = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")
IPV4_BITS = 0xFFFFFFFF


def parse_address(text: str) -> Address:
    """Return the address in the text; an IPv4 address that is embedded in an IPv6 address (mapped,
    NAT64) is unwrapped.
    """
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    if isinstance(address, IPv6Address) and address in NAT64:
        return IPv4Address(int(address) & IPV4_BITS)
    return address


@dataclass(frozen=True, slots=True)
class AllowedNetworks:
    """Private networks that an operator allows for one purpose, by the name of the setting; None allows all."""

    setting: str | None

    def __contains__(self, address: Address) -> bool:
        if self.setting is None:
            return True
        networks: list[IPv4Network | IPv6Network] = [ip_network(text) for text in getattr(settings, self.setting)]
        return any(address in network for network in networks)


# Admins of the organisation register sources, admins of a team webhooks: these inherit nothing from the former.
FOR_SOURCES = AllowedNetworks("EXTERNAL_ALLOWED_NETWORKS")
FOR_WEBHOOKS = AllowedNetworks("WEBHOOK_ALLOWED_NETWORKS")
# The operator writes the addresses of model servers into the settings.
FOR_MODEL_SERVERS = AllowedNetworks(None)


def is_public(address: Address) -> bool:
    """Return whether the address is public: not private, local, shared, reserved, multicast or for documentation."""
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    return address.is_global and not any(address in network for network in NOT_PUBLIC)


MAX_UNDER_WAY = 16
"""The maximum number of lookups of this process that wait for a slow name server."""

_free_threads = BoundedSemaphore(MAX_UNDER_WAY)


async def resolve_host(host: str) -> list[str]:
    """Return all addresses of the host, in the order of the system's resolver; none for an unknown host.

    The lookup runs in a thread of its own, because it cannot be interrupted.
    """
    if not _free_threads.acquire(blocking=False):
        return []
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[str]] = loop.create_future()
    Thread(target=_resolve_in_thread, args=(host, loop, found), daemon=True).start()
    return await found


def _resolve_in_thread(host: str, loop: asyncio.AbstractEventLoop, found: "asyncio.Future[list[str]]") -> None:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        entries = []
    finally:
        _free_threads.release()
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(_set_result, found, addresses)


def _set_result(found: "asyncio.Future[list[str]]", addresses: list[str]) -> None:
    if not found.done():
        found.set_result(addresses)


HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
UNPRINTABLE = re.compile(r"[^\x21-\x7e]")
MAX_PORT = 65_535
LOOK_UP_SECONDS = 5.0
"""The maximum time, in seconds, for which a person who registers a source waits for a name server."""


class AddressRefused(Exception):
    """The URL must not be requested. The message says why, without any address."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL with the allowed addresses of its host, at least one. `is_public`: all of them are public."""

    url: httpx2.URL
    addresses: tuple[str, ...]
    is_public: bool

    @property
    def host(self) -> str:
        """The name of the host for TLS: in ASCII, without the dot at the end that a full name may have."""
        return self.url.raw_host.decode().rstrip(".")

    def at(self, address: str) -> httpx2.URL:
        """Return the URL that leads to this address without another lookup."""
        return self.url.copy_with(host=address)


def parse_url(text: str) -> httpx2.URL:
    """Return the URL of an endpoint. Raises AddressRefused."""
    if UNPRINTABLE.search(text):
        raise AddressRefused("Write the URL without spaces, and a host or path of other letters in its encoded form.")
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        raise AddressRefused("This is not a URL. Write it like https://search.example.org/ask.") from None
    if url.scheme not in {"https", "http"} or not HOST.fullmatch(url.raw_host.decode()):
        raise AddressRefused("Write the URL like https://search.example.org/ask.")
    if url.userinfo or "#" in text:
        raise AddressRefused("Remove user, password and fragment from the URL. Use the secret for authentication.")
    if url.port is not None and not 1 <= url.port <= MAX_PORT:
        raise AddressRefused(f"The port of the URL must be from 1 to {MAX_PORT:,}.")
    return url


def host_of(text: str) -> str:
    """Return the host of a stored URL, which tells no token of its path or query; empty if it has none."""
    return urlsplit(text).hostname or ""


async def find_destination(text: str, allowed: AllowedNetworks) -> Destination:
    """Return the URL with its host's addresses, looked up once and all checked. Raises AddressRefused.

    `allowed` are the private networks that may be connected to.
    """
    url = parse_url(text)
    found = await resolve_host(url.raw_host.decode())
    if not found:
        raise AddressRefused("No address was found for its host. Check the host's name.")
    addresses = [parse_address(address) for address in found]
    if not all(address in allowed or is_public(address) for address in addresses):
        raise AddressRefused(
            "Its host lies in a private or reserved network, which is refused. "
            f"An operator can allow that network on purpose with {allowed.setting}."
        )
    if url.scheme == "http" and not all(address in allowed for address in addresses):
        raise AddressRefused(f"Use https. Only in networks that {allowed.setting} names may it be http.")
    return Destination(url, tuple(found), all(map(is_public, addresses)))


def validate_url(text: str, allowed: AllowedNetworks) -> None:
    """Raise Invalid for a URL that would not be requested now."""
    try:
        look_up = partial(asyncio.wait_for, find_destination(text, allowed), LOOK_UP_SECONDS)
        run_in_background("look-up", look_up, seconds=LOOK_UP_SECONDS + 1)
    except AddressRefused as refused:
        raise Invalid("url", str(refused)) from None
    except TimeoutError:
        raise Invalid("url", "The look-up of its host took too long. Check the host's name, or try again.") from None
