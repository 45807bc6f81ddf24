"""When a person's way of signing in changes, their other sessions end."""

from typing import Any

from allauth.account.signals import password_changed, password_set
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from django.http import HttpRequest

from teams.sign_in.browser_sessions import other_sessions_end
from teams.sign_in.second_factor import activation_code_use_up


def connect() -> None:
    """Connect the receivers to allauth's signals."""
    password_changed.connect(on_new_password, dispatch_uid="new password")
    password_set.connect(on_new_password, dispatch_uid="first password")
    authenticator_added.connect(on_second_factor, dispatch_uid="second factor")


def on_new_password(*, request: HttpRequest, **_: Any) -> None:
    """End the sessions that began with the former password. They could not be used any more, but
    would still be listed.
    """
    other_sessions_end(request)


def on_second_factor(*, request: HttpRequest, authenticator: Any, **_: Any) -> None:
    """End the person's other sessions when a second factor is set up, and mark its first code as used."""
    if authenticator.type == Authenticator.Type.TOTP:
        activation_code_use_up(authenticator=authenticator)
        other_sessions_end(request)
