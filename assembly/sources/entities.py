"""This source returns entities: those that the query mentions, then those of the highest salience."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from assembly.engine.item_formats import format_entity
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, entity_score, keyword_share, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import (
    GatherContext,
    MentionedEntity,
    SourceResult,
    candidates_for,
    entity_labels,
    forms_for,
    origin_of,
)
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_text, open_texts, seal_names
from memories.models import Entity
from teams.sealing.fields import open_json
from teams.sensitivity import DEFAULT_LEVEL

SALIENT_LIMIT = 10
"""The number of salient entities (seed: queryEntities, "getSalient(10)")."""
MENTIONED_LIMIT = 50
"""The maximum number of entities that a query can mention."""


# Django would make an expression of each name, which takes longer than the search.
MENTIONS = """
SELECT id, type, name FROM entities
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND names && string_to_array(%(names)s, chr(10))
    AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
ORDER BY salience DESC, id LIMIT %(limit)s
"""
MENTIONS_AMONG_SEALED = f"""
({MENTIONS}) UNION ALL SELECT NULL, NULL, NULL WHERE EXISTS (
    SELECT FROM entities WHERE agent_id = %(agent)s AND sensitivity > {int(DEFAULT_LEVEL)}
        AND sensitivity <= %(clearance)s
)
"""  # noqa: S608 - only constants are put in
"""The same, with a row of NULL if there are entities above internal, whose names may be sealed."""
NEARBY_LIMIT = 20
"""The maximum number of entities that have a missing name, and of their neighbours."""
# A relation to an entity above the clearance leads nowhere.
NEARBY = """
WITH named AS (
    SELECT id FROM entities
    WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
        AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
        AND (names && %(sealed)s::text[]
            OR EXISTS (SELECT FROM unnest(names) AS own, unnest(%(names)s::text[]) AS missing
                WHERE position(' ' || missing || ' ' IN ' ' || own || ' ') > 0))
    ORDER BY salience DESC, id LIMIT %(limit)s
), beside AS (
    SELECT target_id AS id, weight FROM relations JOIN named ON source_id = named.id
        WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
    UNION ALL
    SELECT source_id, weight FROM relations JOIN named ON target_id = named.id
        WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
), neighbours AS (
    SELECT id FROM entities JOIN beside USING (id)
    WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND id NOT IN (SELECT id FROM named)
    GROUP BY id ORDER BY max(weight) DESC, id LIMIT %(limit)s
)
SELECT id FROM named UNION ALL SELECT id FROM neighbours
"""
# The ids are collected first, because PostgreSQL would read all of the agent's entities for an OR.
SELECTED = """
SELECT id, version, type, name, names, properties, salience, updated, origin, sensitivity FROM entities
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
    AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s)) AND id = ANY(%(mentioned)s::uuid[] || ARRAY(
        SELECT id FROM entities WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
            AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
        ORDER BY salience DESC, id LIMIT %(salient)s
    ))
ORDER BY salience DESC, id
"""


class _EntityRow(NamedTuple):
    """A row of SELECTED."""

    id: UUID
    version: int
    type: str
    name: str
    names: Sequence[str]
    properties: Mapping[str, Any]
    salience: float
    updated: datetime.datetime
    origin: str
    sensitivity: int


def find_mentions(gather_context: GatherContext, names: Sequence[str]) -> tuple[MentionedEntity, ...]:
    """Return the entities that have one of the names (lower case, single spaces), the most salient first.

    If the agent has entities above internal, and the clearance for them, the sealed forms of the names are searched for
    as well, by a second statement.
    """
    types = gather_context.filters.entity_types
    parameters = {
        "agent": gather_context.agent.pk,
        "clearance": gather_context.clearances.agent,
        "names": "\n".join(names),
        "types": None if types is None else sorted(types),
        "limit": gather_context.raised(MENTIONED_LIMIT),
    }
    if gather_context.clearances.agent <= DEFAULT_LEVEL:
        return tuple(MentionedEntity(*row) for row in run_statement(Statement(MENTIONS, parameters)))
    found = run_statement(Statement(MENTIONS_AMONG_SEALED, parameters))
    if found and found[-1][0] is None:
        forms = [*names, *seal_names(names, gather_context.agent.pk)]
        found = run_statement(Statement(MENTIONS, {**parameters, "names": "\n".join(forms)}))
    return tuple(MentionedEntity(id_, kind, open_text(name)) for id_, kind, name in found)


def find_nearby(gather_context: GatherContext, names: Sequence[str]) -> tuple[UUID, ...]:
    """Return the ids of the entities of which a name has one of these names (lower case, single spaces) as whole words,
    and of their neighbours by the strongest relations. Sealed names are found as a whole alone.
    """
    types = gather_context.filters.entity_types
    parameters = {
        "agent": gather_context.agent.pk,
        "clearance": gather_context.clearances.agent,
        "names": list(names),
        "sealed": forms_for(gather_context, Entity.objects, names)[len(names) :],
        "types": None if types is None else sorted(types),
        "limit": NEARBY_LIMIT,
    }
    return tuple(id_ for (id_,) in run_statement(Statement(NEARBY, parameters)))


def entities(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the mentioned entities and the most salient ones, each once."""
    mentioned = {mention.id for mention in gather_context.mentioned}
    types = gather_context.filters.entity_types
    parameters = {
        "agent": gather_context.agent.id,
        "clearance": gather_context.clearances.agent,
        "types": None if types is None else sorted(types),
        "mentioned": [*mentioned, *gather_context.nearby],
        "salient": gather_context.raised(SALIENT_LIMIT),
    }
    rows = [_EntityRow(*row) for row in run_statement(Statement(SELECTED, parameters))]
    found = [
        entity._replace(
            name=open_text(entity.name), names=open_texts(entity.names), properties=open_json(entity.properties)
        )
        for entity in rows
    ]

    def candidate(section: Section, entity: _EntityRow) -> Candidate:
        return _candidate(gather_context, section, entity, mentioned=entity.id in mentioned)

    limit = gather_context.raised(MENTIONED_LIMIT) + gather_context.raised(SALIENT_LIMIT) + len(gather_context.nearby)
    return candidates_for(sections, found, limit, candidate, full=gather_context.raised(SALIENT_LIMIT))


def _candidate(gather_context: GatherContext, section: Section, entity: _EntityRow, *, mentioned: bool) -> Candidate:
    text = format_entity(kind=entity.type, name=entity.name, properties=entity.properties)
    share = keyword_share(text, gather_context.signals.keywords)
    return Candidate(
        ref=Entity.ref_of(entity.id, entity.version),
        section=section.key,
        text=text,
        kind=entity.type,
        occurred_at=entity.updated,
        score=entity_score(entity.salience, mentioned=mentioned),
        measures=candidate_measures(
            recency=recency_score(gather_context.age(entity.updated)),
            relevance=1.0 if mentioned else share,
            salience=entity.salience,
            mentioned=mentioned,
        ),
        labels=entity_labels(entity.names, entity.properties),
        origin=origin_of(entity),
        sensitivity=entity.sensitivity,
    )
