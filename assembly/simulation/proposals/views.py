"""The pages of proposals: the list, a proposal, and its decision."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from assembly.comparison.presentation import comparison_page
from assembly.models import Assembly, Proposal
from assembly.simulation.proposals.services import (
    may_decide,
    may_delete,
    proposal_decide,
    proposal_delete,
    proposal_for,
    proposal_rerun,
    require_deletable,
)
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.presentation import override_rows
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, DossierError
from teams.access import principal_of
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page

DECISIONS = {"accept": Proposal.Status.ACCEPTED, "dismiss": Proposal.Status.DISMISSED}


def proposal_list(request: HttpRequest) -> HttpResponse:
    """Show the proposals that the person may see, newest first; by default those that are open."""
    shown_all = request.GET.get("show") == "all"
    rows = Proposal.objects.visible_to(principal_of(request))
    found, cursor = page_of(rows if shown_all else rows.filter(status=Proposal.Status.OPEN), request.GET)
    page = {
        "proposals": found,
        "shown_all": shown_all,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/simulation/proposals/list.html", page)


def proposal(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show what is proposed, what it changed when it was created, and on request what it would change today."""
    principal = principal_of(request)
    found = proposal_for(principal, id_)
    assembly = Assembly.objects.filter(id=found.assembly_id).first()
    profile = assembly.profile_name if assembly else ""
    wishes = override_rows(Overrides.from_dict(found.wishes), found, profile)
    page: dict[str, Any] = {
        "proposal": found,
        "assembly": assembly,
        "wishes": wishes,
        "has_links": any(wish.address for wish in wishes),
        "may_decide": found.is_open and may_decide(principal, found),
        "may_delete": may_delete(principal, found),
    }
    if "try" in request.GET:
        try:
            tried = proposal_rerun(found)
        except DossierError as refused:
            page["refused"] = refused.detail
        else:
            page |= {"found": tried, **comparison_page(tried.beside)} if tried else {}
    return render(request, "assembly/simulation/proposals/proposal.html", page)


@require_POST
def decide(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Accept or dismiss a proposal."""
    principal = principal_of(request)
    found = proposal_for(principal, id_)
    status = DECISIONS["accept" if "accept" in request.POST else "dismiss"]
    try:
        proposal_decide(proposal=found, status=status, principal=principal)
    except Conflict as refused:
        messages.error(request, refused.detail)
    else:
        accepted = status == Proposal.Status.ACCEPTED
        messages.success(request, _accepted_message(found) if accepted else _("Dismissed."))
    return redirect("proposal", id_=id_)


def _accepted_message(found: Proposal) -> str:
    """Return the message on an accepted proposal, with the next step."""
    assembly = Assembly.objects.filter(id=found.assembly_id).only("profile_name").first()
    rows = override_rows(Overrides.from_dict(found.wishes), found, assembly.profile_name if assembly else "")
    if any(row.address for row in rows):
        return _("Accepted. Apply the changes with the links below.")
    return _("Accepted. Update your API calls to apply it.")


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and delete a proposal."""
    principal = principal_of(request)
    found = proposal_for(principal, id_)
    if request.method != "POST":
        require_deletable(principal, found)
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the suggestion for %(name)s?") % {"name": found.agent_name},
                consequences=[
                    _("This deletes the suggestion with its comment and decision. Published texts are not changed.")
                ],
                button=_("Delete permanently"),
                back=reverse("proposal", args=[id_]),
                crumbs=[Crumb(_("Suggestions"), reverse("proposal_list"))],
            ),
        )
    proposal_delete(proposal=found, principal=principal)
    messages.success(request, _("Suggestion deleted."))
    return redirect("proposal_list")
