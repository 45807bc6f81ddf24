"""This is the tab of a context that lists its candidates: filtered, sorted, page by page, with a panel for one item."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.contexts.feedback_presentation import reached_states
from assembly.contexts.forms import FeedbackForm, ItemFilterForm
from assembly.contexts.items import included_positions, label_of_code, left_out_positions
from assembly.contexts.page import ContextPage, ListedItem, head_facts, load_context_page
from assembly.records.feedback import may_give_feedback
from assembly.records.reader import StoredAssembly
from config.http.errors import Invalid
from config.http.late_reads import may_be_late
from config.http.sorting import ColumnHead, SortableColumn, column_heads
from teams.access import principal_of

ITEMS_PER_PAGE = 50
MOST_DIGITS = 9

SortKey = Callable[[ContextPage, int], Any]
SORT_KEYS: Mapping[str, SortKey] = {
    "title": lambda page, position: page.items.title(position).casefold(),
    "section": lambda page, position: page.told.decisions[position].section,
    "outcome": lambda page, position: str(page.told.decisions[position].code),
    "tokens": lambda page, position: tokens_of(page.told, position),
    "score": lambda page, position: page.told.decisions[position].score or 0.0,
    "rank": lambda page, position: page.told.decisions[position].rank or 0,
}
"""The key by which each column sorts the items at these positions."""
COLUMNS = (
    SortableColumn("title", gettext_lazy("Item")),
    SortableColumn("section", gettext_lazy("Section"), "minor section"),
    SortableColumn("outcome", gettext_lazy("Outcome"), "outcome"),
    SortableColumn("tokens", gettext_lazy("Tokens"), "num", is_ascending=False),
    SortableColumn("score", gettext_lazy("Score"), "num minor", is_ascending=False),
    SortableColumn("rank", gettext_lazy("Rank"), "num minor"),
)


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A row of the table: an item, the address that selects it, and its tokens in full if it is excluded."""

    listed: ListedItem
    address: str
    tokens: int

    @property
    def item(self) -> Any:
        return self.listed.item


@may_be_late
def context_items(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the candidates of a context with the outcome of each, 50 at a time, and the reason of the selected one."""
    page = load_context_page(request, id_)
    form = filter_form(page.told, request.GET)
    found = filtered_positions(page, form.cleaned_data) if form.is_valid() else []
    selected = _selected(request, page.told)
    begin = _page_start(request, found, selected)
    shown = found[begin : begin + ITEMS_PER_PAGE]
    end = begin + len(shown)
    facts = {
        **head_facts(page),
        "form": form,
        "filtered": any(form[name].value() for name in form.fields if name != "sort"),
        "found": len(found),
        "first": begin + 1,
        "last": end,
        "columns": _columns(request, id_),
        "rows": [_row(request, page, listed) for listed in page.listed(shown)],
        "selected": page.listed([selected])[0] if selected is not None else None,
        "feedback_form": FeedbackForm() if may_give_feedback(principal_of(request), page.assembly) else None,
        "states": [] if selected is None else reached_states(page.told, selected),
        "next": _address(request, id_, begin=end) if end < len(found) else "",
        "previous": _address(request, id_, begin=max(0, begin - ITEMS_PER_PAGE)) if begin else "",
    }
    return render(request, "assembly/contexts/items.html", facts)


def filter_form(told: StoredAssembly, query: Mapping[str, str]) -> ItemFilterForm:
    """Return the item filter form with the sections and reason codes that occur in the context."""
    codes = {str(decision.code) for decision in told.decisions}
    labels = {code: label_of_code(code) for code in sorted(codes)}
    return ItemFilterForm(query, told=told, codes=labels)


def filtered_positions(page: ContextPage, wishes: Mapping[str, str]) -> list[int]:
    """Return the positions of the items that match the filters.

    Unless a column sorts them, included items alone are in the order of the text, all others in the order in which the
    engine decided.
    """
    told = page.told
    positions = {"in": included_positions, "out": left_out_positions}.get(wishes["which"], _all)(told)
    if section := wishes["section"]:
        positions = [position for position in positions if told.decisions[position].section == section]
    if code := wishes["code"]:
        positions = [position for position in positions if told.decisions[position].code == code]
    if words := wishes["q"].casefold().split():
        texts = told.inputs.candidates
        positions = [position for position in positions if _contains_words(texts[position].text, words)]
    if sort := wishes["sort"]:
        key = SORT_KEYS[sort.removeprefix("-")]
        positions.sort(key=lambda position: key(page, position), reverse=sort.startswith("-"))
    return positions


def tokens_of(told: StoredAssembly, position: int) -> int:
    """Return the tokens of an item in the context; its tokens in full if it is excluded."""
    decision = told.decisions[position]
    return decision.tokens if decision.included else decision.tokens_full


def _all(told: StoredAssembly) -> list[int]:
    return [*range(len(told.decisions))]


def _contains_words(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _selected(request: HttpRequest, told: StoredAssembly) -> int | None:
    """Return the position of the item that the query's `item` selects; None without one, or if there is none there."""
    if "item" not in request.GET:
        return None
    position = _number(request, "item")
    return position if position < len(told.decisions) else None


def _page_start(request: HttpRequest, found: list[int], selected: int | None) -> int:
    """Return the index at which the page begins: the query's `begin`, or so that the selected item is on the page.

    Raises Invalid.
    """
    if "begin" in request.GET:
        return _number(request, "begin")
    return found.index(selected) // ITEMS_PER_PAGE * ITEMS_PER_PAGE if selected in found else 0


def _number(request: HttpRequest, name: str) -> int:
    text = request.GET[name]
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    raise Invalid(name, _("Use a whole number from 0."))


def _columns(request: HttpRequest, id_: UUID) -> list[ColumnHead]:
    return column_heads(COLUMNS, request.GET.get("sort", ""), lambda sort: _address(request, id_, sort=sort))


def _row(request: HttpRequest, page: ContextPage, listed: ListedItem) -> ItemRow:
    position = listed.item.position
    address = _address(request, page.assembly.id, begin=request.GET.get("begin", ""), item=position)
    return ItemRow(listed, address, tokens_of(page.told, position))


def _address(request: HttpRequest, id_: UUID, **changes: str | int) -> str:
    """Return the address of the list with the same filters and these parameters; without its place and selection."""
    kept = {name: value for name, value in request.GET.items() if name not in {"item", "begin"}}
    query = urlencode(
        {name: str(value) for name, value in {**kept, **changes}.items() if value != ""}, errors="replace"
    )
    return reverse("context_items", args=[id_]) + (f"?{query}" if query else "")
