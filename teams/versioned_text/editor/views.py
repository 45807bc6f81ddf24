"""The editor of every versioned text: writing, previewing, drafts, publishing and merging.

All actions share one address; the value of `deed` names the action.
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
    "merge": conflict.save_merged,
    "here": writing.note_presence,
    "leave": writing.end_presence,
}
STEPS: Mapping[str, Callable[[EditorSession], HttpResponse]] = {
    "publish": publishing.show_changes,
    "merge": conflict.show_conflict,
    "forget": drafting.confirm_delete,
}


def edit(request: HttpRequest, document: TextPage, publish: SaveText) -> HttpResponse:
    """Show the editor of a text that the person may change, or perform an action; `publish` creates a version."""
    editor = EditorSession(request, document, publish)
    if request.method == "POST":
        return ACTIONS.get(request.POST.get("deed", ""), drafting.save_draft)(editor)
    return STEPS.get(request.GET.get("step", ""), writing.show_editor)(editor)
