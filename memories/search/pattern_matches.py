"""This module finds an agent's patterns that apply to a query (seed "Context Assembly Specification")."""

import datetime
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from agents.models import Agent
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_text
from memories.models import Pattern
from teams.sensitivity import owner_clearance

# A pattern that was never applied has no success rate and sorts like one that always failed.
MATCHING = """
SELECT id, version, name, keywords, intents, entity_types, guidance, successes, applications, updated, origin,
    sensitivity
FROM patterns
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND (
    EXISTS (SELECT 1 FROM unnest(keywords) AS keyword WHERE lower(keyword) = ANY(%(words)s::text[]))
    OR %(intent)s = ANY(intents)
    OR entity_types && %(types)s::varchar[]
)
ORDER BY coalesce(successes::float8 / nullif(applications, 0), 0) DESC, applications DESC, id
LIMIT %(limit)s
"""


class MatchingPattern(NamedTuple):
    """A row of MATCHING."""

    id: UUID
    version: int
    name: str
    keywords: Sequence[str]
    intents: Sequence[str]
    entity_types: Sequence[str]
    guidance: str
    successes: int
    applications: int
    updated: datetime.datetime
    origin: str
    sensitivity: int

    @property
    def ref(self) -> str:
        return Pattern.ref_of(self.id, self.version)


def matching_patterns(
    *, agent: Agent, words: Collection[str], intent: str, entity_types: Collection[str], limit: int
) -> list[MatchingPattern]:
    """Return the patterns that have one of the words (lower case) among their keywords, the intent or an entity type.

    The most successful come first.
    """
    parameters = {
        "agent": agent.pk,
        "clearance": owner_clearance("agent_id", agent.pk),
        "words": list(words),
        "intent": intent,
        "types": list(entity_types),
        "limit": limit,
    }
    found = [MatchingPattern(*row) for row in run_statement(Statement(MATCHING, parameters))]
    return [one._replace(name=open_text(one.name), guidance=open_text(one.guidance)) for one in found]
