"""Entities of an agent's graph: by which names and which meaning they are found."""

from collections.abc import Iterable, Mapping

from memories.directions import give_directions
from memories.models import Entity
from memories.models.graph import matched_names
from memories.services.flaws import Flaw
from memories.services.preparation import prepares


@prepares(Entity)
def prepare_entities(entities: Mapping[int, Entity]) -> Iterable[Flaw]:
    """Entities are found by their names and by the meaning of all that is known about them."""
    for entity in entities.values():
        entity.names = matched_names(entity.name, entity.aliases)
    give_directions(list(entities.values()))
    return ()
