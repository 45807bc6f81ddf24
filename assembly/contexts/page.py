"""`ContextPage` holds what the pages of one context share: its record, its text and the links of its items."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.access import assembly_for
from assembly.contexts.exact_text import MAX_EXCERPT_CHARACTERS, NEAR_END, Run, TextExcerpt, TextPart, TextSection
from assembly.contexts.items import ItemView, ItemViews, headline
from assembly.contexts.links import ItemLinks, item_links
from assembly.contexts.list_presentation import outcome_tags
from assembly.models import Assembly
from assembly.models.encryption import RecordErased, erasure_sentence
from assembly.records.item_titles import short_title
from assembly.records.reader import RecordDamaged, StoredAssembly, content_of, load_record
from teams.access import principal_of
from teams.principal import Principal

OUT_SHOWN = 8
"""Number of truncated and excluded items on the summary; the tab of items has all."""
FULLY_SHOWN_CHARACTERS = MAX_EXCERPT_CHARACTERS - NEAR_END
"""Items that begin before this character are always within the first part of the text."""


@dataclass(frozen=True)
class ItemAddresses:
    """The addresses at which one context's items are shown, by position of their decisions."""

    told: StoredAssembly

    def in_list(self, position: int) -> str:
        """Return the address of the list of items with this item selected."""
        return f"{self._list}?item={position}#item-{position}"

    def why(self, position: int) -> str:
        """Return the address of the page that says why the item is in the context or not."""
        return f"{self._why}?ref={quote(self.told.decisions[position].ref, safe='')}"

    def text_position_address(self, position: int) -> str:
        """Return the address of the item in the exact text; empty if the item is not included."""
        start = self.told.decisions[position].start
        if start is None:
            return ""
        if start < FULLY_SHOWN_CHARACTERS:
            return f"{self._text}#text-{position}"
        return f"{self._text}?begin={start}#text-{position}"

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


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item with the address of the page of its reason and of its place in the text (empty if not included)."""

    item: ItemView
    reason_address: str
    excerpt_address: str


@dataclass(frozen=True, slots=True)
class LinkedPart:
    """A part of the exact text with links to its item in the lists and to the version that it came from."""

    runs: tuple[Run, ...]
    position: int | None
    begins: bool
    item_address: str = ""
    item_label: str = ""
    source_address: str = ""
    source_label: str = ""


@dataclass(frozen=True)
class ContextPage:
    """One context for its pages; its items and its exact text are loaded and linked on first use."""

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
        """The exact text of the context; None if its record is damaged, or if texts were erased."""
        try:
            return content_of(self.told)
        except (RecordDamaged, RecordErased):
            return None

    def listed(self, positions: list[int]) -> list[ListedItem]:
        """Return the items at these positions, each with its links."""
        of = self.places
        return [
            ListedItem(item, of.why(item.position), of.text_position_address(item.position))
            for item in self.items.at(positions)
        ]

    def linked(self, shown: TextExcerpt) -> list[tuple[TextSection, list[LinkedPart]]]:
        """Return the sections of an excerpt of the text, each with its linked parts."""
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
            item_label=_("Explain: %(title)s") % title,
            source_address=self.items.address(position),
            source_label=_("Open its version: %(title)s") % title,
        )


TABS = (
    ("summary", "context", gettext_lazy("Summary")),
    ("text", "context_exact", gettext_lazy("Text")),
    ("items", "context_items", gettext_lazy("Items")),
    ("rules", "context_rules_and_sources", gettext_lazy("Rules and sources")),
    ("json", "context_record", gettext_lazy("JSON")),
)
"""The tabs of a context: key, URL name and label."""


def head_facts(page: ContextPage) -> dict[str, Any]:
    """Return the template variables of the head that all tabs of a context share."""
    assembly = page.assembly
    return {
        "assembly": assembly,
        "erased": erasure_sentence(page.told.erased),
        "is_masked": page.told.inputs.profile.privacy_mode != "off",
        "agent_slug": page.whereabouts.agent,
        "team_slug": page.whereabouts.team,
        "headline": headline(assembly, page.told.decisions),
        "badges": outcome_tags(assembly),
        "tabs": [
            {"key": key, "address": reverse(name, args=[assembly.id]), "label": label} for key, name, label in TABS
        ],
    }


def load_context_page(request: HttpRequest, id_: UUID) -> ContextPage:
    """Return the page data of a context that the user may see. Raises NotFound and RecordDamaged."""
    told = record_for(principal_of(request), id_)
    return ContextPage(told, item_links(request, told.assembly))


def record_for(principal: Principal, id_: UUID) -> StoredAssembly:
    """Return the record of a context that the principal may see.

    Raises NotFound, and RecordDamaged if the record cannot be read.
    """
    return load_record(assembly_for(principal, id_))
