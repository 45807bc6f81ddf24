"""Whose contexts somebody may see, as `Assembly.objects.visible_to` says, asked once for filters, choices and rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from agents.models import Agent
from config.db.statements import Statement, run_statement
from teams.models import Team
from teams.principal import Principal

# One probe of an index per owner, however many contexts each has.
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
    """An agent or a team. `deleted`: it is only in the record any more."""

    id: UUID
    slug: str
    name: str
    deleted: bool = False


class VisibleOwners:
    """What one principal may see; each question is asked of the database once, when it comes up."""

    def __init__(self, principal: Principal) -> None:
        self.principal = principal

    @cached_property
    def agents(self) -> Sequence[VisibleOwner]:
        """Those that the principal sees, by name."""
        rows = Agent.objects.visible_to(self.principal).order_by("name", "id").values_list("id", "slug", "name")
        return [VisibleOwner(*row) for row in rows]

    @cached_property
    def teams(self) -> Sequence[VisibleOwner]:
        """As the agents."""
        rows = Team.objects.visible_to(self.principal).order_by("name", "id").values_list("id", "slug", "name")
        return [VisibleOwner(*row) for row in rows]

    @cached_property
    def deleted_agents(self) -> Sequence[VisibleOwner]:
        """Those of which there are contexts only, which admins alone see."""
        return self._deleted("agent", self.agents)

    @cached_property
    def deleted_teams(self) -> Sequence[VisibleOwner]:
        """As the agents."""
        return self._deleted("team", self.teams)

    def agent(self, slug: str) -> VisibleOwner | None:
        """The agent with that slug; of deleted ones the last that had it."""
        return _with_slug(slug, self.agents) or _with_slug(slug, self.deleted_agents)

    def team(self, slug: str) -> VisibleOwner | None:
        """As the agent."""
        return _with_slug(slug, self.teams) or _with_slug(slug, self.deleted_teams)

    @property
    def limits(self) -> Mapping[str, list[UUID]] | None:
        """The agents and the teams whose contexts are seen; None where all are."""
        if self.principal.is_admin:
            return None
        return {"seen_agents": [one.id for one in self.agents], "seen_teams": [one.id for one in self.teams]}

    def _deleted(self, kind: str, there: Sequence[VisibleOwner]) -> Sequence[VisibleOwner]:
        if not self.principal.is_admin:
            return []
        known = {one.id for one in there}
        rows = run_statement(Statement(RECORDED_OWNERS_SQL.format(kind=kind), {}))
        return [VisibleOwner(id_, slug, name, deleted=True) for id_, slug, name in rows if id_ not in known]


def _with_slug(slug: str, owners: Sequence[VisibleOwner]) -> VisibleOwner | None:
    # Ids grow with time, so that the greatest is the last that had the slug.
    return max((one for one in owners if one.slug == slug), key=lambda one: one.id, default=None)
