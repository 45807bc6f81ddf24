"""What is done to new and changed things before they are saved: check what they name, compute what follows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import ForeignKey

from memories.models.kept import Kept
from memories.services.flaws import Flaw, Unfit

Prepare = TypeVar("Prepare", bound=Callable[[Mapping[int, Any]], Iterable[Flaw]])
_preparations: dict[type[Kept], Callable[[Mapping[int, Any]], Iterable[Flaw]]] = {}


def prepares(model: type[Kept]) -> Callable[[Prepare], Prepare]:
    """Registers what prepares the things of a model. It gets them by their places and yields their flaws."""

    def register(prepare: Prepare) -> Prepare:
        _preparations[model] = prepare
        return prepare

    return register


def prepare(agent_id: UUID, things: Mapping[int, Kept]) -> None:
    """Make the things ready to be saved. Raises Unfit, which names every flaw that was found."""
    flaws: list[Flaw] = []
    for model in {type(thing) for thing in things.values()}:
        flaws += _not_there(agent_id, model, things)
        if model in _preparations:
            flaws += _preparations[model](things)
    if flaws:
        raise Unfit(sorted(flaws, key=lambda flaw: flaw.place))


def _not_there(agent_id: UUID, model: type[Kept], things: Mapping[int, Kept]) -> Iterator[Flaw]:
    """A flaw for everything that is named by its id, but is no thing of the same agent."""
    for field in model._meta.fields:  # noqa: SLF001 - Django's documented introspection
        if not isinstance(field, ForeignKey) or not issubclass(field.related_model, Kept):
            continue
        named = {place: id_ for place, thing in things.items() if (id_ := getattr(thing, field.attname)) is not None}
        if not named:
            continue
        rows = field.related_model._default_manager.filter(agent_id=agent_id, pk__in=set(named.values()))  # noqa: SLF001
        there = set(rows.values_list("pk", flat=True))
        noun = field.related_model._meta.verbose_name  # noqa: SLF001
        for place, id_ in named.items():
            if id_ not in there:
                yield Flaw(place, field.name, f"The agent has no {noun} with this id. Use the id of one that it has.")
