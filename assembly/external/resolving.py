"""Looking up the addresses of a host, without ever waiting longer than the caller wants to."""

import asyncio
import contextlib
import socket
from threading import BoundedSemaphore, Thread

MAX_UNDER_WAY = 16
"""Look-ups of this process that a slow name server holds up at most."""

_free = BoundedSemaphore(MAX_UNDER_WAY)


async def addresses_of(host: str) -> list[str]:
    """All addresses of the host, as the system's resolver orders them; none where it knows none.

    The look-up runs in a thread of its own: it cannot be broken off, and asyncio's own pool would be waited for.
    """
    if not _free.acquire(blocking=False):
        return []
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[str]] = loop.create_future()
    Thread(target=_look_up, args=(host, loop, found), daemon=True).start()
    return await found


def _look_up(host: str, loop: asyncio.AbstractEventLoop, found: "asyncio.Future[list[str]]") -> None:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        entries = []
    finally:
        _free.release()
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(_answer, found, addresses)


def _answer(found: "asyncio.Future[list[str]]", addresses: list[str]) -> None:
    if not found.done():
        found.set_result(addresses)
