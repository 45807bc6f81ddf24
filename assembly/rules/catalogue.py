"""The catalogue parses stored rules; it says which line of a text is wrong."""

from functools import lru_cache, partial

from assembly.engine.rules import Rule, Scope
from assembly.models import StoredRule
from assembly.profiles.catalogue import known_sources
from assembly.profiles.documents import DocumentEntry, parsed_or_fault
from assembly.profiles.yaml_reader import UnreadableDocument
from assembly.rules.parser import DescribedRule, parse_rule


class RuleEntry(DocumentEntry[StoredRule, DescribedRule]):
    """A rule as it stands."""

    __slots__ = ()


def entry_of_row(row: StoredRule) -> RuleEntry:
    """The row with what its text says."""
    parse = partial(_parse_rule, row.content, row.name, row.version, row.scope, known_sources())
    return RuleEntry(row, *parsed_or_fault(parse))


def parse_draft_rule(text: str, *, name: str, version: int, scope: Scope) -> Rule:
    """The rule that the text would be, were it saved. Raises UnreadableDocument, which names the line."""
    return parse_rule(text, name=name, version=version, scope=scope, sources=known_sources()).rule


def parse_described_rule(text: str) -> DescribedRule:
    """What the text says, whoever it is for. Raises UnreadableDocument, which names the line."""
    return parse_rule(text, name="draft", version=1, scope="everywhere", sources=known_sources())


def rule_fault(text: str) -> UnreadableDocument | None:
    """Why the text is no rule; None: it is one."""
    return parsed_or_fault(lambda: parse_described_rule(text))[1]


@lru_cache(maxsize=1_024)
def _parse_rule(text: str, name: str, version: int, scope: Scope, known: tuple[str, ...]) -> DescribedRule:
    return parse_rule(text, name=name, version=version, scope=scope, sources=known)
