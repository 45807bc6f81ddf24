"""Reading rules: those in force for an assembly, and those that people look at."""

from dataclasses import dataclass
from functools import lru_cache

from agents.models import Agent
from assembly.engine.rules import Rule, Scope
from assembly.models import StoredRule
from assembly.profiles.catalogue import known_sources
from assembly.profiles.yaml_reader import UnreadableProfile
from assembly.rules.parser import Described, rule_read
from config.db.statements import Rows, Statement
from teams.models import Team


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule as it stands."""

    row: StoredRule
    described: Described | None
    """None: the text can no longer be read, say because a source is gone; `fault` says where."""
    fault: UnreadableProfile | None = None

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def description(self) -> str:
        return self.described.description if self.described else ""


# As StoredRuleQuerySet.in_force.
IN_FORCE = """
SELECT name, version, agent_id, team_id, content FROM rules
WHERE enabled AND (agent_id IS NULL AND team_id IS NULL OR agent_id = %(agent)s OR team_id = %(team)s) ORDER BY name
"""


def in_force(agent: Agent, team: Team | None) -> Statement:
    """The statement that reads the enabled rules for the agent in the team, for `rules_read`."""
    return Statement(IN_FORCE, {"agent": agent.id, "team": team.id if team else None})


def rules_read(rows: Rows) -> tuple[list[Rule], list[Entry]]:
    """The rules in rows of `in_force`; and apart, those that cannot be read any more."""
    columns = ("name", "version", "agent_id", "team_id", "content")
    entries = [entry_of(StoredRule(**dict(zip(columns, row, strict=True)))) for row in rows]
    return [entry.described.rule for entry in entries if entry.described], [
        entry for entry in entries if not entry.described
    ]


def entry_of(row: StoredRule) -> Entry:
    """The row with what its text says."""
    try:
        return Entry(row, _parsed(row.content, row.name, row.version, row.scope, known_sources()))
    except UnreadableProfile as fault:
        return Entry(row, None, fault)


def rule_drafted(text: str, *, name: str, version: int, scope: Scope) -> Rule:
    """The rule that the text would be, were it saved. Raises UnreadableProfile, which names the line."""
    return rule_read(text, name=name, version=version, scope=scope, sources=known_sources()).rule


def rule_described(text: str) -> Described:
    """What the text says, whoever it is for. Raises UnreadableProfile, which names the line."""
    return rule_read(text, name="draft", version=1, scope="everywhere", sources=known_sources())


def fault_of(text: str) -> UnreadableProfile | None:
    """Why the text is no rule; None: it is one."""
    try:
        rule_described(text)
    except UnreadableProfile as fault:
        return fault
    return None


@lru_cache(maxsize=1_024)
def _parsed(text: str, name: str, version: int, scope: Scope, known: tuple[str, ...]) -> Described:
    return rule_read(text, name=name, version=version, scope=scope, sources=known)
