"""The editor of every versioned text: writing and previewing, drafts, publishing, bringing two texts together.

One address answers it all. A button says with its value of `deed` what is to be done; scripts ask for the same.
"""

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse

from teams.versioned_text.editor import conflict, drafting, publishing, writing
from teams.versioned_text.editor.editor_session import Desk
from teams.versioned_text.presentation import Document, Save

DEEDS: Mapping[str, Callable[[Desk], HttpResponse]] = {
    "keep": drafting.keep,
    "discard": drafting.discard,
    "bring_back": drafting.bring_back,
    "forget": drafting.forget,
    "preview": writing.preview,
    "review": publishing.review,
    "publish": publishing.publish,
    "take": writing.take,
    "here": writing.here,
    "leave": writing.leave,
}
STEPS: Mapping[str, Callable[[Desk], HttpResponse]] = {
    "publish": publishing.look,
    "merge": conflict.look,
    "forget": drafting.ask_forget,
}


def edit(request: HttpRequest, document: Document, publish: Save) -> HttpResponse:
    """The editor of a text that the person may change; `publish` makes a version of it."""
    desk = Desk(request, document, publish)
    if request.method == "POST":
        return DEEDS.get(request.POST.get("deed", ""), drafting.keep)(desk)
    return STEPS.get(request.GET.get("step", ""), writing.write)(desk)
