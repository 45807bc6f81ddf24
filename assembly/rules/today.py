"""What is there today of the agents and teams of recorded contexts: what a rule always includes is not on record."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID
from zoneinfo import ZoneInfo

from agents.models import Agent
from assembly.engine.rules import Actions, Condition, Rule, Selector
from assembly.engine.ruling import ALWAYS_INCLUDED
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.sources import SOURCES, Situation
from teams.models import Team

Asked = tuple[UUID, UUID | None, Selector]


@dataclass(slots=True)
class Today:
    """The agents and teams that are still there, and what was found of theirs: each is looked for once."""

    agents: dict[UUID, Agent]
    teams: dict[UUID, Team]
    _found: dict[Asked, Sequence[Candidate]] = field(default_factory=dict)

    @classmethod
    def of(cls, assemblies: Sequence[Assembly]) -> "Today":
        """Of these contexts, by one query each for agents and teams."""
        agents = {assembly.agent_id for assembly in assemblies}
        teams = {assembly.team_id for assembly in assemblies if assembly.team_id}
        return cls(Agent.objects.in_bulk(agents), Team.objects.in_bulk(teams))

    def zone(self, assembly: Assembly) -> ZoneInfo:
        """The time zone of the context's agent; UTC where the agent is gone."""
        agent = self.agents.get(assembly.agent_id)
        return ZoneInfo(agent.timezone if agent else "UTC")

    def found(self, assembly: Assembly, selector: Selector) -> Sequence[Candidate]:
        """What the selector always includes for the context's agent and team; nothing where the agent is gone."""
        asked = (assembly.agent_id, assembly.team_id, selector)
        if asked not in self._found:
            self._found[asked] = self._look(assembly, selector)
        return self._found[asked]

    def _look(self, assembly: Assembly, selector: Selector) -> Sequence[Candidate]:
        agent = self.agents.get(assembly.agent_id)
        if agent is None:
            return ()
        team = self.teams.get(assembly.team_id) if assembly.team_id else None
        rule = Rule("", 1, "everywhere", Condition(), Actions(always_include=(selector,)))
        situation = Situation(agent=agent, team=team, now=assembly.now, rules=(rule,))
        return SOURCES[ALWAYS_INCLUDED.source].gather(situation, [ALWAYS_INCLUDED]).candidates
