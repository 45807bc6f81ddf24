"""This source returns relations of the knowledge graph, around the mentioned and the most salient entities."""

from collections.abc import Sequence

from assembly.engine.item_formats import format_relation
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, keyword_share, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, candidates_for, entity_labels, origin_of
from assembly.sources.entities import SALIENT_LIMIT
from memories.search.graph_walk import WalkedRelation, walk_relations

LIMIT = 120
"""The number of relations: more than the shipped profiles include, so that the record shows those that nearly were."""


def relations(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the strongest relations within the depth limit around the entities of the source `entities`."""
    limit = gather_context.row_limit(LIMIT, sections)
    found = walk_relations(
        agent=gather_context.agent,
        mentioned=[*(mention.id for mention in gather_context.mentioned), *gather_context.nearby],
        salient=gather_context.raised(SALIENT_LIMIT),
        types=gather_context.filters.entity_types,
        depth=gather_context.depth_limit,
        limit=limit,
    )
    return candidates_for(
        sections, found, limit, lambda section, relation: _candidate(gather_context, section, relation)
    )


def _candidate(gather_context: GatherContext, section: Section, relation: WalkedRelation) -> Candidate:
    text = format_relation(
        source=relation.source, kind=relation.type, target=relation.target, directed=relation.directed
    )
    return Candidate(
        ref=relation.ref,
        section=section.key,
        text=text,
        kind=relation.type,
        occurred_at=relation.updated,
        score=relation.weight,
        measures=candidate_measures(
            recency=recency_score(gather_context.age(relation.updated)),
            relevance=keyword_share(text, gather_context.signals.keywords),
            salience=relation.weight,
            weight=relation.weight,
            depth=relation.depth,
        ),
        labels=entity_labels((relation.source, relation.target), {}),
        origin=origin_of(relation),
        sensitivity=relation.sensitivity,
    )
