"""How people sign in: accounts are made by admins, never by signing up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from config.http.client_address import client_address


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Nobody can sign up by himself."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address by which attempts are counted."""
        return client_address(request)
