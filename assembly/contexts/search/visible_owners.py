"""Agents and teams whose contexts a principal may see are loaded once per request, by the rules of `visible_to`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from agents.models import Agent
from config.db.statements import Statement, run_statement
from teams.models import Team
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, fixed_clearances

# One index lookup per owner, however many contexts each owner has.
RECORDED_OWNERS_SQL = """
WITH RECURSIVE recorded AS (
    (SELECT {kind}_id, {kind}_slug, {kind}_name FROM assemblies WHERE {kind}_id IS NOT NULL
        ORDER BY {kind}_id, created DESC, id DESC LIMIT 1)
    UNION ALL
    SELECT following.* FROM recorded CROSS JOIN LATERAL (
        SELECT {kind}_id, {kind}_slug, {kind}_name FROM assemblies WHERE {kind}_id > recorded.{kind}_id
        ORDER BY {kind}_id, created DESC, id DESC LIMIT 1) AS following
)
SELECT * FROM recorded
"""


@dataclass(frozen=True, slots=True)
class VisibleOwner:
    """An agent or a team. `deleted`: it no longer exists, but records of contexts name it."""

    id: UUID
    slug: str
    name: str
    deleted: bool = False


class VisibleOwners:
    """The agents and teams whose contexts one principal may see; each list is loaded once, on first use."""

    def __init__(self, principal: Principal) -> None:
        self.principal = principal

    @cached_property
    def agents(self) -> Sequence[VisibleOwner]:
        """The agents that the principal may see, by name."""
        rows = Agent.objects.visible_to(self.principal).order_by("name", "id").values_list("id", "slug", "name")
        return [VisibleOwner(*row) for row in rows]

    @cached_property
    def teams(self) -> Sequence[VisibleOwner]:
        """The teams that the principal may see, by name."""
        rows = Team.objects.visible_to(self.principal).order_by("name", "id").values_list("id", "slug", "name")
        return [VisibleOwner(*row) for row in rows]

    @cached_property
    def deleted_agents(self) -> Sequence[VisibleOwner]:
        """Deleted agents that contexts still name; empty unless the principal is an admin."""
        return self._deleted("agent", self.agents)

    @cached_property
    def deleted_teams(self) -> Sequence[VisibleOwner]:
        """Deleted teams that contexts still name; empty unless the principal is an admin."""
        return self._deleted("team", self.teams)

    def agent(self, slug: str) -> VisibleOwner | None:
        """Return the visible agent with this slug, else the last deleted one that had it; None if there is none."""
        return _with_slug(slug, self.agents) or _with_slug(slug, self.deleted_agents)

    def team(self, slug: str) -> VisibleOwner | None:
        """Return the visible team with this slug, else the last deleted one that had it; None if there is none."""
        return _with_slug(slug, self.teams) or _with_slug(slug, self.deleted_teams)

    @property
    def limits(self) -> Mapping[str, Any] | None:
        """The agent and team ids and the clearance to which the search is limited, as SQL parameters; None for admins,
        who see all.
        """
        if self.principal.is_admin:
            return None
        fixed = fixed_clearances(self.principal)
        return {
            "seen_agents": [one.id for one in self.agents],
            "seen_teams": [one.id for one in self.teams],
            "clearance": fixed.lowest if fixed else DEFAULT_LEVEL,
            "person": None if fixed else self.principal.id,
        }

    def _deleted(self, kind: str, there: Sequence[VisibleOwner]) -> Sequence[VisibleOwner]:
        if not self.principal.is_admin:
            return []
        known = {one.id for one in there}
        rows = run_statement(Statement(RECORDED_OWNERS_SQL.format(kind=kind), {}))
        return [VisibleOwner(id_, slug, name, deleted=True) for id_, slug, name in rows if id_ not in known]


def _with_slug(slug: str, owners: Sequence[VisibleOwner]) -> VisibleOwner | None:
    # Ids grow with time, so the greatest id is the last owner that had the slug.
    return max((one for one in owners if one.slug == slug), key=lambda one: one.id, default=None)
