"""Who is asking: a person, an agent's key or an admin's key, as one value that every service understands."""

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

NOBODY = UUID(int=0)

Kind = Literal["person", "agent_key", "admin_key", "system"]


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a version: `updated_by` is the seed's `user` or `system`; ref and name say which person or key."""

    updated_by: Literal["user", "system"]
    ref: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Principal:
    """A person or a key, with the facts that access rules ask for. Keys carry their agent and its teams."""

    kind: Kind
    id: UUID = NOBODY
    name: str = ""
    is_admin: bool = False
    agent_id: UUID | None = None
    team_ids: frozenset[UUID] = field(default_factory=frozenset)
    scopes: frozenset[str] = field(default_factory=frozenset)

    # DRF asks its `request.user` for these two.
    is_authenticated: bool = field(default=True, init=False)
    is_active: bool = field(default=True, init=False)

    @property
    def ref(self) -> str:
        """A stable name for records: `person:<uuid>`, `key:<uuid>` or `system`."""
        if self.kind == "system":
            return "system"
        return f"{'person' if self.kind == 'person' else 'key'}:{self.id}"

    @property
    def author(self) -> Author:
        return Author(
            "system" if self.kind == "system" else "user", "" if self.kind == "system" else self.ref, self.name
        )


SYSTEM = Principal(kind="system", is_admin=True, name="Dossier")
