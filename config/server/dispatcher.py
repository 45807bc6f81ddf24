"""The reception: accepts connections and hands them round among the web processes that are ready.

Processes that accept for themselves take what they can get: of eight clients, one may get seven. Handed round, each
gets its share, none gets a connection before it is warm, and one that died is passed over until another took its place.
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
from queue import SimpleQueue
from typing import cast

READY = b"r"
"""What a web process says through its line as soon as it can answer; the line's end says that it no longer will."""
CONNECTION = b"c"
"""What comes through the line with the descriptor of a connection."""

BACKLOG = 2_048
ACCEPT_PAUSE_SECONDS = 0.1
OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

logger = logging.getLogger(__name__)


class Dispatcher:
    """A socket that is bound to an address, and lines to web processes. It listens once one of them is ready."""

    def __init__(self, door: socket.socket, *, opened: Callable[[], None]) -> None:
        """`opened` is called when the first connection can be answered."""
        self._door = door
        self._opened = opened
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
        """Take the line to a new web process. From any thread."""
        line.setblocking(False)
        self._new.put(line)
        self._ring()

    def close(self) -> None:
        """Let `run` return. From any thread, or a signal's handler, and as often as one likes."""
        self._closed = True
        self._ring()

    def run(self) -> None:
        """Receive until closed. Afterwards nobody listens at the address. Raises OSError where nobody may."""
        try:
            while not self._closed:
                for key, events in self._selector.select():
                    key.data(key.fileobj, events)
        finally:
            self._leave()

    def _leave(self) -> None:
        """Close everything; the web processes take the end of their lines for a request to stop."""
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
            self._open()
            self._set_full(full=False)
            self._hand_over_waiting()
        else:
            self._forget(line)

    def _open(self) -> None:
        if not self._listening:
            self._door.listen(BACKLOG)
            self._opened()
            self._listening = True

    def _forget(self, line: socket.socket) -> None:
        self._selector.unregister(line)
        line.close()
        if line in self._ready:
            self._ready.remove(line)
            self._watch_door()

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
        """Give it to the next process that has room for it; return False where it has to wait for one."""
        for line in list(self._ready):
            self._ready.rotate(-1)
            # A line is full where its process has not taken what was handed to it; an OSError says that it has died.
            with contextlib.suppress(OSError):
                socket.send_fds(line, [CONNECTION], [connection.fileno()])
                connection.close()  # it lives on in that process
                return True
        return False

    def _set_full(self, *, full: bool) -> None:
        """While all lines are full, nobody is accepted: who comes then waits in the kernel's queue until a process has
        taken one, and is neither refused nor lost."""
        self._is_full = full
        for line in self._ready:
            self._selector.modify(line, selectors.EVENT_READ | (selectors.EVENT_WRITE if full else 0), self._attend)
        self._watch_door()

    def _watch_door(self) -> None:
        """Accept where a process may have room. Where none does, who comes waits at the door."""
        is_wanted, is_watched = bool(self._ready) and not self._is_full, self._door in self._selector.get_map()
        if is_wanted and not is_watched:
            self._selector.register(self._door, selectors.EVENT_READ, self._welcome)
        elif is_watched and not is_wanted:
            self._selector.unregister(self._door)
