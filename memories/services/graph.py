"""Entities of an agent's graph: by which names and which meaning they are found."""

from collections.abc import Iterable, Mapping

from memories.models import Entity
from memories.models.graph import matched_names
from memories.services.flaws import Flaw
from memories.services.preparation import give_directions, prepares


@prepares(Entity)
def prepare_entities(entities: Mapping[int, Entity]) -> Iterable[Flaw]:
    """Entities are found by their names and by the meaning of all that is known about them."""
    for entity in entities.values():
        entity.names = matched_names(entity.name, entity.aliases)
    give_directions({place: _said_of(entity) for place, entity in entities.items()}, entities)
    return ()


def _said_of(entity: Entity) -> str:
    names = ", ".join([entity.name, *entity.aliases])
    properties = "".join(f"\n{name}: {value}" for name, value in entity.properties.items())
    return f"{names} ({entity.type}){properties}"
