"""`ContextPage` holds what the pages of one context share: the record, its text, and the links of its items."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from assembly.access import assembly_for
from assembly.contexts.exact_text import MAX_EXCERPT_CHARACTERS, NEAR_END, Run, TextExcerpt, TextPart, TextSection
from assembly.contexts.items import ItemView, ItemViews, included_positions, left_out_positions
from assembly.contexts.links import ItemLinks, item_links
from assembly.models import Assembly
from assembly.records.item_titles import short_title
from assembly.records.reader import RecordDamaged, StoredAssembly, content_of, load_record
from teams.access import principal_of
from teams.principal import Principal

IN_SHOWN, OUT_SHOWN = 20, 8
"""So many items of each kind stand on the page of a context; the others follow when they are asked for."""
FULLY_SHOWN_CHARACTERS = MAX_EXCERPT_CHARACTERS - NEAR_END
"""What begins before this character of the text stands on the page of the context."""


@dataclass(frozen=True)
class ItemAddresses:
    """The addresses of items."""

    told: StoredAssembly

    def in_list(self, position: int) -> str:
        """Of the item where it is listed: on the page of the context, or further on in the list of all that is in."""
        if position in self._on_page:
            return f"{self._page}#item-{position}"
        return f"{self._list}?which=in&at={position}#item-{position}"

    def why(self, position: int) -> str:
        """Of the page that says why the item is in or not."""
        return f"{self._why}?ref={quote(self.told.decisions[position].ref, safe='')}"

    def text_position_address(self, position: int) -> str:
        """Of the item in the exact text; empty for what is not in."""
        start = self.told.decisions[position].start
        if start is None:
            return ""
        if start < FULLY_SHOWN_CHARACTERS:
            return f"{self._page}#text-{position}"
        return f"{self._text}?begin={start}#text-{position}"

    @cached_property
    def _page(self) -> str:
        return self._address("context")

    @cached_property
    def _list(self) -> str:
        return self._address("context_items")

    @cached_property
    def _why(self) -> str:
        return self._address("context_why_not")

    @cached_property
    def _text(self) -> str:
        return self._address("context_exact")

    def _address(self, page: str) -> str:
        return reverse(page, args=[self.told.assembly.id])

    @cached_property
    def _on_page(self) -> set[int]:
        return {*included_positions(self.told)[:IN_SHOWN], *left_out_positions(self.told)[:OUT_SHOWN]}


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item, where its page is that says why, and where it stands in the text: empty for what is not in."""

    item: ItemView
    reason_address: str
    excerpt_address: str


@dataclass(frozen=True, slots=True)
class LinkedPart:
    """A part of the text with where it leads: to its item in the lists, and to the version that it came from."""

    runs: tuple[Run, ...]
    position: int | None
    begins: bool
    item_address: str = ""
    item_label: str = ""
    source_address: str = ""
    source_label: str = ""


@dataclass(frozen=True)
class ContextPage:
    """One context, open for reading: its items and its exact text are worded and linked as they are asked for."""

    told: StoredAssembly
    whereabouts: ItemLinks

    @property
    def assembly(self) -> Assembly:
        return self.told.assembly

    @cached_property
    def items(self) -> ItemViews:
        return ItemViews(self.told, self.whereabouts)

    @cached_property
    def places(self) -> ItemAddresses:
        return ItemAddresses(self.told)

    @cached_property
    def content(self) -> str | None:
        """The exact text; None: the record does not give it any more."""
        try:
            return content_of(self.told)
        except RecordDamaged:
            return None

    def listed(self, positions: list[int]) -> list[ListedItem]:
        """The items at these positions."""
        of = self.places
        return [
            ListedItem(item, of.why(item.position), of.text_position_address(item.position))
            for item in self.items.at(positions)
        ]

    def linked(self, shown: TextExcerpt) -> list[tuple[TextSection, list[LinkedPart]]]:
        """The sections of a stretch, each with its parts and where these lead."""
        return [(piece, [self._linked(part) for part in piece.parts]) for piece in shown.pieces]

    def _linked(self, part: TextPart) -> LinkedPart:
        position = part.position
        if position is None or not part.begins:
            return LinkedPart(part.runs, position, begins=False)
        title = {"title": short_title(self.items.title(position))}
        return LinkedPart(
            part.runs,
            position,
            begins=True,
            item_address=self.places.in_list(position),
            item_label=_("Why it is in: %(title)s") % title,
            source_address=self.items.address(position),
            source_label=_("The version that it came from: %(title)s") % title,
        )


def load_context_page(request: HttpRequest, id_: UUID) -> ContextPage:
    """The context, read once, if who asks may see its agent and its team. Raises NotFound and RecordDamaged."""
    told = record_for(principal_of(request), id_)
    return ContextPage(told, item_links(request, told.assembly))


def record_for(principal: Principal, id_: UUID) -> StoredAssembly:
    """What the record tells of the context. Raises NotFound, and RecordDamaged where it cannot be read any more."""
    return load_record(assembly_for(principal, id_))
