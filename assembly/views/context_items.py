"""All that a context considered: filtered by section, outcome and words, page by page."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from assembly.item_forms import ItemFilterForm
from assembly.recorded import Recorded
from assembly.views.context_page import ContextPage, page_of_context
from assembly.views.explanation import label_of_code
from assembly.views.items import included, left_out
from config.http.errors import Invalid

PAGE = 50  # items
MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Following:
    """The items that come next: their address, how many they are, and what tells them apart on the page."""

    address: str
    key: str
    count: int


def items(request: HttpRequest, id_: UUID) -> HttpResponse:
    """What was considered, what became of it, and why. With htmx: the next items alone."""
    page = page_of_context(request, id_)
    form = filter_form(page.told, request.GET)
    found = chosen(page.told, form.cleaned_data) if form.is_valid() else []
    begin = _begin(request, found)
    shown = found[begin : begin + PAGE]
    facts = {
        "assembly": page.assembly,
        "form": form,
        "filtered": any(form[name].value() for name in form.fields),
        "considered": len(page.told.decisions),
        "found": len(found),
        "first": begin + 1,
        "last": begin + len(shown),
        "key": _key(request, begin),
        "items": page.listed(shown),
        "next": _next(request, page.assembly.id, begin + len(shown), len(found)),
        "previous": _address(request, page.assembly.id, max(0, begin - PAGE)) if begin else "",
    }
    part = request.headers.get("HX-Request") and begin
    return render(request, "assembly/_more_items.html" if part else "assembly/context_items.html", facts)


def filter_form(told: Recorded, query: Mapping[str, str]) -> ItemFilterForm:
    """The filters that the context has something for."""
    codes = {str(decision.code) for decision in told.decisions}
    labels = {code: label_of_code(code) for code in sorted(codes)}
    return ItemFilterForm(query, told=told, codes=labels)


def chosen(told: Recorded, wishes: Mapping[str, str]) -> list[int]:
    """The positions of what is wanted: what is in as the text goes, all else in the order of deciding."""
    positions = {"in": included, "out": left_out}.get(wishes["which"], _all)(told)
    if section := wishes["section"]:
        positions = [position for position in positions if told.decisions[position].section == section]
    if code := wishes["code"]:
        positions = [position for position in positions if told.decisions[position].code == code]
    if words := wishes["q"].casefold().split():
        texts = told.inputs.candidates
        positions = [position for position in positions if _has(texts[position].text, words)]
    return positions


def following(page: ContextPage, which: str, shown: int, of: int) -> Following | None:
    """What comes after the first so many of a kind; None: nothing."""
    if shown >= of:
        return None
    address = f"{reverse('context_items', args=[page.assembly.id])}?{urlencode({'which': which, 'begin': shown})}"
    return Following(address, f"{which}-{shown}", min(PAGE, of - shown))


def _all(told: Recorded) -> list[int]:
    return [*range(len(told.decisions))]


def _has(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _begin(request: HttpRequest, found: list[int]) -> int:
    """The place at which the page begins: as asked for, or so that an item is on it. Raises Invalid."""
    if "at" in request.GET:
        position = _number(request, "at")
        return found.index(position) // PAGE * PAGE if position in found else 0
    return _number(request, "begin") if "begin" in request.GET else 0


def _number(request: HttpRequest, name: str) -> int:
    text = request.GET[name]
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    raise Invalid(name, _("Use a whole number from 0 upwards, as the links of this page do."))


def _next(request: HttpRequest, id_: UUID, end: int, of: int) -> Following | None:
    if end >= of:
        return None
    return Following(_address(request, id_, end), _key(request, end), min(PAGE, of - end))


def _key(request: HttpRequest, begin: int) -> str:
    """What tells the items from there on apart from others on a page."""
    which = request.GET.get("which", "")
    return f"{which if which in {'in', 'out'} else 'all'}-{begin}"


def _address(request: HttpRequest, id_: UUID, begin: int) -> str:
    kept = {name: value for name, value in request.GET.items() if name not in {"at", "begin"} and value}
    query = urlencode({**kept, **({"begin": str(begin)} if begin else {})}, errors="replace")
    return f"{reverse('context_items', args=[id_])}" + (f"?{query}" if query else "")
