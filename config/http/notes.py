"""Responses say what the server changed in texts before it stored them, and what its checks found in them."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from rest_framework.response import Response

from config.http.problems import is_api
from config.text_changes import text_changes


def add_notes(request: HttpRequest, response: Response) -> Response:
    """Add `notes` to the document of a response, if there is something to say of the texts of its request."""
    notes = text_changes(request).notes
    if notes and response.status_code < 300 and isinstance(response.data, dict):  # noqa: PLR2004 - a success
        response.data = {**response.data, "notes": notes}
    return response


class NotesMiddleware:
    """This middleware shows a message on the page after a form whose texts were changed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code < 400 and not is_api(request):  # noqa: PLR2004 - what failed stored nothing
            for note in text_changes(request).notes:
                messages.info(request, note)
        return response
