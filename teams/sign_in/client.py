"""The client behind a request: the address that limits count by, and the browser's name in words."""

import re

from django.http import HttpRequest

from config.http.client_address import client_address, client_network

BROWSERS = (
    ("Edge", r"\bEdg(?:e|A|iOS)?/"),
    ("Opera", r"\bOPR/|\bOpera\b"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\bFirefox/|\bFxiOS/"),
    ("Chrome", r"\bChrome/|\bCriOS/|\bHeadlessChrome/"),
    ("Safari", r"\bSafari/"),
    ("curl", r"\Acurl/"),
)
"""In this order: later ones are named by the earlier ones, too."""
SYSTEMS = (
    ("Android", r"\bAndroid\b"),
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMacintosh\b|\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)


def network_of(request: HttpRequest) -> str:
    """Return what limits count by: an IPv4 address, the /64 of an IPv6 address."""
    return client_network(client_address(request))


def browser_name(user_agent: str) -> str:
    """Return “Firefox on Linux” for a User-Agent header, or less where less is known; "" for nothing known.

    It helps a person to tell browsers apart, no more: anybody can send any header.
    """
    browser = next((name for name, pattern in BROWSERS if re.search(pattern, user_agent)), "")
    system = next((name for name, pattern in SYSTEMS if re.search(pattern, user_agent)), "")
    return f"{browser} on {system}" if browser and system else browser or system
