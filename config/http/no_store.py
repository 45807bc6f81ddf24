"""The header by which no browser and no proxy stores what is private."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase


class NoStoreMiddleware:
    """Goes first, and gives every response that says nothing else about it `Cache-Control: private, no-store`.

    Pages and answers of the API hold what a team's files, logs and memories say, and pages about signing in hold
    secrets: none of it may stay in a browser's cache after the person has signed out. Static files, which name their
    own time, are not touched. An ETag is compared with what the caller sends, so conditional requests answer 304 and
    412 as before.
    """

    HEADER = "private, no-store"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", self.HEADER)
        return response
