"""The open connections of a web process: how many there may be, and which of them go when there are too many.

A connection that is owed no answer can be closed without harm: one whose request's head is still incomplete, or one
that is idle between two requests. So where a bound is reached, the oldest of these makes room, and only where all are
busy is a new one refused. Connections of one client address have a bound of their own, so that one client displaces
only itself.
"""

import resource
from collections import defaultdict
from typing import NamedTuple, Protocol

MAX_REFUSED = 100
"""Refused connections that stay open for the moment in which their clients may read why."""

RESERVED_DESCRIPTORS = 256
"""For the database, libraries and log files."""
INCOMPLETE_SHARE = 4
"""One of so many connections may have an incomplete head."""


class ConnectionLimits(NamedTuple):
    """The largest numbers of connections in one process."""

    open: int
    incomplete_heads: int
    per_client: int

    @classmethod
    def within_descriptors(cls, most: int, per_client: int) -> "ConnectionLimits":
        """Return bounds that leave each connection a second descriptor, for the temporary file of a large body."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = most if soft == resource.RLIM_INFINITY else min(most, max(1, (soft - RESERVED_DESCRIPTORS) // 2))
        return cls(allowed, max(1, allowed // INCOMPLETE_SHARE), min(per_client, allowed))


def raise_descriptor_limit() -> None:
    """Allow this process, and those that it starts, as many descriptors as the system lets it have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Connection(Protocol):
    """A connection as this module sees it."""

    client_network: str | None
    """The client that it counts towards; None for a trusted proxy, whose connections have no bound of their own."""

    def close_for_room(self) -> None:
        """Close it at once, because another one needs its room."""


class Connections:
    """The connections of one process, by what they wait for, each group with the oldest first."""

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
        """Take a new connection, whose first head is to come; return False where no room could be made for it."""
        if not self._has_room(connection):
            return False
        self._open[connection] = None
        if connection.client_network is not None:
            self._of_client[connection.client_network][connection] = None
        self.await_head(connection)
        return True

    def await_head(self, connection: Connection) -> None:
        """Note that a part of a request's head has come, or is still to come."""
        self._idle.pop(connection, None)
        if connection in self._open and connection not in self._incomplete:
            self._incomplete[connection] = None
            if len(self._incomplete) > self._bounds.incomplete_heads:
                self._displace(next(iter(self._incomplete)))

    def await_answer(self, connection: Connection) -> None:
        """Note that the head of a request is complete: from now on, its answer is owed."""
        self._incomplete.pop(connection, None)
        self._idle.pop(connection, None)

    def idle(self, connection: Connection) -> None:
        """Note that all its requests are answered."""
        if connection in self._open:
            self._idle[connection] = None

    def refuse(self, connection: Connection) -> None:
        """Stop counting a connection that is refused and still open until its client has read why."""
        self.remove(connection)
        self._refused[connection] = None
        if len(self._refused) > MAX_REFUSED:
            self._displace(next(iter(self._refused)))

    def remove(self, connection: Connection) -> None:
        """Forget a connection that was closed. It may be unknown."""
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
