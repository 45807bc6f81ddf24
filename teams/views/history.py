"""The history of every versioned text: its versions, one of them, restoring one."""

from typing import Any

from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from config.http.cursors import next_address, page_of
from config.http.errors import NotFound
from teams.forms import TextForm
from teams.markdown import rendered
from teams.views.document import Document, Save, tell


def history(request: HttpRequest, document: Document) -> HttpResponse:
    """All versions, newest first."""
    rows = document.file.versions.defer("content").annotate(characters=Length("content"))
    versions, cursor = page_of(rows, request.GET, keys=("version",))
    context = {
        "document": document,
        "versions": versions,
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "teams/history.html", context)


def version(request: HttpRequest, document: Document, number: int) -> HttpResponse:
    """One version, rendered or as it was written."""
    found = _version(document, number)
    source = request.GET.get("as") == "source"
    neighbours = document.file.versions.filter(version__in=[number - 1, number + 1])
    context = {
        "document": document,
        "version": found,
        "source": source,
        "html": "" if source else rendered(found.content),
        "neighbours": sorted(neighbours.values_list("version", flat=True)),
        "is_current": found.version == document.file.version,
    }
    return render(request, "teams/version.html", context)


def restore(request: HttpRequest, document: Document, number: int, save: Save) -> HttpResponse:
    """Save the text of an old version as a new one. Raises StaleVersion if the page did not show the newest."""
    found = _version(document, number)
    form = TextForm({"version": request.POST.get("version"), "content": ""}, stored=document.file)
    if not form.is_valid():
        return redirect(document.history_address)
    saved = save(found.content, form.cleaned_data["version"])
    tell(request, saved, form.cleaned_data["version"])
    return redirect(document.history_address)


def _version(document: Document, number: int) -> Any:
    found = document.file.versions.filter(version=number).first() if number < 2**31 else None
    if found is None:
        raise NotFound(_("Version %(number)s") % {"number": number})
    return found
