"""This module adapts allauth: accounts are created by admins, never by signing up, and attempts to
sign in are limited.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from config.http.client_address import client_address
from teams.models import User
from teams.sign_in.attempts import SignInStep, TooManyAttempts, attempt_begin, attempt_give_back
from teams.sign_in.device import device_remember


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """An account adapter without sign-up, which limits attempts to guess a password."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": _("Too many attempts. Wait a few minutes, then try again."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Check the password, at sign-in and when a person confirms their identity."""
        try:
            attempt = attempt_begin(request=request, step=SignInStep.PASSWORD, username=credentials.get("username", ""))
        except TooManyAttempts:
            raise self.validation_error("too_many_login_attempts") from None
        person: User | None = super().authenticate(request, **credentials)
        if person:
            attempt_give_back(attempt)
        return person

    def post_login(self, request: HttpRequest, user: User, **facts: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **facts)
        device_remember(response, user.username)
        return response
