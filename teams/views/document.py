"""The pages of every versioned text, whoever owns it: editor, history, one version, restore."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from config.http.cursors import next_address, page_of
from config.http.errors import NotFound
from teams.files import StaleVersion, VersionedFile
from teams.forms import TextForm
from teams.guidance import Guidance, Text
from teams.markdown import rendered
from teams.views.asking import asking

Save = Callable[[str, int], VersionedFile]
"""Stores a text made from a version; returns the text as stored. Raises StaleVersion."""


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step on the way to a page."""

    label: Text
    address: str


@dataclass(frozen=True, slots=True)
class Document:
    """A versioned text as its pages show it. `heading` says of whom it is; `key` names its section of a context."""

    file: VersionedFile
    guidance: Guidance
    key: str
    heading: Text
    crumbs: tuple[Crumb, ...]
    readers: Text
    edit_address: str
    history_address: str
    may_edit: bool

    @property
    def exists(self) -> bool:
        """Whether it was ever saved."""
        return not self.file._state.adding  # noqa: SLF001 - Django's documented way to ask

    @property
    def current_address(self) -> str:
        return f"{self.history_address}{self.file.version}/"


def edit(request: HttpRequest, document: Document, save: Save) -> HttpResponse:
    """The editor: shows the text, previews it, saves it, and when somebody else saved meanwhile shows both texts."""
    based_on = document.file.version if document.exists else 0
    if request.method != "POST":
        return _editor(request, document, text=document.file.content, based_on=based_on)
    form = TextForm(request.POST, stored=document.file)
    if not form.is_valid():
        sent = request.POST.get("content", "")
        return _editor(request, document, text=sent, based_on=based_on, form=form, status=422)
    content, based_on = form.cleaned_data["content"], form.cleaned_data["version"]
    if "preview" in request.POST:
        return _preview(request, document, content, based_on)
    try:
        saved = save(content, based_on)
    except StaleVersion as stale:
        newest = stale.current
        return _editor(request, document, text=content, based_on=newest.version, theirs=newest, status=stale.status)
    _tell(request, saved, based_on)
    return redirect(document.edit_address)


def _preview(request: HttpRequest, document: Document, content: str, based_on: int) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return render(request, "teams/_preview.html", {"preview": rendered(content)})
    return _editor(request, document, text=content, based_on=based_on, preview=rendered(content))


def _editor(request: HttpRequest, document: Document, status: int = 200, **facts: Any) -> HttpResponse:
    return render(request, "teams/editor.html", {"document": document, **facts}, status=status)


def _tell(request: HttpRequest, saved: VersionedFile, based_on: int) -> None:
    if saved.version == based_on:
        messages.info(request, _("Nothing had changed, so there is no new version."))
    else:
        messages.success(request, _("Saved as version %(version)s.") % {"version": saved.version})


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
    _tell(request, saved, form.cleaned_data["version"])
    return redirect(document.history_address)


def _version(document: Document, number: int) -> Any:
    found = document.file.versions.filter(version=number).first() if number < 2**31 else None
    if found is None:
        raise NotFound(_("Version %(number)s") % {"number": number})
    return found


def saving(request: HttpRequest, save: Callable[..., VersionedFile], file: VersionedFile) -> Save:
    """How the signed-in person saves this file, by `teams.files.file_save` or what takes the same arguments."""
    author = asking(request).author
    return lambda content, expected: save(file=file, content=content, expected_version=expected, author=author)
