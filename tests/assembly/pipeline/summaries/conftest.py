"""A server that makes summaries, on a real socket of this machine, and what is wanted of it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from tests.http_endpoints import Endpoint, Handler, serving

MODEL = "tiny-1"
KEY = "quite-a-key"

Behave = Callable[[Handler], None]
ServerOf = Callable[[Behave], AbstractContextManager[Endpoint]]


@pytest.fixture
def server_of(settings: Any) -> ServerOf:
    """`with server_of(behaviour) as endpoint`: the configured server behaves like this."""
    settings.SUMMARISER_MODEL, settings.SUMMARISER_API_KEY = MODEL, KEY

    @contextmanager
    def configured(behave: Behave) -> Iterator[Endpoint]:
        with serving(behave) as endpoint:
            settings.SUMMARISER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
            yield endpoint

    return configured
