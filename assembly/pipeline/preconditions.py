"""Preconditions of an assembly: the team that the agent works in, and the change counters of all owners."""

from dataclasses import dataclass
from uuid import UUID

from agents.models import Agent, AgentFile
from assembly.records.change_counters import counts_sql, owner_parameters
from config.db.migration_helpers import ORGANISATION
from config.db.statements import Rows, Statement, run_together
from teams.models import Team

PRECONDITIONS_SQL = """
SELECT {changes} AS changes,
    EXISTS (SELECT FROM agent_teams WHERE agent_id = %(agent)s AND team_id = %(team)s) AS in_team,
    (SELECT count(*) FROM agent_md_files WHERE agent_id = %(agent)s) AS files
"""


@dataclass(frozen=True, slots=True)
class Preconditions:
    """How often what the context may be made of has changed (see `assembly.records.change_counters`), and who the
    agent is to whom.
    """

    changes: tuple[int, ...]
    in_team: bool
    """Whether the agent works in the team."""
    has_files: bool
    """Whether all its files are provisioned."""


def preconditions_statement(agent: Agent, team: Team | None) -> Statement:
    """What looks it up, for `parse_preconditions`: before anything else is read, or together with it."""
    owners = counter_owners(agent, team)
    asked = {"agent": agent.id, "team": team.id if team else None, **owner_parameters(owners)}
    return Statement(PRECONDITIONS_SQL.format(changes=counts_sql(len(owners))), asked)


def counter_owners(agent: Agent, team: Team | None) -> list[UUID]:
    """Whose changes count for a context of the agent."""
    return [agent.id, *([team.id] if team else []), ORGANISATION]


def parse_preconditions(rows: Rows) -> Preconditions:
    """What the statement found."""
    ((changes, in_team, files),) = rows
    return Preconditions(tuple(changes), in_team, files >= len(AgentFile.Key))


def load_preconditions(agent: Agent, team: Team | None) -> Preconditions:
    """As of now."""
    return parse_preconditions(*run_together([preconditions_statement(agent, team)]))
