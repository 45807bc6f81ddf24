"""Which requests store something, derived from method and address before any work is done for them."""

import re
from enum import Enum, auto

WRITING = {"POST", "PUT", "PATCH"}
RECORDS = re.compile(
    r"/api/v1/assemblies(?:/[^/]+/(?:append|again|what-if))?|/preview/|/contexts/[^/]+/(?:again|what-if)/"
)
ASKS_ALONE = re.compile(
    r"/api/v1/(?:compress|tokens|trials|.+/(?:search|check|try|compare|why-not|as-of|replay|ask|test|see))"
    r"|/(?:accounts|size|contexts)/.*|/.+/(?:check|try|compare|test|ask|revoke|delete)/"
)


class Stored(Enum):
    """What a request may add to the database."""

    NOTHING = auto()
    TEXTS = auto()
    RECORDS = auto()


def stored_by(method: str, path: str) -> Stored:
    """Return what such a request stores where it succeeds. Whatever is not known to store nothing stores texts."""
    if method not in WRITING:
        return Stored.NOTHING
    if RECORDS.fullmatch(path):
        return Stored.RECORDS
    return Stored.NOTHING if ASKS_ALONE.fullmatch(path) else Stored.TEXTS
