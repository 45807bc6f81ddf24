"""The exact text of a long context, stretch by stretch."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assembly.views.context_page import page_of_context
from assembly.views.exact_text import stretch
from config.http.errors import NotFound

MOST_DIGITS = 9


def exact(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The text from a character on. With htmx: that stretch alone. Raises NotFound beyond its end."""
    page = page_of_context(request, id_)
    if page.content is None:
        return redirect("context", id_=id_)  # which says that the record was changed
    begin = beginning(request, len(page.content))
    shown = stretch(page.assembly.sections, page.told.decisions, page.content, begin)
    facts = {
        "assembly": page.assembly,
        "stretch": shown,
        "pieces": page.linked(shown),
        "characters": len(page.content),
    }
    part = request.headers.get("HX-Request") and begin
    return render(request, "assembly/_more_text.html" if part else "assembly/context_exact.html", facts)


def beginning(request: HttpRequest, characters: int) -> int:
    """Where the stretch begins: 0 unless asked for. Raises NotFound for what is no place in the text."""
    asked = request.GET.get("begin", "0")
    begin = int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS else -1
    if begin and not 0 <= begin < characters:
        raise NotFound("This place of the text")
    return begin
