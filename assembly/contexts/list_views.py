"""These pages show the list of contexts, the choice between items of one name, and downloads of the list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from assembly.contexts.exports import (
    COLUMNS,
    EXPORT_FORMATS,
    FILE_RETENTION,
    MAX_IMMEDIATE_ROWS,
    AccessChanged,
    context_file_create,
    context_file_for,
    export_file_response,
    find_short_list,
    list_response,
    require_same_access,
)
from assembly.contexts.forms import REFERENCE_FIELDS, ContextFilterForm
from assembly.contexts.list_presentation import context_rows, filter_phrases, filter_sentence
from assembly.contexts.search.db import SearchTooBroad
from assembly.contexts.search.search import SearchPage, search_contexts
from assembly.contexts.search.sql import parse_cursor
from assembly.contexts.search.things import ReferenceMatchGroup, find_references
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.models import ContextFile
from config.http.cursors import encode_cursor, limit_of, next_page_url
from config.http.filter_chips import filter_chips
from config.http.late_reads import may_be_late
from memories.jobs.services import UNFINISHED
from teams.access import principal_of


@dataclass(frozen=True, slots=True)
class ReferenceChoice:
    """An item that a filter's text may mean, and the address of the list filtered by this item."""

    title: str
    owner: str
    address: str


@dataclass(frozen=True, slots=True)
class ReferenceChoiceGroup:
    """Items of one kind that a filter's text may mean. `has_more`: there are more than are offered."""

    label: str
    choices: Sequence[ReferenceChoice]
    has_more: bool


@dataclass(frozen=True, slots=True)
class ReferenceChoices:
    """The items that a filter's text may mean, by kind; `label` is the filter's label, `words` the text."""

    label: str
    words: str
    groups: Sequence[ReferenceChoiceGroup]


def reference_choices(form: ContextFilterForm, path: str, asked: Mapping[str, str]) -> list[ReferenceChoices]:
    """Return the choices for each filter that holds a name instead of a ref. Raises SearchTooBroad.

    `asked` are the URL's parameters, which the links of the choices repeat.
    """
    kept = {name: value for name, value in asked.items() if name != "cursor"}
    found = []
    for name, words in form.named.items():
        groups = find_references(words, visible=form.visible, wanted=form.wanted)
        choices = [_choice_group(group, f"{path}?", {**kept, name: ""}, name) for group in groups]
        found.append(ReferenceChoices(str(form.fields[name].label), words, choices))
    return found


def _choice_group(group: ReferenceMatchGroup, path: str, kept: Mapping[str, str], name: str) -> ReferenceChoiceGroup:
    choices = [
        ReferenceChoice(one.title, one.owner, path + urlencode({**kept, name: one.ref})) for one in group.offered
    ]
    return ReferenceChoiceGroup(group.label, choices, group.has_more)


@may_be_late
def contexts(request: HttpRequest) -> HttpResponse:
    """Show the list of contexts that the user may read, newest first, filtered by the URL's parameters."""
    visible = VisibleOwners(principal_of(request))
    form = ContextFilterForm(request.GET, visible=visible)
    asked = {name: value for name, value in request.GET.dict().items() if value}
    page, choosing, too_broad = _list_page(request, form, asked)
    narrowed = {name: value for name, value in asked.items() if name in form.fields}
    context = {
        "form": form,
        "sentence": filter_sentence(form) if form.is_valid() else "",
        "page": page,
        "questions": choosing,
        "is_typing": request.headers.get("HX-Trigger-Name") in REFERENCE_FIELDS,
        "rows": context_rows(page.contexts),
        "chips": filter_chips(request, form, filter_phrases(form)) if form.is_valid() else (),
        "too_broad": too_broad,
        "filtered": bool(narrowed),
        "is_first": "cursor" not in asked,
        "next": next_page_url(request.path, asked, encode_cursor(page.next)) if page.next else None,
        "narrowed": narrowed,
    }
    response = render(request, "assembly/contexts/list.html", context)
    if request.headers.get("HX-Request") and not context["is_typing"]:
        response["HX-Push-Url"] = f"{request.path}?{urlencode(asked)}"
    return response


def _list_page(
    request: HttpRequest, form: ContextFilterForm, asked: Mapping[str, str]
) -> tuple[SearchPage, Sequence[ReferenceChoices], str]:
    """Return a page of contexts, or the choices to make first, and an error text if the search took too long."""
    limit, after = limit_of(request.GET.get("limit", "")), parse_cursor(request.GET.get("cursor", ""))
    nothing = SearchPage((), None)
    try:
        if not form.is_valid():
            return nothing, reference_choices(form, request.path, asked), ""
        return search_contexts(visible=form.visible, wanted=form.wanted, after=after, limit=limit), (), ""
    except SearchTooBroad as error:
        return nothing, (), error.detail


@require_http_methods(["GET", "HEAD", "POST"])
def context_list_download(request: HttpRequest) -> HttpResponseBase:
    """Show the download form of a filtered list; when posted, return the file or redirect to its preparation."""
    visible = VisibleOwners(principal_of(request))
    form = ContextFilterForm(request.GET, visible=visible)
    kind = request.POST.get("format", "")
    if request.method == "POST" and form.is_valid() and kind in EXPORT_FORMATS:
        return _download_response(visible, form.parameters, kind)
    context = {
        "form": form,
        "sentence": filter_sentence(form) if form.is_valid() else "",
        "formats": ContextFile.Format.choices,
        "columns": COLUMNS,
        "at_once": MAX_IMMEDIATE_ROWS,
        "asked": request.GET.urlencode(),
    }
    is_faulty = request.method == "POST" or not form.is_valid()
    return render(request, "assembly/contexts/export_new.html", context, status=422 if is_faulty else 200)


def _download_response(visible: VisibleOwners, parameters: dict[str, str], kind: str) -> HttpResponseBase:
    try:
        contexts = find_short_list(visible=visible, parameters=parameters)
    except SearchTooBroad:
        contexts = None
    if contexts is not None:
        return list_response(contexts, kind, visible.principal)
    file = context_file_create(parameters=parameters, kind=kind, principal=visible.principal)
    return redirect("context_file", id_=file.id)


def context_file(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the progress of an export file, or its download link; htmx polls this page."""
    return _download_page(request, context_file_for(principal_of(request), id_))


def _download_page(request: HttpRequest, file: ContextFile, *, refusal: str = "") -> HttpResponse:
    context = {
        "file": file,
        "refusal": refusal,
        "again": f"{reverse('context_list_download')}?{urlencode(file.parameters)}",
        "is_running": file.finished_at is None and file.job is not None and file.job.status in UNFINISHED,
        "hours": round(FILE_RETENTION.total_seconds() / 3600),
    }
    return render(
        request, "assembly/contexts/export_download.html", context, status=AccessChanged.status if refusal else 200
    )


def context_file_download(request: HttpRequest, id_: UUID) -> HttpResponseBase:
    """Return a finished export file if the user still sees all that it holds; otherwise its page."""
    principal = principal_of(request)
    file = context_file_for(principal, id_)
    if file.finished_at is None:
        return redirect("context_file", id_=file.id)
    try:
        require_same_access(file, principal)
    except AccessChanged as refused:
        return _download_page(request, file, refusal=refused.detail)
    return export_file_response(file, principal)
