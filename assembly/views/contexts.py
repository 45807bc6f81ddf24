"""The list of contexts."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.context_forms import ContextFilterForm
from assembly.finding import Found, Sight, TooBroad, after_of, found
from assembly.views.list_sentence import sentence
from config.http.cursors import cursor_at, limit_of, next_address
from teams.views.asking import asking


def contexts(request: HttpRequest) -> HttpResponse:
    """The contexts that the person may read, newest first; filters are in the address."""
    sight = Sight(asking(request))
    form = ContextFilterForm(request.GET, sight=sight)
    page, too_broad = _page(request, form, sight)
    asked = {name: value for name, value in request.GET.dict().items() if value}
    narrowed = {name: value for name, value in asked.items() if name in form.fields}
    context = {
        "form": form,
        "sentence": sentence(form) if form.is_valid() else "",
        "page": page,
        "too_broad": too_broad,
        "filtered": bool(narrowed),
        "is_first": "cursor" not in asked,
        "next": next_address(request.path, asked, cursor_at(page.next)) if page.next else None,
        "narrowed": narrowed,
    }
    response = render(request, "assembly/context_list.html", context)
    if request.headers.get("HX-Request"):
        response["HX-Push-Url"] = f"{request.path}?{urlencode(asked)}"
    return response


def _page(request: HttpRequest, form: ContextFilterForm, sight: Sight) -> tuple[Found, str]:
    """The page that the address asks for, and what to say where it took too long."""
    limit, after = limit_of(request.GET.get("limit", "")), after_of(request.GET.get("cursor", ""))
    if not form.is_valid():
        return Found((), None), ""
    try:
        return found(sight=sight, wanted=form.wanted, after=after, limit=limit), ""
    except TooBroad as error:
        return Found((), None), error.detail
