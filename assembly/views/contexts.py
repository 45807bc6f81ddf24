"""The list of contexts."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode

from assembly.context_forms import THINGS, ContextFilterForm
from assembly.finding import Found, Sight, TooBroad, after_of, found
from assembly.views.choosing import Question, questions
from assembly.views.context_rows import context_rows
from assembly.views.list_sentence import sentence
from config.http.cursors import cursor_at, limit_of, next_address
from teams.views.asking import asking


def contexts(request: HttpRequest) -> HttpResponse:
    """The contexts that the person may read, newest first; filters are in the address."""
    sight = Sight(asking(request))
    form = ContextFilterForm(request.GET, sight=sight)
    asked = {name: value for name, value in request.GET.dict().items() if value}
    page, choosing, too_broad = _page(request, form, asked)
    narrowed = {name: value for name, value in asked.items() if name in form.fields}
    context = {
        "form": form,
        "sentence": sentence(form) if form.is_valid() else "",
        "page": page,
        "questions": choosing,
        "is_typing": request.headers.get("HX-Trigger-Name") in THINGS,
        "rows": context_rows(page.contexts),
        "too_broad": too_broad,
        "filtered": bool(narrowed),
        "is_first": "cursor" not in asked,
        "next": next_address(request.path, asked, cursor_at(page.next)) if page.next else None,
        "narrowed": narrowed,
    }
    response = render(request, "assembly/context_list.html", context)
    if request.headers.get("HX-Request") and not context["is_typing"]:
        response["HX-Push-Url"] = f"{request.path}?{urlencode(asked)}"
    return response


def _page(
    request: HttpRequest, form: ContextFilterForm, asked: Mapping[str, str]
) -> tuple[Found, Sequence[Question], str]:
    """The page that the address asks for, or what is to be chosen first; and what to say where it took too long."""
    limit, after = limit_of(request.GET.get("limit", "")), after_of(request.GET.get("cursor", ""))
    nothing = Found((), None)
    try:
        if not form.is_valid():
            return nothing, questions(form, request.path, asked), ""
        return found(sight=form.sight, wanted=form.wanted, after=after, limit=limit), (), ""
    except TooBroad as error:
        return nothing, (), error.detail
