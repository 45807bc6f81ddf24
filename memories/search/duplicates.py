"""This module finds memories of an owner that seem to say the same, by comparing each of the newest with each."""

from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from config.db.statements import fetch_rows
from memories.embeddings.active_model import SLOTS, read_active_model
from memories.lifecycle.listed_texts import listed
from memories.models import Memory
from memories.search.owner_partition import within
from memories.services import Owner
from teams.sensitivity import owner_clearance

COMPARED_ROWS = 400
"""The number of newest current memories that are compared: 80,000 comparisons take as long as a page may."""
MIN_SIMILARITY = 0.9
"""The least cosine of a pair. Texts that differ by a number or a name are often as similar, so a person decides."""
MAX_PAIRS = 12

PAIRS = """
WITH compared AS MATERIALIZED (
    SELECT id, {slot} AS vector FROM memories
    WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s
        AND superseded_by_id IS NULL AND retired_because = '' AND {here}
        AND {slot} IS NOT NULL
    ORDER BY coalesce(occurred_at, created) DESC LIMIT %(compared)s
)
SELECT one.id, other.id, 1 - (one.vector <=> other.vector) AS similarity
FROM compared AS one JOIN compared AS other ON one.id < other.id AND one.vector <=> other.vector <= %(distance)s
ORDER BY similarity DESC, one.id, other.id LIMIT %(shown)s
"""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two memories, the older one first, and the cosine of their embeddings."""

    one: Memory
    other: Memory
    similarity: float


def likely_duplicates(owner: Owner) -> list[DuplicatePair]:
    """Return the most similar pairs of the owner's newest memories, the most similar first, at most MAX_PAIRS."""
    space = read_active_model()
    column = "agent_id" if isinstance(owner, Agent) else "team_id"
    parameters: dict[str, Any] = {
        "owner": owner.pk,
        "clearance": owner_clearance(column, owner.pk),
        "model": space.model,
        "compared": COMPARED_ROWS,
        "distance": 1 - MIN_SIMILARITY,
        "shown": MAX_PAIRS,
    }
    rows = fetch_rows(PAIRS.format(owner=column, slot=space.slot, here=space.here, **within()), parameters)
    found = listed(Memory.objects.defer(*SLOTS, "search")).in_bulk({id_ for row in rows for id_ in row[:2]})
    return [
        DuplicatePair(found[one], found[other], similarity)
        for one, other, similarity in rows
        if {one, other} <= set(found)
    ]
