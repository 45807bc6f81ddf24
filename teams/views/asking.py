"""Who is behind a request for a page."""

from typing import cast

from django.http import HttpRequest

from teams.models import User
from teams.principal import Principal


def asking(request: HttpRequest) -> Principal:
    """The signed-in person. Every page but sign-in is behind LoginRequiredMiddleware."""
    return cast("User", request.user).principal
