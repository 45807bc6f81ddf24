"""A secret that was just created is shown on one page, once: the page to which its form redirects.

Until then it waits in the session, encrypted. Reloading the page neither creates a second secret nor shows it again.
"""

import json
import time
from typing import Any

from django.http import HttpRequest

from config.http.encryption import UndecryptableSecret, decrypt, encrypt

LIFETIME_SECONDS = 600
"""Seconds after which a secret that no page has shown is dropped."""


def show_once(request: HttpRequest, page: str, **values: str) -> None:
    """Store the values in the session, for the next request of `page`."""
    request.session[_key(page)] = encrypt(json.dumps({"until": time.time() + LIFETIME_SECONDS, "values": values}))


def take_shown_once(request: HttpRequest, page: str) -> dict[str, str]:
    """Return the values that were stored for `page` and remove them; empty if there are none."""
    stored = request.session.pop(_key(page), None)
    try:
        found: dict[str, Any] = json.loads(decrypt(stored)) if stored else {"until": 0.0}
    except UndecryptableSecret:  # SECRET_KEY was changed in the meantime
        return {}
    values: dict[str, str] = found["values"] if found["until"] > time.time() else {}
    return values


def _key(page: str) -> str:
    return f"shown_once:{page}"
