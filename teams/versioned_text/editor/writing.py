"""Who else is at this text, and what they published meanwhile: asked by every open editor now and then.

The page on which a text is written, and its preview.
"""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from teams.forms import DraftForm
from teams.templatetags.words import by
from teams.versioned_text.drafts import discarded_text_of
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.presence import others_editing, presence_end, presence_note


def note_presence(desk: EditorSession) -> HttpResponse:
    """The person's editor is still open."""
    presence_note(person_id=desk.person, about=desk.about)
    return JsonResponse(editor_updates(desk))


def end_presence(desk: EditorSession) -> HttpResponse:
    """The person closed the editor."""
    presence_end(person_id=desk.person, about=desk.about)
    return HttpResponse(status=204)


def editor_updates(desk: EditorSession) -> dict[str, Any]:
    """What an open editor should know of others: who is there, and the newest version with its author."""
    return {
        "others": _editing_sentence(others_editing(desk.person, desk.about)),
        "published": desk.published,
        "newer": _("%(name)s published version %(version)s while you were writing.")
        % {"name": by(desk.document.file), "version": desk.published},
    }


def _editing_sentence(names: list[str]) -> str:
    """Tim and Edda are editing this text; nothing where nobody is."""
    if not names:
        return ""
    listed = names[0] if len(names) == 1 else _("%(some)s and %(last)s") % _names_value(names)
    return ngettext("%(names)s is editing this text, too.", "%(names)s are editing this text, too.", len(names)) % {
        "names": listed
    }


def _names_value(names: list[str]) -> dict[str, str]:
    return {"some": ", ".join(names[:-1]), "last": names[-1]}


def show_editor(desk: EditorSession) -> HttpResponse:
    """The editor with the person's draft, or with what is published."""
    draft = desk.draft()
    if draft is None:
        return render_editor(desk, text=desk.document.file.content, based_on=desk.published)
    return render_editor(desk, text=draft.content, based_on=draft.based_on, revision=draft.revision, draft=draft)


def show_preview(desk: EditorSession) -> HttpResponse:
    """The text as people read it; nothing is kept."""
    form = desk.form()
    if not form.is_valid():
        return show_errors(desk, form)
    sent = form.cleaned_data
    if desk.request.headers.get("HX-Request"):
        return render(desk.request, "teams/_preview.html", {"document": desk.document, "preview": sent["content"]})
    return render_editor(
        desk, text=sent["content"], based_on=sent["version"], revision=sent["revision"], preview=sent["content"]
    )


def use_text(desk: EditorSession) -> HttpResponse:
    """The editor with the text that was chosen of two; nothing is kept yet."""
    form = desk.form()
    if not form.is_valid():
        return show_errors(desk, form)
    sent = form.cleaned_data
    return render_editor(desk, text=sent["content"], based_on=sent["version"], revision=sent["revision"], keeping=True)


def show_errors(desk: EditorSession, form: DraftForm) -> HttpResponse:
    """The text that was sent, and why it cannot be kept."""
    text, based_on = form.data.get("content", ""), form.cleaned_data.get("version", desk.published)
    revision = form.cleaned_data.get("revision", 0)
    return render_editor(desk, text=text, based_on=based_on, revision=revision, form=form, status=422)


def render_editor(
    desk: EditorSession, *, status: int = 200, template: str = "teams/editor.html", **facts: Any
) -> HttpResponse:
    """The editor with these facts; the person counts as being there."""
    presence_note(person_id=desk.person, about=desk.about)
    others = editor_updates(desk)
    context = {
        "document": desk.document,
        "published": desk.published,
        "others_said": others["others"],
        "newer_said": others["newer"],
        "aside": discarded_text_of(desk.person, desk.about),
        **facts,
    }
    return render(desk.request, template, context, status=status)
