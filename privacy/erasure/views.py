"""The pages of erasures: to begin one, their list, and the report of one; and legal holds of subjects."""

import datetime
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.access import agent_for
from agents.models import Agent
from assembly.records.seal_hashing import canonical_json
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, DossierError, Invalid, NotFound
from config.keys.key_errors import KeysUnavailable
from privacy.access import erasure_for, subject_for
from privacy.erasure.erasure_job import job_of
from privacy.erasure.holds import hold_lift, hold_set
from privacy.erasure.ledger import lost_erasures
from privacy.erasure.services import ErasurePlan, erasure_plan, erasure_request
from privacy.models import HoldKind, LegalHold, Subject, SubjectErasure
from privacy.models.erasure import MAX_ERASURE_REASON_CHARACTERS
from privacy.subjects.linked_things import LinkedThing, linked_things
from privacy.subjects.stored_texts import THING_KINDS
from privacy.subjects.views import crumb_of, list_crumb
from teams.access import principal_of, require_admin, team_for
from teams.activity.log import export_record
from teams.legal_holds import HeldByLaw
from teams.models import Team
from teams.versioned_text.presentation import Crumb

JSON = "application/json"


class ErasureForm(forms.Form):
    """Why a subject is erased, the number of linked texts that the admin has seen, and the confirmation."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=MAX_ERASURE_REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("It stays in the report. Write it without the name of the person."),
    )
    confirmed = forms.IntegerField(
        label=gettext_lazy("Number of linked texts"),
        min_value=0,
        help_text=gettext_lazy("Type it from above, to confirm that you have read it."),
    )


class HoldForm(forms.Form):
    """Why nothing of a subject, an agent or a team may be erased."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=MAX_ERASURE_REASON_CHARACTERS, widget=forms.Textarea(attrs={"rows": 2})
    )


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """A line of the confirmation page: a linked thing, and whether it goes as a whole."""

    thing: LinkedThing
    is_whole: bool
    may_be_whole: bool


def erase(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show what the erasure of a subject will do, and begin it once it is confirmed."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    form = ErasureForm(request.POST or None)
    whole = _chosen(request) if request.method == "POST" else None
    plan = erasure_plan(subject, whole)
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["confirmed"] != len(plan.mentions):
            form.add_error("confirmed", _("This is not the number of linked texts. Nothing was erased."))
        else:
            try:
                erasure = erasure_request(
                    subject=subject, reason=form.cleaned_data["reason"], principal=principal, whole=whole
                )
            except Invalid as refused:
                form.add_error("reason", refused.detail)
            except (Conflict, HeldByLaw) as refused:
                form.add_error(None, refused.detail)
            else:
                messages.success(request, _("The erasure has begun. You can leave this page."))
                return redirect("erasure", id_=erasure.id)
    facts = {
        "subject": subject,
        "form": form,
        "plan": plan,
        "counts": [(THING_KINDS[kind].label, number) for kind, number in plan.counts.items()],
        "rows": _rows(plan),
        "hold": plan.hold,
        "crumbs": [list_crumb(), crumb_of(subject)],
    }
    return render(request, "privacy/erasure/erase.html", facts, status=422 if form.errors else 200)


def _chosen(request: HttpRequest) -> set[UUID]:
    """Return the ids of the mentions that are checked to be deleted as a whole; others than ids are ignored."""
    found = set()
    for value in request.POST.getlist("whole"):
        try:
            found.add(UUID(value))
        except ValueError:
            continue
    return found


def _rows(plan: ErasurePlan) -> list[PlannedRow]:
    things = {thing.mention.id: thing for thing in linked_things((one.mention for one in plan.mentions), notices=True)}
    return [
        PlannedRow(things[one.mention.id], one.is_whole, one.may_be_whole)
        for one in plan.mentions
        if one.mention.id in things
    ]


@dataclass(frozen=True, slots=True)
class HoldTarget:
    """What a legal hold is on, for its page: its name, and the addresses to which the page leads."""

    kind: HoldKind
    id: UUID
    name: str
    back: str
    """Where it is after a hold was lifted, or not set."""
    after: str
    crumbs: tuple[Crumb, ...]


def hold(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the legal hold of a subject, and set or lift it."""
    subject = subject_for(principal_of(request), id_)
    back, after = reverse("subject", args=[id_]), reverse("subject_erase", args=[id_])
    crumbs = (list_crumb(), crumb_of(subject))
    return _hold_page(request, HoldTarget(HoldKind.SUBJECT, id_, subject.name, back, after, crumbs))


def agent_hold(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the legal hold of an agent, and set or lift it."""
    principal = principal_of(request)
    require_admin(principal)
    agent = agent_for(principal, slug)
    back = reverse("agent_settings", args=[slug])
    crumbs = (
        Crumb(_("Agents"), reverse("agent_list")),
        Crumb(agent.name, reverse("agent_page", args=[slug])),
        Crumb(_("Settings"), back),
    )
    return _hold_page(request, HoldTarget(HoldKind.AGENT, agent.id, agent.name, back, request.path, crumbs))


def team_hold(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the legal hold of a team, and set or lift it."""
    principal = principal_of(request)
    require_admin(principal)
    team = team_for(principal, slug)
    back = reverse("team_settings", args=[slug])
    crumbs = (
        Crumb(_("Teams"), reverse("team_list")),
        Crumb(team.name, reverse("team_page", args=[slug])),
        Crumb(_("Settings"), back),
    )
    return _hold_page(request, HoldTarget(HoldKind.TEAM, team.id, team.name, back, request.path, crumbs))


def _hold_page(request: HttpRequest, of: HoldTarget) -> HttpResponse:
    principal = principal_of(request)
    form = HoldForm(request.POST or None)
    current = LegalHold.objects.filter(kind=of.kind, target=of.id, lifted_at=None).first()
    if request.method == "POST" and current:
        hold_lift(hold=current, principal=principal)
        messages.success(request, _("The legal hold is lifted."))
        return redirect(of.back)
    if request.method == "POST" and form.is_valid():
        try:
            hold_set(kind=of.kind, target=of.id, reason=form.cleaned_data["reason"], principal=principal)
        except DossierError as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(request, _("Nothing of %(name)s is erased until the hold is lifted.") % {"name": of.name})
            return redirect(of.after)
    facts = {"of": of, "form": form, "hold": current, "crumbs": of.crumbs}
    invalid = form.errors and not current
    return render(request, "privacy/erasure/hold.html", facts, status=422 if invalid else 200)


def erasure_list(request: HttpRequest) -> HttpResponse:
    """Show all erasures, the newest first, and the legal holds in force."""
    require_admin(principal_of(request))
    found, cursor = page_of(SubjectErasure.objects.all(), request.GET, ("number",))
    facts = {
        "erasures": found,
        "lost": _lost(),
        "next": next_page_url(request.path, request.GET.dict(), cursor),
        "holds": _held(),
    }
    return render(request, "privacy/erasure/list.html", facts)


def _lost() -> int:
    """Return how many erasures are missing, because an older state of the database was restored; 0 if nobody knows."""
    try:
        return len(lost_erasures())
    except KeysUnavailable:
        return 0


def _held() -> list[tuple[LegalHold, str, str]]:
    """Return the legal holds in force, each with the name of what it is on and the address of its page if it exists."""
    holds = list(LegalHold.objects.filter(lifted_at=None).order_by("-created", "-id"))
    of = {kind: [hold.target for hold in holds if hold.kind == kind] for kind in HoldKind}
    pages: dict[UUID, tuple[str, str]] = {}
    for subject in Subject.objects.filter(id__in=of[HoldKind.SUBJECT]):
        pages[subject.id] = subject.name, reverse("subject_hold", args=[subject.id])
    for team in Team.objects.filter(id__in=of[HoldKind.TEAM]):
        pages[team.id] = team.name, reverse("team_hold", args=[team.slug])
    for agent in Agent.objects.filter(id__in=of[HoldKind.AGENT]):
        pages[agent.id] = agent.name, reverse("agent_hold", args=[agent.slug])
    return [(hold, *pages.get(hold.target, ("", ""))) for hold in holds]


def erasure_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show how far an erasure is, or its report."""
    erasure = erasure_for(principal_of(request), id_)
    report = erasure.report or {}
    gone_by = report.get("write_ahead", {}).get("gone_by")
    facts: dict[str, Any] = {
        "erasure": erasure,
        "report": erasure.report,
        "keys": report.get("keys"),
        "gone_by": datetime.datetime.fromisoformat(gone_by) if gone_by else None,
        "places": [line for line in report.get("places", ()) if line["found"]],
        "empty": sum(not line["found"] for line in report.get("places", ())),
        "steps_done": len(erasure.steps.get("done", [])),
        "job": job_of(erasure),
        "first_completed": datetime.datetime.fromisoformat(erasure.repeats["completed_at"])
        if erasure.repeats
        else None,
        "sha256": bytes(erasure.sha256 or b"").hex(),
        "crumbs": [list_crumb(), Crumb(_("Erasures"), reverse("erasure_list"))],
    }
    return render(request, "privacy/erasure/erasure.html", facts)


def report_file(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Return the report of an erasure as the canonical JSON that is sealed. Raises NotFound before it is finished."""
    principal = principal_of(request)
    erasure = erasure_for(principal, id_)
    if erasure.report is None:
        raise NotFound("The report of this erasure")
    name = f"erasure-{erasure.number}.json"
    export_record(principal, name)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(canonical_json(erasure.report), content_type=JSON, headers=headers)
