"""The list of contexts."""

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.forms import ContextFilterForm
from assembly.models import Assembly, AssemblyQuerySet
from config.http.cursors import next_address, page_of
from teams.views.asking import asking

CUT = ~Q(warnings=[]) | Q(truncated=True)


def contexts(request: HttpRequest) -> HttpResponse:
    """The contexts that the person may read, newest first; filters are in the address."""
    principal = asking(request)
    form = ContextFilterForm(request.GET, principal=principal)
    rows = Assembly.objects.visible_to(principal)
    rows = _filtered(rows, form) if form.is_valid() else rows.none()
    found, cursor = page_of(rows.listed(), request.GET)
    context = {
        "form": form,
        "contexts": found,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/context_list.html", context)


def _filtered(rows: AssemblyQuerySet, form: ContextFilterForm) -> AssemblyQuerySet:
    if agent := form.cleaned_data["agent"]:
        rows = rows.filter(agent_id=agent.id)
    if team := form.cleaned_data["team"]:
        rows = rows.filter(team_id=team.id)
    return rows.filter(CUT) if form.cleaned_data["only"] == "cut" else rows
