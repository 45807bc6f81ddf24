"""The knowledge graph of an agent consists of entities and of relations between them."""

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models

from memories.embeddings.active_model import SLOTS
from memories.models.agent_item import AgentItem, newest_first_index, sealed_index, unique_external_id
from memories.models.embedding import Embedded
from memories.models.memory import UNIT_RANGE
from teams.sealing.fields import SealedJson
from teams.sealing.names import SealedName, SealedNames


class Entity(Embedded, AgentItem):
    """An entity is something that an agent knows by name. `salience` is 0 to 1.

    `names` holds the name and aliases as queries are matched against them: lower case, single spaces.
    """

    ref_kind = "entity"
    context_fields = frozenset({"type", "name", "properties"})
    is_announced = True

    type = models.CharField(max_length=60)
    name = SealedName(max_length=200)
    aliases = SealedNames(SealedName(max_length=200), default=list, blank=True)
    names = SealedNames(default=list, editable=False)
    properties = SealedJson(default=dict, blank=True)
    salience = models.FloatField(default=0.5, validators=UNIT_RANGE)

    class Meta:
        db_table = "entities"
        constraints = [
            unique_external_id("entity"),
            models.UniqueConstraint(fields=["agent", "type", "name"], name="entity_once"),
            models.CheckConstraint(condition=models.Q(salience__range=(0, 1)), name="entity_unit_ranges"),
        ]
        indexes = [
            newest_first_index("entity"),
            sealed_index("entity"),
            models.Index(fields=["agent", "-salience", "id"], name="entity_agent_salient"),
            GinIndex(fields=["names"], name="entity_names"),
        ]

    def __str__(self) -> str:
        return str(self.name)

    @property
    def said(self) -> str:
        """Return the text that the entity is embedded by: names, type and properties."""
        names = ", ".join([self.name, *self.aliases])
        properties = "".join(f"\n{name}: {value}" for name, value in self.properties.items())
        return f"{names} ({self.type}){properties}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.names = names_in_queries(self.name, self.aliases)
        super().save(*args, **kwargs)


def names_in_queries(name: str, aliases: list[str]) -> list[str]:
    """Return the normalised name and aliases of an entity, by which a query may mention it, sorted."""
    return sorted({" ".join(form.lower().split()) for form in (name, *aliases)} - {""})


SLOTS_OF_ENDS = tuple(f"{end}__{slot}" for end in ("source", "target") for slot in SLOTS)
"""The vector columns of both entities of a relation, to be deferred: no page shows them."""


class Relation(AgentItem):
    """A relation says how one entity of an agent is related to another. `weight` is 0 to 1."""

    ref_kind = "relation"
    context_fields = frozenset({"type"})

    source = models.ForeignKey(
        Entity, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="relations_out"
    )
    target = models.ForeignKey(
        Entity, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="relations_in"
    )
    type = SealedName(max_length=60)
    weight = models.FloatField(default=0.5, validators=UNIT_RANGE)
    directed = models.BooleanField(default=True)

    class Meta:
        db_table = "relations"
        constraints = [
            unique_external_id("relation"),
            models.UniqueConstraint(fields=["source", "type", "target"], name="relation_once"),
            models.CheckConstraint(condition=models.Q(weight__range=(0, 1)), name="relation_unit_ranges"),
        ]
        indexes = [
            newest_first_index("relation"),
            sealed_index("relation"),
            models.Index(fields=["source", "-weight"], name="relation_source"),
            models.Index(fields=["target", "-weight"], name="relation_target"),
            # With what the walk through the graph needs, so that it reads the strongest relations from the index alone.
            models.Index(
                fields=["agent", "-weight"],
                include=["source", "target", "id", "sensitivity"],
                name="relation_agent_strongest",
            ),
        ]
