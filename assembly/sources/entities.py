"""What the agent knows by name: what the query mentions, and what matters most."""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from assembly.engine.item_formats import format_entity
from assembly.engine.profile import Section
from assembly.engine.scoring import entity_score, keyword_share, measures, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Mention, Situation, entity_labels, offered
from memories.models import Entity

SALIENT = 10
"""Seed: queryEntities, "getSalient(10)"."""
MENTIONED = 50
"""Most entities that one query can mention."""


def mentions(situation: Situation, names: Sequence[str]) -> tuple[Mention, ...]:
    """The entities that have one of the names (lower case, single spaces), the most salient first."""
    found = _wanted(situation).filter(names__overlap=list(names)).order_by("-salience", "id")
    rows = found.values_list("id", "type", "name")[: situation.raised(MENTIONED)]
    return tuple(Mention(*row) for row in rows)


def entities(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The mentioned entities together with the most salient, each once."""
    mentioned = {mention.id for mention in situation.mentioned}
    wanted = _wanted(situation)
    salient = wanted.order_by("-salience", "id").values("id")[: situation.raised(SALIENT)]
    found = wanted.filter(Q(id__in=salient) | Q(id__in=mentioned)).order_by("-salience", "id")

    def candidate(section: Section, entity: Entity) -> Candidate:
        return _candidate(situation, section, entity, mentioned=entity.id in mentioned)

    columns = ("id", "version", "type", "name", "names", "properties", "salience", "updated")
    limit = situation.raised(MENTIONED) + situation.raised(SALIENT)
    return offered(sections, found.only(*columns), limit, candidate)


def _wanted(situation: Situation) -> QuerySet[Entity]:
    entities = Entity.objects.filter(agent=situation.agent)
    types = situation.filters.entity_types
    return entities if types is None else entities.filter(type__in=types)


def _candidate(situation: Situation, section: Section, entity: Entity, *, mentioned: bool) -> Candidate:
    text = format_entity(kind=entity.type, name=entity.name, properties=entity.properties)
    share = keyword_share(text, situation.signals.keywords)
    return Candidate(
        ref=entity.ref,
        section=section.key,
        text=text,
        kind=entity.type,
        occurred_at=entity.updated,
        score=entity_score(entity.salience, mentioned=mentioned),
        measures=measures(
            recency=recency_score(situation.age(entity.updated)),
            relevance=1.0 if mentioned else share,
            salience=entity.salience,
            mentioned=mentioned,
        ),
        labels=entity_labels(entity.names, entity.properties),
    )
