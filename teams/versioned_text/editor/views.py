"""The editor of every versioned text: writing and previewing, drafts, publishing, bringing two texts together.

One address answers it all. A button says with its value of `deed` what is to be done; scripts ask for the same.
"""

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse

from teams.versioned_text.editor import conflict, drafting, publishing, writing
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.presentation import SaveText, TextPage

ACTIONS: Mapping[str, Callable[[EditorSession], HttpResponse]] = {
    "keep": drafting.save_draft,
    "discard": drafting.discard_draft,
    "bring_back": drafting.restore_draft,
    "forget": drafting.delete_discarded,
    "preview": writing.show_preview,
    "review": publishing.review_changes,
    "publish": publishing.publish_draft,
    "take": writing.use_text,
    "here": writing.note_presence,
    "leave": writing.end_presence,
}
STEPS: Mapping[str, Callable[[EditorSession], HttpResponse]] = {
    "publish": publishing.show_changes,
    "merge": conflict.show_conflict,
    "forget": drafting.confirm_delete,
}


def edit(request: HttpRequest, document: TextPage, publish: SaveText) -> HttpResponse:
    """The editor of a text that the person may change; `publish` makes a version of it."""
    editor = EditorSession(request, document, publish)
    if request.method == "POST":
        return ACTIONS.get(request.POST.get("deed", ""), drafting.save_draft)(editor)
    return STEPS.get(request.GET.get("step", ""), writing.show_editor)(editor)
