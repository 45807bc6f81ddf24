"""Lists of contexts as files: what is in one, the download, and how far a long one is."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from assembly.context_files.columns import COLUMNS
from assembly.context_files.formats import FORMATS
from assembly.context_files.sending import file_sent, list_sent
from assembly.context_files.services import (
    AT_ONCE,
    KEPT,
    AccessChanged,
    context_file_begin,
    context_file_for,
    require_same_access,
    short_list,
)
from assembly.context_forms import ContextFilterForm
from assembly.finding import Sight, TooBroad
from assembly.models import ContextFile
from assembly.views.list_sentence import sentence
from memories.jobs import UNFINISHED
from teams.views.asking import asking


@require_http_methods(["GET", "HEAD", "POST"])
def context_list_download(request: HttpRequest) -> HttpResponseBase:
    """What is in the file that the filters of the address select; sent, the file itself or the page of its making."""
    sight = Sight(asking(request))
    form = ContextFilterForm(request.GET, sight=sight)
    kind = request.POST.get("format", "")
    if request.method == "POST" and form.is_valid() and kind in FORMATS:
        return _made(sight, form.parameters, kind)
    context = {
        "form": form,
        "sentence": sentence(form) if form.is_valid() else "",
        "formats": ContextFile.Format.choices,
        "columns": COLUMNS,
        "at_once": AT_ONCE,
        "asked": request.GET.urlencode(),
    }
    is_faulty = request.method == "POST" or not form.is_valid()
    return render(request, "assembly/context_list_download.html", context, status=422 if is_faulty else 200)


def _made(sight: Sight, parameters: dict[str, str], kind: str) -> HttpResponseBase:
    try:
        contexts = short_list(sight=sight, parameters=parameters)
    except TooBroad:
        contexts = None
    if contexts is not None:
        return list_sent(contexts, kind)
    file = context_file_begin(parameters=parameters, kind=kind, principal=sight.principal)
    return redirect("context_file", id_=file.id)


def context_file(request: HttpRequest, id_: UUID) -> HttpResponse:
    """How far it is, or the way to it; htmx asks again while it is being prepared."""
    return _page(request, context_file_for(asking(request), id_))


def _page(request: HttpRequest, file: ContextFile, *, refusal: str = "") -> HttpResponse:
    context = {
        "file": file,
        "refusal": refusal,
        "again": f"{reverse('context_list_download')}?{urlencode(file.parameters)}",
        "is_running": file.finished_at is None and file.job is not None and file.job.status in UNFINISHED,
        "hours": round(KEPT.total_seconds() / 3600),
    }
    return render(request, "assembly/context_file.html", context, status=AccessChanged.status if refusal else 200)


def context_file_download(request: HttpRequest, id_: UUID) -> HttpResponseBase:
    """The file, once it is finished, for somebody who still sees what is in it."""
    principal = asking(request)
    file = context_file_for(principal, id_)
    if file.finished_at is None:
        return redirect("context_file", id_=file.id)
    try:
        require_same_access(file, principal)
    except AccessChanged as refused:
        return _page(request, file, refusal=refused.detail)
    return file_sent(file)
