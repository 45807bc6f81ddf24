"""The ASGI application that uvicorn serves."""

import os
from collections.abc import AsyncIterator, Iterable

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

from config.http.tracing import start_tracing


class Application(ASGIHandler):
    """Django's handler, which reads responses made of synchronous iterators (static files) in a thread."""

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        response = await super().get_response_async(request)
        if response.streaming and not response.is_async:  # type: ignore[attr-defined]
            response.streaming_content = _in_thread(response.streaming_content)  # type: ignore[attr-defined]
        return response


async def _in_thread(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in await sync_to_async(_all)(chunks):
        yield chunk


def _all(chunks: Iterable[bytes]) -> list[bytes]:
    return list(chunks)


def get_application() -> Application:
    """A new application with the settings as they are now."""
    django.setup(set_prefix=False)
    start_tracing()
    return Application()


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_application()
