"""The page on which a text is written, and its preview."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from teams.forms import DraftForm
from teams.presence import presence_note
from teams.set_aside import text_aside_of
from teams.views.editing.desk import Desk
from teams.views.editing.presence import news


def write(desk: Desk) -> HttpResponse:
    """The editor with the person's draft, or with what is published."""
    draft = desk.draft()
    if draft is None:
        return page(desk, text=desk.document.file.content, based_on=desk.published)
    return page(desk, text=draft.content, based_on=draft.based_on, revision=draft.revision, draft=draft)


def preview(desk: Desk) -> HttpResponse:
    """The text as people read it; nothing is kept."""
    form = desk.form()
    if not form.is_valid():
        return refused(desk, form)
    sent = form.cleaned_data
    if desk.request.headers.get("HX-Request"):
        return render(desk.request, "teams/_preview.html", {"document": desk.document, "preview": sent["content"]})
    return page(
        desk, text=sent["content"], based_on=sent["version"], revision=sent["revision"], preview=sent["content"]
    )


def take(desk: Desk) -> HttpResponse:
    """The editor with the text that was chosen of two; nothing is kept yet."""
    form = desk.form()
    if not form.is_valid():
        return refused(desk, form)
    sent = form.cleaned_data
    return page(desk, text=sent["content"], based_on=sent["version"], revision=sent["revision"], keeping=True)


def refused(desk: Desk, form: DraftForm) -> HttpResponse:
    """The text that was sent, and why it cannot be kept."""
    text, based_on = form.data.get("content", ""), form.cleaned_data.get("version", desk.published)
    revision = form.cleaned_data.get("revision", 0)
    return page(desk, text=text, based_on=based_on, revision=revision, form=form, status=422)


def page(desk: Desk, *, status: int = 200, template: str = "teams/editor.html", **facts: Any) -> HttpResponse:
    """The editor with these facts; the person counts as being there."""
    presence_note(person_id=desk.person, about=desk.about)
    others = news(desk)
    context = {
        "document": desk.document,
        "published": desk.published,
        "others_said": others["others"],
        "newer_said": others["newer"],
        "aside": text_aside_of(desk.person, desk.about),
        **facts,
    }
    return render(desk.request, template, context, status=status)
