"""Where a source is asked: its URL, and the very addresses that were found for its host and judged."""

import asyncio
import re
from dataclasses import dataclass
from functools import partial

import httpx2

from assembly.external.networks import AllowedNetworks, is_public, parsed
from assembly.external.resolving import addresses_of
from config.http.beside import Beside
from config.http.errors import Invalid

HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
UNSEEN = re.compile(r"[^\x21-\x7e]")
MAX_PORT = 65_535
LOOK_UP_SECONDS = 5.0
"""As long, at most, does somebody who registers a source wait for a name server."""


class Refused(Exception):
    """This URL is not asked. The message says why, without any address."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL with the addresses of its host, at least one, each of them allowed. `is_public`: all of them are."""

    url: httpx2.URL
    addresses: tuple[str, ...]
    is_public: bool

    @property
    def host(self) -> str:
        """As TLS names and checks it: ASCII, without the dot at the end that a full name may have."""
        return self.url.raw_host.decode().rstrip(".")

    def at(self, address: str) -> httpx2.URL:
        """The URL that leads to this address without another look-up."""
        return self.url.copy_with(host=address)


def url_read(text: str) -> httpx2.URL:
    """The URL of an endpoint. Raises Refused."""
    if UNSEEN.search(text):
        raise Refused("Write the URL without spaces, and a host or path of other letters in its encoded form.")
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        raise Refused("This is no URL. Write it like https://search.example.org/ask.") from None
    if url.scheme not in {"https", "http"} or not HOST.fullmatch(url.raw_host.decode()):
        raise Refused("Write the URL like https://search.example.org/ask.")
    if url.userinfo or "#" in text:
        raise Refused("Leave user, password and fragment out of the URL. What proves who asks is the secret.")
    if url.port is not None and not 1 <= url.port <= MAX_PORT:
        raise Refused(f"The port of the URL must be from 1 to {MAX_PORT:,}.")
    return url


async def destination_of(text: str, allowed: AllowedNetworks) -> Destination:
    """Return the URL with its host's addresses, looked up once and all of them judged. Raises Refused.

    `allowed` are the private networks that may be connected to.
    """
    url = url_read(text)
    found = await addresses_of(url.raw_host.decode())
    if not found:
        raise Refused("No address was found for its host. Check the host's name.")
    addresses = [parsed(address) for address in found]
    if not all(address in allowed or is_public(address) for address in addresses):
        raise Refused(
            "Its host lies in a private or reserved network, which is refused. "
            f"An operator can allow that network on purpose with {allowed.setting}."
        )
    if url.scheme == "http" and not all(address in allowed for address in addresses):
        raise Refused(f"Use https. Only in networks that {allowed.setting} names may it be http.")
    return Destination(url, tuple(found), all(map(is_public, addresses)))


def url_check(text: str, allowed: AllowedNetworks) -> None:
    """Raises Invalid for a URL that would not be connected to now."""
    try:
        Beside("look-up", partial(_destination_found, text, allowed)).result(seconds=LOOK_UP_SECONDS + 1)
    except Refused as refused:
        raise Invalid("url", str(refused)) from None
    except TimeoutError:
        raise Invalid("url", "The look-up of its host took too long. Check the host's name, or try again.") from None


def _destination_found(text: str, allowed: AllowedNetworks) -> Destination:
    return asyncio.run(asyncio.wait_for(destination_of(text, allowed), LOOK_UP_SECONDS))
