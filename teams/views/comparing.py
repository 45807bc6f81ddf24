"""Two versions of a text, or a version and the reader's own draft, compared on a page."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from teams.differences.comparison import compared
from teams.files import StaleVersion
from teams.history_forms import RestoreForm
from teams.views.choosing import Choice, NothingToCompare, chosen, side_of
from teams.views.document import Document


def compare(request: HttpRequest, document: Document) -> HttpResponse:
    """What changed from the version that `from` names to the one that `to` names, or to the reader's draft."""
    try:
        choice = chosen(request, document)
    except NothingToCompare as fault:
        return render(request, "teams/compare.html", {"document": document, "fault": fault.detail}, status=fault.status)
    newest = document.file.version
    numbers = [side.number for side in (choice.old, choice.new) if side.number not in {newest, None}]
    forms = [RestoreForm(initial={"version": newest}, number=number) for number in numbers if number]
    return _page(request, document, choice, forms=forms if document.may_edit else [])


def restore_refused(
    request: HttpRequest, document: Document, version: Any, form: RestoreForm, status: int
) -> HttpResponse:
    """The newest version beside the one that was to be restored, which can still be restored from here."""
    newest = document.file
    again = {"version": newest.version, "note": form.data.get("note", "")}
    facts: dict[str, Any] = {
        "forms": [RestoreForm(again, number=version.version)],
        "stale": newest if status == StaleVersion.status else None,
        "incomplete": "version" in form.errors,
    }
    return _page(request, document, Choice(side_of(version), side_of(newest)), status=status, **facts)


def _page(request: HttpRequest, document: Document, choice: Choice, status: int = 200, **facts: Any) -> HttpResponse:
    source = not document.is_markdown or request.GET.get("as") == "source"
    named = {"from": choice.old.name, "to": choice.new.name}
    context = {
        "document": document,
        "choice": choice,
        "comparison": compared(choice.old.content, choice.new.content, source=source),
        "address_read": f"{document.history_address}compare/?{urlencode(named)}",
        "address_source": f"{document.history_address}compare/?{urlencode({**named, 'as': 'source'})}",
        **facts,
    }
    return render(request, "teams/compare.html", context, status=status)
