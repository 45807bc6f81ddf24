"""People who can sign in, and browsers at addresses of their own."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.test import Client

from teams.models import User

PASSWORD = "a quite long password"
WRONG = "not the password at all"
LOGIN = "/accounts/login/"
CODE = "/accounts/2fa/authenticate/"
TOTP_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
HERE, OTHER_PLACE = "198.51.100.7", "203.0.113.9"


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


def make_priya() -> User:
    return User.objects.create_user("priya", PASSWORD, name="Priya")


def sign_in(browser: Client, *, name: str = "priya", password: str = PASSWORD, address: str = HERE) -> str:
    """Return how it went: `in`, `code` where the second factor comes next, `wrong` or `refused`."""
    response = browser.post(LOGIN, {"login": name, "password": password}, REMOTE_ADDR=address)
    return outcome(response)


def send_code(browser: Client, code: str, *, address: str = HERE) -> str:
    """Return how the second step went."""
    return outcome(browser.post(CODE, {"code": code}, REMOTE_ADDR=address))


def outcome(response: Any) -> str:
    if response.status_code == 302:
        return "code" if response["Location"] == CODE else "in"
    page = response.content.decode()
    if response.status_code == 429:
        assert "Too many attempts. Wait a few minutes, then try again." in page
        assert int(response["Retry-After"]) >= 1
        return "refused"
    assert (response.status_code, "Too many" in page) == (200, False), page
    return "wrong"


def set_up_totp(person: User) -> None:
    TOTP.activate(person, TOTP_SECRET)


def current_code(*, step: int = 0) -> str:
    """Return the code that the app shows now, or some steps of 30 seconds later."""
    now = next(iter(yield_hotp_counters_from_time()))
    return str(format_hotp_value(hotp_value(TOTP_SECRET, now + step)))


@pytest.fixture
def at_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the clock of codes stand at a step, so that no test runs over the end of one."""
    import allauth.mfa.totp.internal.auth as totp

    def stand(step: int) -> None:
        monkeypatch.setattr(totp.time, "time", lambda: 30.0 * step + 10)

    return stand
