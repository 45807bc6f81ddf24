"""Reading rules: those in force for an assembly, and those that people look at."""

from dataclasses import dataclass
from functools import lru_cache

from agents.models import Agent
from assembly.engine.rules import Rule, Scope
from assembly.models import StoredRule
from assembly.profiles.catalogue import known_sources
from assembly.profiles.yaml_reader import UnreadableDocument
from assembly.rules.parser import DescribedRule, parse_rule
from config.db.statements import Rows, Statement
from teams.models import Team


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule as it stands."""

    row: StoredRule
    described: DescribedRule | None
    """None: the text can no longer be read, say because a source is gone; `fault` says where."""
    fault: UnreadableDocument | None = None

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def description(self) -> str:
        return self.described.description if self.described else ""


# As StoredRuleQuerySet.in_force.
RULES_SQL = """
SELECT name, version, agent_id, team_id, content FROM rules
WHERE enabled AND (agent_id IS NULL AND team_id IS NULL OR agent_id = %(agent)s OR team_id = %(team)s) ORDER BY name
"""


def rules_statement(agent: Agent, team: Team | None) -> Statement:
    """The statement that reads the enabled rules for the agent in the team, for `parse_rules`."""
    return Statement(RULES_SQL, {"agent": agent.id, "team": team.id if team else None})


def parse_rules(rows: Rows) -> tuple[list[Rule], list[RuleEntry]]:
    """The rules in rows of `rules_statement`; and apart, those that cannot be read any more."""
    columns = ("name", "version", "agent_id", "team_id", "content")
    entries = [entry_of_row(StoredRule(**dict(zip(columns, row, strict=True)))) for row in rows]
    return [entry.described.rule for entry in entries if entry.described], [
        entry for entry in entries if not entry.described
    ]


def entry_of_row(row: StoredRule) -> RuleEntry:
    """The row with what its text says."""
    try:
        return RuleEntry(row, _parse_rule(row.content, row.name, row.version, row.scope, known_sources()))
    except UnreadableDocument as fault:
        return RuleEntry(row, None, fault)


def parse_draft_rule(text: str, *, name: str, version: int, scope: Scope) -> Rule:
    """The rule that the text would be, were it saved. Raises UnreadableProfile, which names the line."""
    return parse_rule(text, name=name, version=version, scope=scope, sources=known_sources()).rule


def parse_described_rule(text: str) -> DescribedRule:
    """What the text says, whoever it is for. Raises UnreadableProfile, which names the line."""
    return parse_rule(text, name="draft", version=1, scope="everywhere", sources=known_sources())


def rule_fault(text: str) -> UnreadableDocument | None:
    """Why the text is no rule; None: it is one."""
    try:
        parse_described_rule(text)
    except UnreadableDocument as fault:
        return fault
    return None


@lru_cache(maxsize=1_024)
def _parse_rule(text: str, name: str, version: int, scope: Scope, known: tuple[str, ...]) -> DescribedRule:
    return parse_rule(text, name=name, version=version, scope=scope, sources=known)
