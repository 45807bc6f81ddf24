"""The editor of every versioned text."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from teams.files import StaleVersion
from teams.forms import TextForm
from teams.markdown import rendered
from teams.views.document import Document, Save, tell


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
        saved = save(content, based_on, "")
    except StaleVersion as stale:
        newest = stale.current
        return _editor(request, document, text=content, based_on=newest.version, theirs=newest, status=stale.status)
    tell(request, saved, based_on)
    return redirect(document.edit_address)


def _preview(request: HttpRequest, document: Document, content: str, based_on: int) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return render(request, "teams/_preview.html", {"preview": rendered(content)})
    return _editor(request, document, text=content, based_on=based_on, preview=rendered(content))


def _editor(request: HttpRequest, document: Document, status: int = 200, **facts: Any) -> HttpResponse:
    return render(request, "teams/editor.html", {"document": document, **facts}, status=status)
