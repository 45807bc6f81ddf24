"""The number of open connections of a web process is limited; this module chooses which ones are closed.

A connection that waits for no response can be closed without harm: its request's head is incomplete, or it is idle
between two requests. At a limit, the oldest of these is closed; a new connection is only refused if all are busy.
Connections of one client address have a limit of their own.
"""

import resource
from collections import defaultdict
from typing import NamedTuple, Protocol

MAX_REFUSED = 100
"""The maximum number of refused connections that stay open until their clients have read the reason."""

RESERVED_DESCRIPTORS = 256
"""File descriptors that are reserved for the database, libraries and log files."""
INCOMPLETE_SHARE = 4
"""One of this many connections may have an incomplete head."""


class ConnectionLimits(NamedTuple):
    """The maximum numbers of connections of one process."""

    open: int
    incomplete_heads: int
    per_client: int

    @classmethod
    def within_descriptors(cls, most: int, per_client: int) -> "ConnectionLimits":
        """Return limits that leave each connection a second file descriptor, for the temporary file of a large body."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = most if soft == resource.RLIM_INFINITY else min(most, max(1, (soft - RESERVED_DESCRIPTORS) // 2))
        return cls(allowed, max(1, allowed // INCOMPLETE_SHARE), min(per_client, allowed))


def raise_descriptor_limit() -> None:
    """Raise the limit of file descriptors, of this process and those that it starts, to what the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Connection(Protocol):
    """A connection as this module needs it."""

    client_network: str | None
    """The client that the connection counts towards; None for a trusted proxy, which has no limit of its own."""

    def close_for_room(self) -> None:
        """Close the connection at once, because its place is needed."""


class Connections:
    """The connections of a process, grouped by what they wait for; each group has the oldest first."""

    def __init__(self, bounds: ConnectionLimits) -> None:
        self._bounds = bounds
        # Dictionaries without values are sets that remember their order.
        self._open: dict[Connection, None] = {}
        self._incomplete: dict[Connection, None] = {}
        self._idle: dict[Connection, None] = {}
        self._refused: dict[Connection, None] = {}
        self._of_client: defaultdict[str, dict[Connection, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: Connection) -> bool:
        """Add a new connection; return False if no place could be made for it."""
        if not self._has_room(connection):
            return False
        self._open[connection] = None
        if connection.client_network is not None:
            self._of_client[connection.client_network][connection] = None
        self.await_head(connection)
        return True

    def await_head(self, connection: Connection) -> None:
        """Start the time limit for the head of a request: its first byte arrived, or the connection was opened."""
        self._idle.pop(connection, None)
        if connection in self._open and connection not in self._incomplete:
            self._incomplete[connection] = None
            if len(self._incomplete) > self._bounds.incomplete_heads:
                self._displace(next(iter(self._incomplete)))

    def await_answer(self, connection: Connection) -> None:
        """Note that the head of a request is complete, so its response is due."""
        self._incomplete.pop(connection, None)
        self._idle.pop(connection, None)

    def idle(self, connection: Connection) -> None:
        """Note that all requests of the connection are answered."""
        if connection in self._open:
            self._idle[connection] = None

    def refuse(self, connection: Connection) -> None:
        """Stop counting a connection that is refused but open until its client has read the reason."""
        self.remove(connection)
        self._refused[connection] = None
        if len(self._refused) > MAX_REFUSED:
            self._displace(next(iter(self._refused)))

    def remove(self, connection: Connection) -> None:
        """Remove a connection that was closed, which may be unknown."""
        self._refused.pop(connection, None)
        if self._open.pop(connection, connection) is connection:
            return
        self._incomplete.pop(connection, None)
        self._idle.pop(connection, None)
        if connection.client_network is not None:
            of_client = self._of_client[connection.client_network]
            del of_client[connection]
            if not of_client:
                del self._of_client[connection.client_network]

    def _has_room(self, connection: Connection) -> bool:
        of_client = self._of_client.get(connection.client_network or "", {})
        if len(of_client) >= self._bounds.per_client:
            harmless = (one for one in of_client if one in self._incomplete or one in self._idle)
            return self._displace(next(harmless, None))
        if len(self._open) >= self._bounds.open:
            return self._displace(next(iter(self._incomplete), None) or next(iter(self._idle), None))
        return True

    def _displace(self, connection: Connection | None) -> bool:
        if connection is None:
            return False
        self.remove(connection)
        connection.close_for_room()
        return True
