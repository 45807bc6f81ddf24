"""What the pages of one context share: the record, its exact text, and how its items are worded and found."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from assembly.access import assembly_for
from assembly.models import Assembly
from assembly.recorded import Recorded, recorded
from assembly.replay import RecordDamaged, content_of
from assembly.views.addresses import Whereabouts, whereabouts
from assembly.views.exact_text import Piece, Run, Stretch, stretch
from assembly.views.items import Item, Items
from assembly.views.places import Places
from teams.views.asking import asking


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item, and where it stands in the text: empty for what is not in."""

    item: Item
    text_address: str


@dataclass(frozen=True, slots=True)
class LinkedPart:
    """A part of the text with where it leads: to its item in the lists, and to the version that it came from."""

    runs: tuple[Run, ...]
    position: int | None
    begins: bool
    title: str = ""
    item_address: str = ""
    source_address: str = ""


@dataclass(frozen=True, slots=True)
class ContextPage:
    """One context, open for reading. `content` is its exact text; None: the record does not give it any more."""

    told: Recorded
    content: str | None
    whereabouts: Whereabouts
    items: Items
    places: Places
    first: Stretch | None
    """What the page of the context shows of the text."""

    @property
    def assembly(self) -> Assembly:
        return self.told.assembly

    def listed(self, positions: list[int]) -> list[ListedItem]:
        """The items at these positions."""
        return [ListedItem(item, self.places.in_text(item.position)) for item in self.items.at(positions)]

    def linked(self, shown: Stretch) -> list[tuple[Piece, list[LinkedPart]]]:
        """The sections of a stretch, each with its parts and where these lead."""
        return [(piece, [self._linked(part) for part in piece.parts]) for piece in shown.pieces]

    def _linked(self, part: Any) -> LinkedPart:
        if part.position is None or not part.begins:
            return LinkedPart(part.runs, part.position, part.begins)
        return LinkedPart(
            part.runs,
            part.position,
            part.begins,
            self.items.title(part.position),
            self.places.in_list(part.position),
            self.items.address(part.position),
        )


def page_of_context(request: HttpRequest, id_: UUID) -> ContextPage:
    """The context, read once, if who asks may see its agent and its team. Raises NotFound."""
    told = recorded(assembly_for(asking(request), id_))
    content = _content(told)
    where = whereabouts(request, told.assembly)
    first = None if content is None else stretch(told.assembly, told.decisions, content)
    return ContextPage(told, content, where, Items(told, where), Places(told, first), first)


def _content(told: Recorded) -> str | None:
    try:
        return content_of(told)
    except RecordDamaged:
        return None
