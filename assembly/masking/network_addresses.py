"""E-mail addresses and IP addresses."""

import ipaddress
import re
from collections.abc import Iterator

from assembly.masking.spans import Span

EMAIL = re.compile(
    r"(?<![\w.+%-])\w[\w.+%'-]{0,63}@(?:[^\W_](?:[^\W_]|-){0,62}\.)+(?:xn--[A-Za-z0-9-]{2,59}|[^\W\d_]{2,24})"
    r"(?![\w-]|:[\w~./])"
)
"""An address, also of a domain with letters of any script (IDN)."""
IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d{1,3}(?![\d:]))")
IPV6 = re.compile(
    r"(?<![\w.])(?<![0-9A-Fa-f]:)(?=[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:)[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])"
)
IPV4_DOTS = 3
IPV6_COLONS = 7
"""The colons of an address without an omission."""
BYTES = re.compile(r"(?:[0-9A-Fa-f]{2}:)+[0-9A-Fa-f]{2}")
"""Bytes in hexadecimal, as of a MAC address or a serial number."""
VERSION_WORDS = re.compile(
    r"(?:\bv|\b(?:versi\w*|release\w*|build\w*|firmware\w*|micrologiciel|assembly|patch\w*|rev(?:ision)?|bump\w*"
    r"|up(?:date|grade)\w*(?: note:)?(?: the| to| from| auf| naar)|plug-?in|driver|treiber|sdk|java|jdk|oid|stay on"
    r"|chapter|kapitel|section|abschnitt))(?: |\b)[^\n]{0,60}$",
    re.IGNORECASE,
)
"""Words before numbers of versions, chapters and object identifiers, which look like addresses."""
VERSION_REACH = 80
"""The number of characters around a number in which words tell that it is a version."""
HIGHEST_BYTE = 255
HIGHEST_OF_VERSIONS = 31
"""If no part is higher, a number counts as an address only near a word of networks."""
NETWORK_WORDS = re.compile(
    r"\b(?:ip\w*|ipv4|host\w*|server\w*|address\w*|adresse\w*|addr|src|dst|source|from|client|peer|ping|ssh|dns|dhcp"
    r"|gateway|subnet\w*|network|netz\w*|netmask|proxy|router|vpn|firewall|login\w*|blocklist|listen\w*|bind|connect\w*"
    r"|https?|tcp|udp|nat|route\w*|nameserver|lease|node|remote)\b|://|@$",
    re.IGNORECASE,
)
NETWORK_AFTER = re.compile(r"[:/]\d")
VERSION_AFTER = re.compile(r"^ (?:release|build|version|firmware|update|if you cannot)", re.IGNORECASE)


def find_emails(text: str) -> Iterator[Span]:
    """Yield the e-mail addresses of a text. A user and a host without a top-level domain are none."""
    if "@" in text:
        for found in EMAIL.finditer(text):
            yield Span("email", found.start(), found.end())


def find_ip_addresses(text: str) -> Iterator[Span]:
    """Yield the IP addresses of a text, without networks' lengths and ports. Numbers of versions are none."""
    for found in IPV4.finditer(text) if text.count(".") >= IPV4_DOTS else ():
        if _has_bytes(found[0]) and not _is_version(text, found.start(), found.end()):
            yield Span("ip", found.start(), found.end())
    if "::" in text or text.count(":") >= IPV6_COLONS:
        for found in IPV6.finditer(text):
            if not BYTES.fullmatch(found[0]) and any(map(str.isalnum, found[0])) and _is_address(found[0]):
                yield Span("ip", found.start(), found.end())


def canonical_ip_address(address: str) -> str:
    """Return the address as RFC 5952 writes it, so that all its spellings are equal."""
    return str(ipaddress.ip_address(address))


def _has_bytes(address: str) -> bool:
    """Return whether the four numbers are bytes, without zeros before them."""
    return all(int(part) <= HIGHEST_BYTE and (part[0] != "0" or part == "0") for part in address.split("."))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_version(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - VERSION_REACH) : start], text[end : end + VERSION_REACH]
    if VERSION_WORDS.search(before) or VERSION_AFTER.match(after):
        return True
    has_low_numbers = max(map(int, text[start:end].split("."))) <= HIGHEST_OF_VERSIONS
    return has_low_numbers and not (NETWORK_WORDS.search(before) or NETWORK_AFTER.match(after))
