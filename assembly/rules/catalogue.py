"""The catalogue parses stored rules, and names the line of an error."""

from functools import partial

from assembly.engine.rules import Rule, Scope
from assembly.models import StoredRule
from assembly.profiles.catalogue import known_sources
from assembly.profiles.documents import DocumentEntry, parsed_or_fault
from assembly.profiles.yaml_reader import UnreadableDocument
from assembly.rules.parser import DescribedRule, parse_rule
from config.caching.cached_function import cached_function

MAX_PARSED_BYTES = 4_000_000
PARSED_BYTES, PARSED_BYTES_PER_CHARACTER = 3_000, 5
"""Approximate bytes of memory of a parsed text with the text itself: in all, and for each character."""


class RuleEntry(DocumentEntry[StoredRule, DescribedRule]):
    """A rule as it is now."""

    __slots__ = ()


def entry_of_row(row: StoredRule) -> RuleEntry:
    """Return the row with its parsed text."""
    parse = partial(_parse_rule, row.content, row.name, row.version, row.scope, known_sources())
    return RuleEntry(row, *parsed_or_fault(parse))


def parse_draft_rule(text: str, *, name: str, version: int, scope: Scope) -> Rule:
    """Return the rule in an unsaved text. Raises UnreadableDocument, which names the line."""
    return parse_rule(text, name=name, version=version, scope=scope, sources=known_sources()).rule


def parse_described_rule(text: str) -> DescribedRule:
    """Return the rule in the text, for any owner. Raises UnreadableDocument, which names the line."""
    return parse_rule(text, name="draft", version=1, scope="everywhere", sources=known_sources())


def rule_fault(text: str) -> UnreadableDocument | None:
    """Return why the text is no rule; None if it is one."""
    return parsed_or_fault(lambda: parse_described_rule(text))[1]


def _rule_bytes(text: str, *_: object) -> int:
    return PARSED_BYTES + PARSED_BYTES_PER_CHARACTER * len(text)


@cached_function("parsed_rules", MAX_PARSED_BYTES, _rule_bytes)
def _parse_rule(text: str, name: str, version: int, scope: Scope, known: tuple[str, ...]) -> DescribedRule:
    return parse_rule(text, name=name, version=version, scope=scope, sources=known)
