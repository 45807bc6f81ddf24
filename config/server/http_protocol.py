"""uvicorn's HTTP protocol gets limits here: on the head of a request, on slow clients, and on connections.

uvicorn itself accepts heads of any size for any time, and copies what it has with each new part. Here it gets the bytes
in slices, and a connection is refused as soon as its head is too long, too slow or has too many parts.
"""

import asyncio
from typing import Any

from prometheus_client import Counter
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from config.http.client_address import client_network, is_trusted_proxy, parse_address
from config.server.connections import Connections

MAX_HEAD_BYTES = 65_536
"""The maximum size of request line and header fields together, in bytes."""
MAX_HEADER_FIELDS = 200
HEAD_SECONDS = 10.0
"""The time limit for the head, in seconds: since the connection was made, or since the first byte of a
later request.
"""
PAUSE_SECONDS = 20.0
"""The longest pause of a client while it sends a body or receives a response, in seconds."""
MIN_BODY_RATE = 10_000
"""The lowest mean rate of a body in bytes per second, after the first PAUSE_SECONDS."""
MIN_ANSWER_BYTES = 20_000
"""If a client reads fewer bytes of a response than this, it counts as a pause."""
MAX_REQUESTS = 200
"""The number of requests after which a connection ends, so that long-lived ones are distributed anew among the web
processes: those of a process that died have all gone to the others.
"""
LINGER_SECONDS, LINGER_BYTES = 2.0, 1_000_000
"""How long, and how much of it, the data of a refused client is read and dropped.

If the connection were closed at once, it would be reset before the client had read the reason.
"""
RETRY_AFTER_SECONDS = 2

REFUSED = Counter("http_connections_refused_total", "Connections that were closed for a bound.", ["reason"])


class BoundedHttpProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP protocol of one connection, with limits on sizes, times and rates.

    `check` closes the connection if a time limit has passed; it has to be called about once a second."""

    def __init__(self, *, open_connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._open_connections = open_connections
        self.client_network: str | None = None
        self._head_since: float | None = None  # None while no part of a head is awaited
        self._head_bytes = 0
        self._has_too_many_fields = False
        self._body_since: float | None = None  # None outside of bodies
        self._body_bytes = 0
        self._last_read = 0.0
        self._unsent_bytes, self._unsent_since = 0, 0.0
        self._refused_at: float | None = None
        self._dropped_bytes = 0
        self._requests = 0

    # --- What comes in ---

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_since = self.loop.time()
        if self.client and not is_trusted_proxy(parse_address(self.client[0])):
            self.client_network = client_network(self.client[0])
        if not self._open_connections.admit(self):
            self._refuse(503, "too_many", "Too many connections are open. Try again in a moment.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._open_connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._last_read = self.loop.time()
        if len(data) <= MAX_HEAD_BYTES:
            self._receive(data)
            return
        for start in range(0, len(data), MAX_HEAD_BYTES):
            self._receive(data[start : start + MAX_HEAD_BYTES])

    def _receive(self, data: bytes) -> None:
        if self._refused_at is not None:
            self._drop(len(data))
            return
        if self.transport.is_closing():
            return
        self._head_bytes += len(data)  # set to 0 by the end of a head within these bytes
        super().data_received(data)
        if self._body_since is not None or self.parser is None or self._refused_at is not None:
            return
        if self._head_bytes >= MAX_HEAD_BYTES:
            self._refuse(431, "head_too_large", f"The head of a request has at most {MAX_HEAD_BYTES:,} bytes.")
        elif self._head_bytes and self._head_since is None:
            self._head_since = self._last_read
            if self._is_answered():
                self._open_connections.await_head(self)

    def on_message_begin(self) -> None:
        self._head_since = self._last_read if self._head_since is None else self._head_since
        self._head_bytes = self._head_bytes or 1  # it may have begun behind the end of another request
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if len(self.headers) > MAX_HEADER_FIELDS:
            self._has_too_many_fields = True
            raise ValueError  # httptools ends the parsing, and `send_400_response` is called
        self._head_since, self._head_bytes = None, 0
        self._body_since, self._body_bytes = self._last_read, 0
        self._open_connections.await_answer(self)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._body_since = None
        self._head_bytes = 0
        super().on_message_complete()
        self._requests += 1
        # Its response says so; one that was begun before the whole body came cannot any more.
        if self._requests >= MAX_REQUESTS and self.cycle is not None and not self.cycle.response_started:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_answered():
            if self._head_since is None:
                self._open_connections.idle(self)
            else:
                self._open_connections.await_head(self)

    # --- What goes on for too long ---

    def check(self, now: float) -> None:
        """Close the connection if its client is too slow. `now` is the loop's time."""
        if self._refused_at is not None:
            if now - self._refused_at > LINGER_SECONDS:
                self.transport.abort()
        elif self._head_since is not None and self._is_answered() and now - self._head_since > HEAD_SECONDS:
            self._end_slow_head()
        elif self._body_since is not None:
            self._check_body(self._body_since, now)
        self._check_unsent(now)

    def _end_slow_head(self) -> None:
        if self._head_bytes:
            self._refuse(408, "head_too_slow", f"The head of a request must come within {HEAD_SECONDS:.0f} seconds.")
        else:  # nothing was sent at all, and nothing is expected: browsers open connections in advance
            self.transport.close()

    def _check_body(self, since: float, now: float) -> None:
        if self.flow.read_paused:  # it is we who do not read
            self._last_read = self._body_since = now
        elif now - self._last_read > PAUSE_SECONDS or now - since > PAUSE_SECONDS + self._body_bytes / MIN_BODY_RATE:
            self._refuse(
                408, "body_too_slow", "The body was sent too slowly. Nothing was changed; send the request again."
            )

    def _check_unsent(self, now: float) -> None:
        """Check that the unsent part of the response shrinks, or that there was room for more of it."""
        size = self.transport.get_write_buffer_size()
        if size == 0 or not self._unsent_bytes - MIN_ANSWER_BYTES < size <= self._unsent_bytes:
            self._unsent_bytes, self._unsent_since = size, now
        elif now - self._unsent_since > PAUSE_SECONDS:
            REFUSED.labels("answer_unread").inc()
            self.transport.abort()

    # --- How it ends ---

    def send_400_response(self, msg: str) -> None:
        """Send a 400 response. uvicorn calls this if the parser fails."""
        if self._has_too_many_fields:
            self._refuse(431, "head_too_large", f"A request has at most {MAX_HEADER_FIELDS} header fields.")
        else:
            self._refuse(400, "malformed", msg)

    def close_for_room(self) -> None:
        """Close the connection at once, because its place is needed."""
        REFUSED.labels("displaced").inc()
        if self._refused_at is not None or self.transport.get_write_buffer_size():
            self.transport.abort()  # `close` would wait until everything is read
            return
        if self._head_bytes and not self.transport.is_closing():
            self.transport.write(_refusal(503, "Too many connections are open. Try again in a moment."))
        self.transport.close()

    def _refuse(self, status: int, reason: str, sentence: str) -> None:
        """Send the reason, end the sending side, and let `_drop` and `check` do the rest."""
        if self.transport.is_closing():
            return
        REFUSED.labels(reason).inc()
        if not (self._is_answered() or self._is_body_of_only_request()):
            self.transport.abort()  # the client would take it for the answer to an earlier request
            return
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._refused_at = self.loop.time()
        self._open_connections.refuse(self)
        self.transport.write(_refusal(status, sentence))
        self.transport.write_eof()
        self.flow.resume_reading()

    def _drop(self, size: int) -> None:
        self._dropped_bytes += size
        if self._dropped_bytes > LINGER_BYTES:
            self.transport.abort()

    def _is_answered(self) -> bool:
        """Return whether no response is due."""
        return self.cycle is None or self.cycle.response_complete

    def _is_body_of_only_request(self) -> bool:
        return self._body_since is not None and not self.pipeline and not self.cycle.response_started


def _refusal(status: int, sentence: str) -> bytes:
    body = f"{sentence}\n".encode()
    retry = f"retry-after: {RETRY_AFTER_SECONDS}\r\n" if status == 503 else ""  # noqa: PLR2004 - Service Unavailable
    fields = (
        f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\n{retry}connection: close\r\n\r\n"
    )
    return STATUS_LINE[status] + fields.encode() + body
