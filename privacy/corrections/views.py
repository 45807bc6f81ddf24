"""The pages of corrections: what is wrong and what it would change, and one correction with its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from config.http.errors import Conflict, Invalid
from config.http.selection import FIELD, parse_ids
from privacy.access import correction_for, subject_for
from privacy.corrections.correction_plan import MAX_PLANNED, PlannedThing, correction_plan
from privacy.corrections.forms import CorrectionForm
from privacy.corrections.services import correction_create, correction_undo
from privacy.models import CorrectionResult, CorrectionStatus, MentionStatus, Subject, SubjectCorrection, SubjectMention
from privacy.subjects.linked_things import LinkedThing, linked_things
from privacy.subjects.presentation import status_counts
from privacy.subjects.views import crumb_of, list_crumb
from teams.access import principal_of


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """The things of one kind that a correction would change."""

    label: str | Promise
    things: Sequence[PlannedThing]


@dataclass(frozen=True, slots=True)
class ResultView:
    """What became of a thing, with the thing, if it is still linked."""

    result: CorrectionResult
    thing: LinkedThing | None

    @property
    def can_be_undone(self) -> bool:
        return self.result.status == CorrectionStatus.CORRECTED


def correct(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for a wrong value and the right one, show what would change, and change what is chosen."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    form = CorrectionForm(request.POST or None, initial=_initial(request, subject))
    facts: dict[str, Any] = {"subject": subject, "form": form, "crumbs": [list_crumb(), crumb_of(subject)]}
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "apply":
            try:
                correction = correction_create(
                    subject=subject,
                    value=form.value,
                    reason=form.cleaned_data["reason"],
                    things=request.POST.getlist(FIELD)[: MAX_PLANNED + 1],
                    principal=principal,
                )
            except (Invalid, Conflict) as refused:
                form.add_error(None, refused.detail)
            else:
                return redirect("subject_correction", id_=id_, correction_id=correction.id)
        facts |= _planned(subject, form)
    counts = status_counts(subject)
    facts |= {"linked": counts[MentionStatus.LINKED], "to_review": counts[MentionStatus.FOUND], "most": MAX_PLANNED}
    return render(request, "privacy/corrections/correct.html", facts, status=422 if form.errors else 200)


def _initial(request: HttpRequest, subject: Subject) -> dict[str, str]:
    """Return the identifier that the address names by its id, as the wrong value."""
    named = parse_ids([request.GET.get("identifier", "")])
    identifier = subject.identifiers.filter(id__in=named).first()
    return {"kind": identifier.kind, "wrong": identifier.value} if identifier else {"kind": "other"}


def _planned(subject: Subject, form: CorrectionForm) -> dict[str, Any]:
    plan = correction_plan(subject, form.value)
    by_kind = groupby(plan.things, key=lambda planned: planned.thing.kind)
    return {"plan": plan, "groups": [PlannedGroup(kind.label, list(things)) for kind, things in by_kind]}


def correction_page(request: HttpRequest, id_: UUID, correction_id: UUID) -> HttpResponse:
    """Show a correction, what became of each thing, and who was told the wrong value."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    correction = correction_for(principal, subject, correction_id)
    results = _results(correction)
    facts = {
        "subject": subject,
        "correction": correction,
        "results": results,
        "can_undo": any(view.can_be_undone for view in results),
        "waiting": len(correction.chosen) - len(results),
        "crumbs": [list_crumb(), crumb_of(subject)],
    }
    return render(request, "privacy/corrections/correction.html", facts)


def _results(correction: SubjectCorrection) -> list[ResultView]:
    results = list(correction.results.all())
    mentions = SubjectMention.objects.filter(
        subject=correction.subject_id, thing__in=[result.thing for result in results]
    )
    things = {thing.mention.thing: thing for thing in linked_things(mentions)}
    return [ResultView(result, things.get(result.thing)) for result in results]


@require_POST
def undo(request: HttpRequest, id_: UUID, correction_id: UUID) -> HttpResponse:
    """Give the selected things the texts that they had before."""
    principal = principal_of(request)
    correction = correction_for(principal, subject_for(principal, id_), correction_id)
    things = parse_ids(request.POST.getlist(FIELD)[:MAX_PLANNED])
    try:
        undone = correction_undo(correction=correction, things=things, principal=principal)
    except (Invalid, Conflict) as refused:
        messages.error(request, refused.detail)
    else:
        told = ngettext("1 text is as it was before.", "%(n)s texts are as they were before.", undone)
        messages.success(request, told % {"n": undone})
    return redirect("subject_correction", id_=id_, correction_id=correction_id)
