"""The dispatcher accepts connections and distributes them among the web processes that are ready.

If the processes accepted connections themselves, one might take seven of eight clients. Distributed in turn, each
process gets its share; none gets a connection before it is ready, and a dead one is skipped until it is replaced.

Clients keep their connections for long, so whoever is ready first must not get them all: the dispatcher listens when
all processes are ready, or the first one has waited long enough for the others.
"""

import contextlib
import errno
import logging
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from math import inf
from queue import SimpleQueue
from typing import cast

READY = b"r"
"""The byte that a web process sends when it can answer; the end of its socket says that it no longer can."""
CONNECTION = b"c"
"""The byte that comes with the file descriptor of a connection."""

BACKLOG = 2_048
PATIENCE_SECONDS = 3.0
"""The longest time that the first process which is ready waits for the others."""
ACCEPT_PAUSE_SECONDS = 0.1
OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

logger = logging.getLogger(__name__)


class Dispatcher:
    """A socket that is bound to an address, and sockets to web processes. It listens once they are ready, or the first
    one has waited long enough.
    """

    def __init__(
        self,
        door: socket.socket,
        *,
        opened: Callable[[], None],
        processes: int = 1,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """`opened` is called when the first connection can be answered; `processes` is how many are started at first,
        and the last ones are waited for at most `patience_seconds`.
        """
        self._door = door
        self._opened = opened
        self._processes, self._patience_seconds = processes, patience_seconds
        self._opens_at = inf
        self._listening = False
        self._is_full = False
        self._closed = False
        self._ready: deque[socket.socket] = deque()
        self._waiting: deque[socket.socket] = deque()
        self._new: SimpleQueue[socket.socket] = SimpleQueue()
        self._bell, self._rope = socket.socketpair()
        for end in (self._door, self._bell, self._rope):
            end.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._bell, selectors.EVENT_READ, self._heed_bell)

    def admit(self, line: socket.socket) -> None:
        """Add the socket of a new web process. It can be called from any thread."""
        line.setblocking(False)
        self._new.put(line)
        self._ring()

    def close(self) -> None:
        """Let `run` return. It can be called from any thread or signal handler, repeatedly."""
        self._closed = True
        self._ring()

    def run(self) -> None:
        """Accept connections until closed. Afterwards the address is free. Raises OSError if it cannot be used."""
        try:
            while not self._closed:
                for key, events in self._selector.select(self._seconds_until_opening()):
                    key.data(key.fileobj, events)
                self._open_if_due()
        finally:
            self._leave()

    def _leave(self) -> None:
        """Close everything; the web processes take the end of their sockets as a request to stop."""
        self._admit_new()
        lines = [key.fileobj for key in self._selector.get_map().values()]
        self._selector.close()
        for end in (*lines, *self._waiting, self._door, self._rope):
            cast("socket.socket", end).close()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # it rings already, or nobody is there to hear it
            self._rope.send(b"!")

    def _heed_bell(self, bell: socket.socket, _: int) -> None:
        bell.recv(4096)
        self._admit_new()

    def _admit_new(self) -> None:
        while not self._new.empty():
            self._selector.register(self._new.get(), selectors.EVENT_READ, self._attend)

    def _attend(self, line: socket.socket, events: int) -> None:
        if events & selectors.EVENT_WRITE:  # there is room in it again
            self._hand_over_waiting()
        if events & selectors.EVENT_READ:
            self._hear(line)

    def _hear(self, line: socket.socket) -> None:
        try:
            said = line.recv(1)
        except OSError:
            said = b""
        if said == READY:
            self._ready.append(line)
            self._opens_at = min(self._opens_at, time.monotonic() + self._patience_seconds)
            self._open_if_due()
            self._set_full(full=False)
            self._hand_over_waiting()
        else:
            self._forget(line)

    def _seconds_until_opening(self) -> float | None:
        """Return the seconds until the others were waited for long enough; None if nothing is waited for."""
        is_waiting = self._ready and not self._listening
        return max(0.0, self._opens_at - time.monotonic()) if is_waiting else None

    def _open_if_due(self) -> None:
        if self._listening or not self._ready:
            return
        if len(self._ready) >= self._processes or time.monotonic() >= self._opens_at:
            self._door.listen(BACKLOG)
            self._listening = True
            self._watch_door()
            self._opened()

    def _forget(self, line: socket.socket) -> None:
        self._selector.unregister(line)
        line.close()
        if line in self._ready:
            self._ready.remove(line)
            self._watch_door()
        if not self._ready:
            self._opens_at = inf

    def _welcome(self, door: socket.socket, _: int) -> None:
        try:
            connection, _ = door.accept()
        except OSError as error:
            if error.errno in OUT_OF_RESOURCES:
                logger.warning("no connection can be accepted: %s", os.strerror(error.errno))
                time.sleep(ACCEPT_PAUSE_SECONDS)
            return
        self._waiting.append(connection)
        self._hand_over_waiting()

    def _hand_over_waiting(self) -> None:
        while self._waiting and self._hand_over(self._waiting[0]):
            self._waiting.popleft()
        if bool(self._waiting) != self._is_full:
            self._set_full(full=bool(self._waiting))

    def _hand_over(self, connection: socket.socket) -> bool:
        """Pass the connection to the next process with a free place; return False if there is none."""
        for line in list(self._ready):
            self._ready.rotate(-1)
            # A line is full where its process has not taken what was handed to it; an OSError says that it has died.
            with contextlib.suppress(OSError):
                socket.send_fds(line, [CONNECTION], [connection.fileno()])
                connection.close()  # it lives on in that process
                return True
        return False

    def _set_full(self, *, full: bool) -> None:
        """Stop accepting while all processes are full: new connections then wait in the kernel's queue, and are neither
        refused nor lost.
        """
        self._is_full = full
        for line in self._ready:
            self._selector.modify(line, selectors.EVENT_READ | (selectors.EVENT_WRITE if full else 0), self._attend)
        self._watch_door()

    def _watch_door(self) -> None:
        """Accept connections while a process may have a free place."""
        is_wanted = self._listening and bool(self._ready) and not self._is_full
        is_watched = self._door in self._selector.get_map()
        if is_wanted and not is_watched:
            self._selector.register(self._door, selectors.EVENT_READ, self._welcome)
        elif is_watched and not is_wanted:
            self._selector.unregister(self._door)
