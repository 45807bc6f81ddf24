"""This module shows the editor and its preview, and tells it who else edits the text."""

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


def note_presence(editor: EditorSession) -> HttpResponse:
    """Note that the person's editor is still open."""
    presence_note(person_id=editor.person, about=editor.about)
    return JsonResponse(editor_updates(editor))


def end_presence(editor: EditorSession) -> HttpResponse:
    """Note that the person closed the editor."""
    presence_end(person_id=editor.person, about=editor.about)
    return HttpResponse(status=204)


def editor_updates(editor: EditorSession) -> dict[str, Any]:
    """Return what an open editor should know about other people: who edits the text, and the newest version with its
    author.
    """
    return {
        "others": _editing_sentence(others_editing(editor.person, editor.about)),
        "published": editor.published,
        "newer": _("%(name)s published version %(version)s.")
        % {"name": by(editor.document.file), "version": editor.published},
    }


def _editing_sentence(names: list[str]) -> str:
    """Return a sentence like “Tim and Edda are editing this text, too.”; empty if there is nobody."""
    if not names:
        return ""
    listed = names[0] if len(names) == 1 else _("%(some)s and %(last)s") % _names_value(names)
    return ngettext("%(names)s is also editing", "%(names)s are also editing", len(names)) % {"names": listed}


def _names_value(names: list[str]) -> dict[str, str]:
    return {"some": ", ".join(names[:-1]), "last": names[-1]}


def show_editor(editor: EditorSession) -> HttpResponse:
    """Show the editor with the person's draft, or with the published text."""
    draft = editor.draft()
    if draft is None:
        return render_editor(editor, text=editor.document.file.content, based_on=editor.published)
    return render_editor(editor, text=draft.content, based_on=draft.based_on, revision=draft.revision, draft=draft)


def show_preview(editor: EditorSession) -> HttpResponse:
    """Show the text formatted. Nothing is saved."""
    form = editor.form()
    if not form.is_valid():
        return show_errors(editor, form)
    sent = form.cleaned_data
    if editor.request.headers.get("HX-Request"):
        return render(
            editor.request,
            "teams/versioned_text/editor/_rendered_preview.html",
            {"document": editor.document, "preview": sent["content"]},
        )
    return render_editor(
        editor, text=sent["content"], based_on=sent["version"], revision=sent["revision"], preview=sent["content"]
    )


def show_errors(editor: EditorSession, form: DraftForm) -> HttpResponse:
    """Show the editor with the text that was sent, and why it cannot be saved."""
    text, based_on = form.data.get("content", ""), form.cleaned_data.get("version", editor.published)
    revision = form.cleaned_data.get("revision", 0)
    return render_editor(editor, text=text, based_on=based_on, revision=revision, form=form, status=422)


def render_editor(
    editor: EditorSession, *, status: int = 200, template: str = "teams/versioned_text/editor/editor.html", **facts: Any
) -> HttpResponse:
    """Show the editor with the given context, and note that the person is editing."""
    presence_note(person_id=editor.person, about=editor.about)
    others = editor_updates(editor)
    context = {
        "document": editor.document,
        "published": editor.published,
        "others_said": others["others"],
        "newer_said": others["newer"],
        "aside": discarded_text_of(editor.person, editor.about),
        **facts,
    }
    return render(editor.request, template, context, status=status)
