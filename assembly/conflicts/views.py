"""The pages of conflicts: their list, and one conflict side by side, on which a person decides."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.conflicts.access import conflict_for, conflict_to_resolve
from assembly.conflicts.counts import recount_open_conflicts
from assembly.conflicts.edit_check import edit_check
from assembly.conflicts.forms import ConflictFilterForm, DecisionForm
from assembly.conflicts.presentation import conflict_views, decision_views, including_contexts
from assembly.conflicts.restoration import last_undo
from assembly.conflicts.services import conflict_edit, conflict_resolve, conflict_undo
from assembly.models import Conflict
from assembly.models.conflict import MAX_REASON_CHARACTERS
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict as ConflictError
from config.http.errors import Invalid
from config.http.filter_chips import filter_chips
from config.http.shown_once import take_shown_once
from teams.access import principal_of
from teams.models import User
from teams.versioned_text.presentation import Crumb

UNDO_PAGE = "conflicts"
"""The page that offers to undo what was done with a selection."""


def conflict_list(request: HttpRequest) -> HttpResponse:
    """Show the conflicts that the filter selects, newest first; without one, those that the person may decide."""
    principal = principal_of(request)
    form = ConflictFilterForm(request.GET, principal=principal)
    found, cursor = page_of(form.rows().select_related("agent", "team"), request.GET, ("found", "id"))
    views = conflict_views(principal, found)
    to_decide = recount_open_conflicts(cast("User", request.user))
    visible = Conflict.objects.visible_to(principal).selected().exclude(kind="duplicate").count()
    context = {
        "form": form,
        "views": views,
        "may_select": any(view.may_decide or view.may_undo for view in views),
        "chips": filter_chips(request, form),
        "to_decide": to_decide,
        "others": visible - to_decide,
        "narrowed": any(request.GET.get(name) for name in form.fields),
        "undo": take_shown_once(request, UNDO_PAGE).get("picks", "").split(),
        "max_reason": MAX_REASON_CHARACTERS,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/conflicts/list.html", context)


def conflict_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show a conflict side by side."""
    return _render_conflict(request, conflict_for(principal_of(request), id_))


@require_POST
def resolve(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Decide which side holds, or that both do, or rewrite the memory of a side."""
    principal = principal_of(request)
    conflict = conflict_to_resolve(principal, id_)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        if "choice" in form.errors:
            messages.error(request, _("Choose which text holds."))
        return _render_conflict(request, conflict, form, status=422)
    decided = form.cleaned_data
    try:
        if side := form.edited_side:
            text = decided[f"{side}_text"]
            conflict_edit(conflict=conflict, side=side, text=text, reason=decided["reason"], principal=principal)
        else:
            conflict_resolve(conflict=conflict, choice=decided["choice"], reason=decided["reason"], principal=principal)
    except Invalid as refused:
        is_text = side and "reason" not in refused.extra["errors"]
        form.add_error(f"{side}_text" if is_text else "reason", refused.detail)
        return _render_conflict(request, conflict, form, status=422)
    except ConflictError as refused:
        messages.error(request, refused.detail)
        recount_open_conflicts(cast("User", request.user))
        return _render_conflict(request, conflict_for(principal, id_), form, status=409)
    else:
        messages.success(request, _("Decided. It holds from the next context on; you can undo it here."))
    recount_open_conflicts(cast("User", request.user))
    return redirect("conflict_page", id_=id_)


@require_POST
def undo(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Undo the decision on a conflict."""
    principal = principal_of(request)
    try:
        undone = conflict_undo(conflict=conflict_to_resolve(principal, id_), principal=principal)
    except ConflictError as refused:
        messages.error(request, refused.detail)
    else:
        _add_undone_message(request, undone)
    recount_open_conflicts(cast("User", request.user))
    return redirect("conflict_page", id_=id_)


def _add_undone_message(request: HttpRequest, conflict: Conflict) -> None:
    """Say that the decision was undone, and what became of the memory that it had changed."""
    restorations = last_undo(conflict) or []
    is_waiting = Conflict.objects.waiting().filter(id=conflict.id).exists()
    said = [_("Undone. The conflict is open again.") if is_waiting else _("The decision is undone.")]
    said += [restoration.told for restoration in restorations]
    is_whole = all(restoration.is_restored and not restoration.notes for restoration in restorations)
    (messages.success if is_whole else messages.warning)(request, " ".join(said))


def _render_conflict(
    request: HttpRequest, conflict: Conflict, form: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    principal = principal_of(request)
    view = conflict_views(principal, [conflict])[0]
    texts = {f"{side.choice}_text": side.text.text for side in view.sides}
    context = {
        "crumbs": [Crumb(_("Conflicts"), reverse("conflict_list"))],
        "view": view,
        "check": edit_check(conflict, principal),
        "form": form or DecisionForm(initial=texts),
        "unsaved": form.typed if form and not view.may_decide else [],
        "decisions": decision_views(conflict),
        "contexts": including_contexts(conflict, principal),
    }
    return render(request, "assembly/conflicts/conflict.html", context, status=status)
