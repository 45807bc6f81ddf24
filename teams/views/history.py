"""The history of every versioned text: its versions, and one of them."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from config.http.cursors import next_address, page_of
from config.http.errors import NotFound
from teams.drafts import draft_of
from teams.history_forms import RestoreForm
from teams.markdown import rendered
from teams.views.asking import asking
from teams.views.document import Document


def history(request: HttpRequest, document: Document) -> HttpResponse:
    """All versions, newest first. After one was restored, offers to undo that."""
    versions, cursor = page_of(document.file.versions.defer("content"), request.GET, keys=("version",))
    newest = document.file.version
    restored = document.may_edit and newest > 1 and request.GET.get("restored") == str(newest)
    context = {
        "document": document,
        "versions": with_growth(document, versions),
        "draft": draft_of(asking(request).id, document.file.about),
        "undo": RestoreForm(initial={"version": newest}, number=newest - 1) if restored else None,
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "teams/history.html", context)


def version(request: HttpRequest, document: Document, number: int) -> HttpResponse:
    """One version, rendered or as it was written."""
    found = version_of(document, number)
    source = not document.is_markdown or request.GET.get("as") == "source"
    neighbours = document.file.versions.filter(version__in=[number - 1, number + 1])
    newest = document.file.version
    context = {
        "document": document,
        "version": found,
        "source": source,
        "html": "" if source else rendered(found.content),
        "neighbours": sorted(neighbours.values_list("version", flat=True)),
        "is_current": found.version == newest,
        "form": RestoreForm(initial={"version": newest}, number=found.version),
    }
    return render(request, "teams/version.html", context)


def version_of(document: Document, number: int) -> Any:
    """One version of the text. Raises NotFound."""
    found = document.file.versions.filter(version=number).first() if number < 2**31 else None
    if found is None:
        raise NotFound(_("Version %(number)s") % {"number": number})
    return found


def with_growth(document: Document, versions: Sequence[Any]) -> Sequence[Any]:
    """The versions, newest first, each with its `words` and with `growth`: by how many it is longer than the one before
    (None: the first)."""
    if not versions:
        return versions
    # Counted here: PostgreSQL takes ten times as long to find the words of large texts.
    shown = range(versions[-1].version - 1, versions[0].version + 1)
    texts = document.file.versions.filter(version__range=(shown[0], shown[-1])).values_list("version", "content")
    words = {number: len(content.split()) for number, content in texts}
    for row in versions:
        row.words = words[row.version]
        row.growth = row.words - words[row.version - 1] if row.version - 1 in words else None
    return versions
