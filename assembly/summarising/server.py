"""The server that makes summaries, as the operator configured it."""

from dataclasses import dataclass, field
from typing import Self

import httpx2
from django.conf import settings


@dataclass(frozen=True, slots=True)
class Server:
    """Any that speaks OpenAI's chat completions. `concurrency` counts requests that may be under way at once."""

    url: httpx2.URL = field(repr=False)
    model: str
    key: str = field(repr=False)
    timeout_ms: int
    concurrency: int

    @classmethod
    def configured(cls) -> Self | None:
        """The server of the settings; None where the extractive summariser makes all summaries."""
        if not settings.SUMMARISER_URL:
            return None
        return cls(
            url=httpx2.URL(f"{settings.SUMMARISER_URL}/chat/completions"),
            model=settings.SUMMARISER_MODEL,
            key=settings.SUMMARISER_API_KEY,
            timeout_ms=settings.SUMMARISER_TIMEOUT_MS,
            concurrency=settings.SUMMARISER_CONCURRENCY,
        )

    @property
    def host(self) -> str:
        """As TLS names and checks it."""
        return self.url.raw_host.decode().rstrip(".")

    def at(self, address: str) -> httpx2.URL:
        """The URL that leads to this address without another look-up."""
        return self.url.copy_with(host=address)
