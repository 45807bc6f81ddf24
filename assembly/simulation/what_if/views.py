"""The page of a what-if has the form, the result beside the recorded context, and a button that saves a proposal."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from assembly.access import assembly_for
from assembly.comparison.presentation import comparison_page
from assembly.models import Assembly
from assembly.records.reader import load_record
from assembly.simulation.basis import OwnerDeleted
from assembly.simulation.proposals.services import may_propose, proposal_create
from assembly.simulation.what_if.forms import WhatIfForm
from assembly.simulation.what_if.presentation import override_rows
from assembly.simulation.what_if.services import run_what_if
from config.http.errors import Conflict, Invalid
from teams.access import principal_of

UNPROCESSABLE = 422


@require_http_methods(["GET", "HEAD", "POST"])
def what_if_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the form and the result, and save it as a proposal on request."""
    assembly = assembly_for(principal_of(request), id_)
    told = load_record(assembly)
    if request.method != "POST":
        return _page(request, assembly, WhatIfForm(told=told, asked=request.GET.dict()))
    form = WhatIfForm(request.POST, told=told)
    if not form.is_valid():
        return _page(request, assembly, form, UNPROCESSABLE)
    try:
        return (
            _save_proposal(request, assembly, form) if "save" in request.POST else _result_page(request, assembly, form)
        )
    except Invalid as refused:
        form.add_refusal(refused.extra["errors"], refused.detail)
    except (OwnerDeleted, Conflict) as refused:
        form.add_error(None, refused.detail)
    return _page(request, assembly, form, UNPROCESSABLE)


def _result_page(request: HttpRequest, assembly: Assembly, form: WhatIfForm) -> HttpResponse:
    found = run_what_if(assembly=assembly, overrides=form.overrides())
    facts = {"found": found, "wishes": override_rows(found.overrides), **comparison_page(found.beside)}
    return _page(request, assembly, form, **facts)


def _save_proposal(request: HttpRequest, assembly: Assembly, form: WhatIfForm) -> HttpResponse:
    note = form.cleaned_data["note"]
    proposal, _found = proposal_create(
        assembly=assembly, wishes=form.overrides(), note=note, principal=principal_of(request)
    )
    messages.success(request, _("Suggestion saved. Nothing was published."))
    return redirect("proposal", id_=proposal.id)


def _page(request: HttpRequest, assembly: Assembly, form: WhatIfForm, status: int = 200, **facts: Any) -> HttpResponse:
    principal = principal_of(request)
    context = {"assembly": assembly, "form": form, "may_propose": may_propose(principal, assembly), **facts}
    return render(request, "assembly/simulation/what_if/what_if.html", context, status=status)
