"""What an assembly has to know beside its sources: whose it is, and how often what it may be made of has changed."""

from dataclasses import dataclass
from uuid import UUID

from agents.models import Agent, AgentFile
from assembly.records.change_counters import counts, owners_named
from config.db.migration_helpers import ORGANISATION
from config.db.statements import Rows, Statement, run_together
from teams.models import Team

OPENING = """
SELECT {changes} AS changes,
    EXISTS (SELECT FROM agent_teams WHERE agent_id = %(agent)s AND team_id = %(team)s) AS in_team,
    (SELECT count(*) FROM agent_md_files WHERE agent_id = %(agent)s) AS files
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """How often what the context may be made of has changed (see `assembly.records.change_counters`), and who the
    agent is to whom.
    """

    changes: tuple[int, ...]
    in_team: bool
    """Whether the agent works in the team."""
    has_files: bool
    """Whether all its files are provisioned."""


def opening_statement(agent: Agent, team: Team | None) -> Statement:
    """What looks it up, for `opening_read`: before anything else is read, or together with it."""
    owners = owners_of(agent, team)
    asked = {"agent": agent.id, "team": team.id if team else None, **owners_named(owners)}
    return Statement(OPENING.format(changes=counts(len(owners))), asked)


def owners_of(agent: Agent, team: Team | None) -> list[UUID]:
    """Whose changes count for a context of the agent."""
    return [agent.id, *([team.id] if team else []), ORGANISATION]


def opening_read(rows: Rows) -> Opening:
    """What the statement found."""
    ((changes, in_team, files),) = rows
    return Opening(tuple(changes), in_team, files >= len(AgentFile.Key))


def opening(agent: Agent, team: Team | None) -> Opening:
    """As of now."""
    return opening_read(*run_together([opening_statement(agent, team)]))
