"""Where the pages of what an agent keeps are."""

from tests.memories.worked_agent import Kept

LUNA = "/agents/luna"
LISTS = ("events", "sessions", "graph", "entities", "patterns", "threads", "tools", "documents", "tasks")


def at(address: str, kept: Kept) -> str:
    """The address with the ids of what is kept."""
    ids = {name: getattr(kept, name).pk for name in kept.__slots__}
    return f"{LUNA}/{address.format(**ids)}"
