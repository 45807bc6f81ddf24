"""Where, among the pages of one context, an item is listed and where it stands in the text. Pure."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from django.urls import reverse

from assembly.recorded import Recorded
from assembly.views.exact_text import NEAR_END, STRETCH
from assembly.views.items import included, left_out

IN_SHOWN, OUT_SHOWN = 20, 8
"""So many items of each kind stand on the page of a context; the others follow when they are asked for."""
SURELY_SHOWN = STRETCH - NEAR_END
"""What begins before this character of the text stands on the page of the context."""


@dataclass(frozen=True)
class Places:
    """The addresses of items."""

    told: Recorded

    def in_list(self, position: int) -> str:
        """Of the item where it is listed: on the page of the context, or further on in the list of all that is in."""
        if position in self._on_page:
            return f"{self._page}#item-{position}"
        return f"{self._list}?which=in&at={position}#item-{position}"

    def why(self, position: int) -> str:
        """Of the page that says why the item is in or not."""
        return f"{self._why}?ref={quote(self.told.decisions[position].ref, safe='')}"

    def in_text(self, position: int) -> str:
        """Of the item in the exact text; empty for what is not in."""
        start = self.told.decisions[position].start
        if start is None:
            return ""
        if start < SURELY_SHOWN:
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
        return {*included(self.told)[:IN_SHOWN], *left_out(self.told)[:OUT_SHOWN]}
