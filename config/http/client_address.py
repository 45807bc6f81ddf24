"""The address of the client of a request, and its scheme, are found here, also behind trusted proxies.

`X-Forwarded-For` and `X-Forwarded-Proto` are only used from the networks in TRUSTED_PROXIES, because any client can
send them. By default no network is trusted, loopback included.
"""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

CLIENT_NETWORK_BITS = 64
"""The prefix length of an IPv6 network that counts as one client: nearly all clients have at least a /64."""


def client_address(request: HttpRequest) -> str:
    """Return the IP address of the client that sent a request."""
    peer = str(request.META.get("REMOTE_ADDR") or "")
    return address_behind_proxies(peer, request.META.get("HTTP_X_FORWARDED_FOR", ""))


def address_behind_proxies(peer: str, forwarded_for: str) -> str:
    """Return the client's IP address in its normal form.

    Of the hops that trusted proxies report, it is the last one that is no trusted proxy itself. A peer without an IP
    address is returned unchanged.
    """
    address = parse_address(peer)
    if address is None:
        return peer
    for hop in reversed(forwarded_for.split(",")):
        reported = parse_address(hop) if is_trusted_proxy(address) else None
        if reported is None:  # the client itself, or a proxy that reports nothing usable
            break
        address = reported
    return str(address)


def client_network(address: str) -> str:
    """Return the part of an address by which limits count: an IPv4 address, or the /64 of an IPv6 address."""
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, CLIENT_NETWORK_BITS), strict=False))
    return address if parsed is None else str(parsed)


def is_trusted_proxy(address: IPv4Address | IPv6Address | None) -> bool:
    """Return whether the address is in one of TRUSTED_PROXIES."""
    return address is not None and any(
        address in network for network in _parse_networks(tuple(settings.TRUSTED_PROXIES))
    )


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address of a hop (`192.0.2.7`, `192.0.2.7:5000`, `[2001:db8::7]:5000`); None if it has none.

    IPv4 addresses that are written as IPv6 addresses become IPv4 addresses.
    """
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache
def _parse_networks(texts: tuple[str, ...]) -> list[IPv4Network | IPv6Network]:
    return [ip_network(text) for text in texts]


class TrustedProxyMiddleware:
    """This middleware lets Django use `X-Forwarded-Proto` of a trusted proxy.

    It sets the variable that SECURE_PROXY_SSL_HEADER names, which no header can set.
    """

    VARIABLE = "TRUSTED_FORWARDED_PROTO"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        forwarded = request.META.get("HTTP_X_FORWARDED_PROTO")
        if forwarded and is_trusted_proxy(parse_address(request.META.get("REMOTE_ADDR") or "")):
            request.META[self.VARIABLE] = forwarded
        return self.get_response(request)
