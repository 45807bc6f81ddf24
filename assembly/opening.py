"""What is looked up before anything is read for a context, by one statement."""

from dataclasses import dataclass

from agents.models import Agent, AgentFile
from assembly.changes import COUNTS
from assembly.statements import Statement, rows_of
from teams.database import ORGANISATION
from teams.models import Team

OPENING = f"""
SELECT array({COUNTS}),
    EXISTS (SELECT FROM agent_teams WHERE agent_id = %(agent)s AND team_id = %(team)s),
    (SELECT count(*) FROM agent_md_files WHERE agent_id = %(agent)s)
"""  # noqa: S608 - only the constant statement is put in


@dataclass(frozen=True, slots=True)
class Opening:
    """How often what the context may be made of has changed (see `assembly.changes`), and who the agent is to whom."""

    changes: tuple[int, ...]
    in_team: bool
    """Whether the agent works in the team."""
    has_files: bool
    """Whether all its files are provisioned."""


def opening(agent: Agent, team: Team | None) -> Opening:
    """As of now: before anything else is read."""
    owners = [agent.id, *([team.id] if team else []), ORGANISATION]
    # Spelled as PostgreSQL does: to make an array of ids takes longer than to look them up.
    facts = {"owners": f"{{{','.join(map(str, owners))}}}", "agent": agent.id, "team": team.id if team else None}
    ((changes, in_team, files),) = rows_of(Statement(OPENING, facts))
    return Opening(tuple(changes), in_team, files >= len(AgentFile.Key))
