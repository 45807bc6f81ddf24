"""This module finds an agent's patterns that apply to a query (seed "Context Assembly Specification")."""

from collections.abc import Collection

from agents.models import Agent
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


def matching_patterns(
    *, agent: Agent, words: Collection[str], intent: str, entity_types: Collection[str], limit: int
) -> list[Pattern]:
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
    return list(Pattern.objects.raw(MATCHING, parameters))
