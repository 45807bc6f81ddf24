"""The catalogue parses stored rules; it says which line of a text is wrong."""

from dataclasses import dataclass
from functools import lru_cache

from assembly.engine.rules import Rule, Scope
from assembly.models import StoredRule
from assembly.profiles.catalogue import known_sources
from assembly.profiles.yaml_reader import UnreadableDocument
from assembly.rules.parser import DescribedRule, parse_rule


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
