"""Pages of one context: the overview, its items, its exact text, and its record as JSON to read or download."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from rest_framework.utils.encoders import JSONEncoder

from assembly.contexts import items, layers
from assembly.contexts.documents import assembly_document, decision_document
from assembly.contexts.exact_text import text_excerpt
from assembly.contexts.forms import ItemFilterForm
from assembly.contexts.items import empty_positions, included_positions, label_of_code, left_out_positions
from assembly.contexts.layers import fired_rule_rows, source_rows, timeline_length_ms
from assembly.contexts.page import IN_SHOWN, OUT_SHOWN, ContextPage, load_context_page, record_for
from assembly.models import AssemblyFlag
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.records.reader import StoredAssembly, content_of
from assembly.records.reader import replay as replay_of
from assembly.records.retention_policies import may_flag
from config.http.errors import Invalid, NotFound
from config.http.serializers import OPTIONS
from teams.access import principal_of

ITEMS_PER_PAGE = 50  # items
MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class NextItems:
    """The items that come next: their address, how many they are, and what tells them apart on the page."""

    address: str
    key: str
    count: int


def context_items(request: HttpRequest, id_: UUID) -> HttpResponse:
    """What was considered, what became of it, and why. With htmx: the next items alone."""
    page = load_context_page(request, id_)
    form = filter_form(page.told, request.GET)
    found = filtered_positions(page.told, form.cleaned_data) if form.is_valid() else []
    begin = _page_start(request, found)
    shown = found[begin : begin + ITEMS_PER_PAGE]
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
        "next": _next_address(request, page.assembly.id, begin + len(shown), len(found)),
        "previous": _address(request, page.assembly.id, max(0, begin - ITEMS_PER_PAGE)) if begin else "",
    }
    part = request.headers.get("HX-Request") and begin
    return render(request, "assembly/contexts/_more_items.html" if part else "assembly/contexts/items.html", facts)


def filter_form(told: StoredAssembly, query: Mapping[str, str]) -> ItemFilterForm:
    """The filters that the context has something for."""
    codes = {str(decision.code) for decision in told.decisions}
    labels = {code: label_of_code(code) for code in sorted(codes)}
    return ItemFilterForm(query, told=told, codes=labels)


def filtered_positions(told: StoredAssembly, wishes: Mapping[str, str]) -> list[int]:
    """The positions of what is wanted: what is in as the text goes, all else in the order of deciding."""
    positions = {"in": included_positions, "out": left_out_positions}.get(wishes["which"], _all)(told)
    if section := wishes["section"]:
        positions = [position for position in positions if told.decisions[position].section == section]
    if code := wishes["code"]:
        positions = [position for position in positions if told.decisions[position].code == code]
    if words := wishes["q"].casefold().split():
        texts = told.inputs.candidates
        positions = [position for position in positions if _contains_words(texts[position].text, words)]
    return positions


def next_items(page: ContextPage, which: str, shown: int, of: int) -> NextItems | None:
    """What comes after the first so many of a kind; None: nothing."""
    if shown >= of:
        return None
    address = f"{reverse('context_items', args=[page.assembly.id])}?{urlencode({'which': which, 'begin': shown})}"
    return NextItems(address, f"{which}-{shown}", min(ITEMS_PER_PAGE, of - shown))


def _all(told: StoredAssembly) -> list[int]:
    return [*range(len(told.decisions))]


def _contains_words(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _page_start(request: HttpRequest, found: list[int]) -> int:
    """The place at which the page begins: as asked for, or so that an item is on it. Raises Invalid."""
    if "at" in request.GET:
        position = _number(request, "at")
        return found.index(position) // ITEMS_PER_PAGE * ITEMS_PER_PAGE if position in found else 0
    return _number(request, "begin") if "begin" in request.GET else 0


def _number(request: HttpRequest, name: str) -> int:
    text = request.GET[name]
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS:
        return int(text)
    raise Invalid(name, _("Use a whole number from 0 upwards, as the links of this page do."))


def _next_address(request: HttpRequest, id_: UUID, end: int, of: int) -> NextItems | None:
    if end >= of:
        return None
    return NextItems(_address(request, id_, end), _key(request, end), min(ITEMS_PER_PAGE, of - end))


def _key(request: HttpRequest, begin: int) -> str:
    """What tells the items from there on apart from others on a page."""
    which = request.GET.get("which", "")
    return f"{which if which in {'in', 'out'} else 'all'}-{begin}"


def _address(request: HttpRequest, id_: UUID, begin: int) -> str:
    kept = {name: value for name, value in request.GET.items() if name not in {"at", "begin"} and value}
    query = urlencode({**kept, **({"begin": str(begin)} if begin else {})}, errors="replace")
    return f"{reverse('context_items', args=[id_])}" + (f"?{query}" if query else "")


def context(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The whole record in plain words."""
    page = load_context_page(request, id_)
    assembly, told = page.assembly, page.told
    rows = layers.layer_rows(assembly, told.decisions)
    is_in, out = included_positions(told), left_out_positions(told)
    in_shown, out_shown = is_in[:IN_SHOWN], out[:OUT_SHOWN]
    listed = page.listed([*in_shown, *out_shown])
    shown = None if page.content is None else text_excerpt(assembly.sections, told.decisions, page.content)
    facts = {
        "assembly": assembly,
        "agent_slug": page.whereabouts.agent,
        "team_slug": page.whereabouts.team,
        "headline": items.headline(assembly, told.decisions),
        "layers": rows,
        "bar": layers.budget_bar_segments(assembly, rows),
        "unused": layers.unused_tokens(assembly),
        "over": max(0, assembly.tokens - assembly.budget),
        "form": filter_form(told, {}),
        "considered": len(told.decisions),
        "included": listed[: len(in_shown)],
        "included_count": len(is_in),
        "included_next": next_items(page, "in", IN_SHOWN, len(is_in)),
        "left_out": listed[len(in_shown) :],
        "left_out_count": len(out),
        "left_out_next": next_items(page, "out", OUT_SHOWN, len(out)),
        "empty": [page.items.title(position) for position in empty_positions(told)],
        "rules": fired_rule_rows(principal_of(request), assembly),
        "sources": source_rows(assembly),
        "longest_ms": timeline_length_ms(assembly),
        "warnings": items.warnings(assembly),
        "stretch": shown,
        "pieces": page.linked(shown) if shown else None,
        "flag": AssemblyFlag.objects.filter(assembly=assembly).first(),
        "may_flag": may_flag(principal_of(request), assembly),
    }
    return render(request, "assembly/contexts/context.html", facts)


@require_POST
def replay(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Assemble again from the record alone, and say whether the bytes are the same."""
    told = record_for(principal_of(request), id_)
    result = replay_of(told)
    if request.headers.get("HX-Request"):
        return render(request, "assembly/contexts/_replay_result.html", {"result": result})
    if result.identical:
        said = _("✓ Replayed from the record: every byte matches. SHA-256 %(hash)s")
        messages.success(request, said % {"hash": result.sha256})
    else:
        messages.error(request, _("✗ The record gives another text now. Tell your admin: somebody changed it."))
    return redirect("context", id_=told.assembly.id)


def download(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The exact text as a file."""
    told = record_for(principal_of(request), id_)
    name = f"{told.assembly.agent_slug}-{told.assembly.created:%Y-%m-%d-%H%M%S}.md"
    return HttpResponse(
        content_of(told).encode(),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def exact(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The text from a character on. With htmx: that stretch alone. Raises NotFound beyond its end."""
    page = load_context_page(request, id_)
    if page.content is None:
        return redirect("context", id_=id_)  # which says that the record was changed
    begin = excerpt_start(request, len(page.content))
    shown = text_excerpt(page.assembly.sections, page.told.decisions, page.content, begin)
    facts = {
        "assembly": page.assembly,
        "stretch": shown,
        "pieces": page.linked(shown),
        "characters": len(page.content),
    }
    part = request.headers.get("HX-Request") and begin
    return render(request, "assembly/contexts/_more_text.html" if part else "assembly/contexts/exact_text.html", facts)


def excerpt_start(request: HttpRequest, characters: int) -> int:
    """Where the stretch begins: 0 unless asked for. Raises NotFound for what is no place in the text."""
    asked = request.GET.get("begin", "0")
    begin = int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS else -1
    if begin and not 0 <= begin < characters:
        raise NotFound("This place of the text")
    return begin


MAX_SHOWN_CHARACTERS = 60_000  # characters of the document that its page shows


def record(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The document, indented; of a long one the beginning."""
    told = record_for(principal_of(request), id_)
    text = pretty_json(load_document(told))
    facts = {
        "assembly": told.assembly,
        "text": text[:MAX_SHOWN_CHARACTERS],
        "characters": len(text),
        "more": max(0, len(text) - MAX_SHOWN_CHARACTERS),
        "decisions": len(told.decisions),
    }
    return render(request, "assembly/contexts/record.html", facts)


def record_file(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The whole document as a file."""
    told = record_for(principal_of(request), id_)
    name = f"{told.assembly.agent_slug}-{told.assembly.created:%Y-%m-%d-%H%M%S}.json"
    return HttpResponse(
        pretty_json(load_document(told)).encode(),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def load_document(told: StoredAssembly) -> dict[str, Any]:
    """The assembly as the API gives it, with all its decisions. Raises RecordDamaged."""
    sections = {section.key: section for section in told.inputs.profile.sections}
    decisions = [decision_document(one, place, sections[one.section]) for place, one in enumerate(told.decisions)]
    return {
        **assembly_document(AssemblyResult(told.assembly, content_of(told), told.decisions)),
        "decisions": decisions,
    }


def pretty_json(document: dict[str, Any]) -> str:
    """As JSON that people can read, with each value written as the API writes it."""
    try:
        return orjson.dumps(document, default=JSONEncoder().default, option=OPTIONS | orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:  # of whole numbers beyond 64 bits
        return json.dumps(document, cls=JSONEncoder, indent=2, ensure_ascii=False)
