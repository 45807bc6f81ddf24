"""This module identifies the client of a request: its address for limits, the name of its browser, and known devices.

A device cookie marks a browser in which an account has signed in before, for that account only. The cookie does not
sign anyone in. It only exempts the account's owner from the limits that all unknown devices share
(`teams.sign_in.attempts`). Each sign-in sets a new one, so nobody gets one without all factors.
"""

import re
import secrets
from datetime import timedelta

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import salted_hmac

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
"""Patterns of browser names, checked in this order, because some browsers also send the names of others."""
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


COOKIE_LIFETIME = timedelta(days=180)
_SALT = "teams.sign_in.device"


def find_device(request: HttpRequest, username: str) -> str:
    """Return the id of the device if this account signed in there before, else ""."""
    cookie = request.COOKIES.get(_cookie_name(username), "")
    try:
        account, _, device = _signer().unsign(cookie, max_age=COOKIE_LIFETIME).partition(".")
    except BadSignature:
        return ""
    return device if account == _account(username) else ""


def device_remember(response: HttpResponse, username: str) -> None:
    """Set the cookie that identifies this device of the account. It must be called after all factors were correct."""
    response.set_cookie(
        _cookie_name(username),
        _signer().sign(f"{_account(username)}.{secrets.token_urlsafe(16)}"),
        max_age=COOKIE_LIFETIME,
        path=reverse("account_login").removesuffix("login/"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _cookie_name(username: str) -> str:
    return f"device_{_account(username)[:12]}"


def _account(username: str) -> str:
    return salted_hmac(_SALT, username.strip().lower(), algorithm="sha256").hexdigest()[:32]


def _signer() -> TimestampSigner:
    return TimestampSigner(salt=_SALT)
