"""What the agent knows by name: what the query mentions, and what matters most."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from assembly.engine.item_formats import format_entity
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, entity_score, keyword_share, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, MentionedEntity, SourceResult, candidates_for, entity_labels
from memories.models import Entity

SALIENT_LIMIT = 10
"""Seed: queryEntities, "getSalient(10)"."""
MENTIONED_LIMIT = 50
"""Most entities that one query can mention."""


def find_mentions(situation: GatherContext, names: Sequence[str]) -> tuple[MentionedEntity, ...]:
    """The entities that have one of the names (lower case, single spaces), the most salient first."""
    found = _selected_entities(situation).filter(names__overlap=list(names)).order_by("-salience", "id")
    rows = found.values_list("id", "type", "name")[: situation.raised(MENTIONED_LIMIT)]
    return tuple(MentionedEntity(*row) for row in rows)


def entities(situation: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """The mentioned entities together with the most salient, each once."""
    mentioned = {mention.id for mention in situation.mentioned}
    wanted = _selected_entities(situation)
    salient = wanted.order_by("-salience", "id").values("id")[: situation.raised(SALIENT_LIMIT)]
    found = wanted.filter(Q(id__in=salient) | Q(id__in=mentioned)).order_by("-salience", "id")

    def candidate(section: Section, entity: Entity) -> Candidate:
        return _candidate(situation, section, entity, mentioned=entity.id in mentioned)

    columns = ("id", "version", "type", "name", "names", "properties", "salience", "updated")
    limit = situation.raised(MENTIONED_LIMIT) + situation.raised(SALIENT_LIMIT)
    return candidates_for(sections, found.only(*columns), limit, candidate)


def _selected_entities(situation: GatherContext) -> QuerySet[Entity]:
    entities = Entity.objects.filter(agent=situation.agent)
    types = situation.filters.entity_types
    return entities if types is None else entities.filter(type__in=types)


def _candidate(situation: GatherContext, section: Section, entity: Entity, *, mentioned: bool) -> Candidate:
    text = format_entity(kind=entity.type, name=entity.name, properties=entity.properties)
    share = keyword_share(text, situation.signals.keywords)
    return Candidate(
        ref=entity.ref,
        section=section.key,
        text=text,
        kind=entity.type,
        occurred_at=entity.updated,
        score=entity_score(entity.salience, mentioned=mentioned),
        measures=candidate_measures(
            recency=recency_score(situation.age(entity.updated)),
            relevance=1.0 if mentioned else share,
            salience=entity.salience,
            mentioned=mentioned,
        ),
        labels=entity_labels(entity.names, entity.properties),
    )
