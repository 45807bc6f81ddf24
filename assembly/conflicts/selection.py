"""Actions on conflicts that were selected in their list: the newer text holds, the first, the second, both; undo."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from assembly.conflicts.counts import recount_open_conflicts
from assembly.conflicts.forms import ReasonForm
from assembly.conflicts.presentation import ConflictView, conflict_views
from assembly.conflicts.restoration import last_undo
from assembly.conflicts.services import Choice, conflict_resolve, conflict_undo
from assembly.conflicts.views import UNDO_PAGE
from assembly.models import Conflict
from config.http.errors import DossierError, Invalid
from config.http.selection import chosen_action, redirect_to_list, selected_ids
from config.http.shown_once import show_once
from teams.access import principal_of
from teams.models import User


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """An action: the side that it chooses in a conflict (None: it cannot), and the message that counts the decided."""

    side: Callable[[ConflictView], Choice | None]
    done: str | Promise


ACTIONS: Mapping[str, ConflictChoice | None] = {
    "newer": ConflictChoice(lambda view: view.newer, gettext_lazy("Decided that the newer text holds: %(n)s.")),
    "left": ConflictChoice(lambda _view: "left", gettext_lazy("Decided that the first text holds: %(n)s.")),
    "right": ConflictChoice(lambda _view: "right", gettext_lazy("Decided that the second text holds: %(n)s.")),
    "both": ConflictChoice(lambda _view: "both", gettext_lazy("Decided that both texts hold: %(n)s.")),
    "undo": None,
}


@require_POST
def selection(request: HttpRequest) -> HttpResponse:
    """Do the action that the pressed button names with the selected conflicts on which the person may decide."""
    principal = principal_of(request)
    try:
        action, ids = chosen_action(request.POST, ACTIONS), selected_ids(request.POST)
        reason = _reason(request)
    except Invalid as refused:
        messages.error(request, refused.detail)
        return redirect_to_list(request, "conflict_list")
    visible = Conflict.objects.visible_to(principal).filter(id__in=ids).select_related("agent", "team").order_by("id")
    views = conflict_views(principal, visible)
    allowed = [view for view in views if view.may_resolve]
    if action is None:
        done, refusals = _attempt_each(
            partial(conflict_undo, conflict=one.conflict, principal=principal) for one in allowed
        )
        said = str(_("Undone: %(n)s."))
        _add_not_restored(request, done)
    else:
        decide = partial(conflict_resolve, reason=reason, principal=principal)
        chosen = [(view.conflict, choice) for view in allowed if (choice := action.side(view))]
        done, refusals = _attempt_each(partial(decide, conflict=conflict, choice=choice) for conflict, choice in chosen)
        said = str(action.done)
        if done:
            show_once(request, UNDO_PAGE, picks=" ".join(str(conflict.id) for conflict in done))
    for refusal in dict.fromkeys(refusals):
        messages.error(request, refusal)
    unchanged = len(allowed) - len(done) - len(refusals)
    _add_messages(request, said, done=len(done), unchanged=unchanged, refused=len(views) - len(allowed))
    recount_open_conflicts(cast("User", request.user))
    return redirect_to_list(request, "conflict_list")


def _reason(request: HttpRequest) -> str:
    """Return the reason that was sent. Raises Invalid."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise Invalid("reason", _("Reason: %(error)s") % {"error": " ".join(map(str, form.errors["reason"]))})
    return str(form.cleaned_data["reason"])


def _attempt_each(actions: Iterable[Callable[[], Conflict]]) -> tuple[list[Conflict], list[str]]:
    """Do each of the actions that is possible; return their conflicts, and a sentence for each refused reason.

    Each is a transaction of its own: one that is refused leaves the others as they are, and none waits for a conflict
    while it keeps others waiting.
    """
    done, refusals = [], []
    for act in actions:
        try:
            done.append(act())
        except Invalid as refused:  # the reason has a secret
            refusals.append(refused.detail)
        except DossierError:
            continue  # somebody decided, undid, deleted or changed a text meanwhile
    return done, refusals


def _add_not_restored(request: HttpRequest, undone: Iterable[Conflict]) -> None:
    """Say how many memories could not be restored, because somebody has changed them since."""
    restorations = [restoration for conflict in undone for restoration in last_undo(conflict) or ()]
    if kept := sum(not restoration.is_restored for restoration in restorations):
        told = ngettext(
            "%(n)s memory was changed since and is not restored. The page of its conflict says why.",
            "%(n)s memories were changed since and are not restored. The pages of their conflicts say why.",
            kept,
        )
        messages.warning(request, told % {"n": kept})


def _add_messages(request: HttpRequest, said: str, *, done: int, unchanged: int, refused: int) -> None:
    """Say what was done, and why nothing was done with the others."""
    if done:
        messages.success(request, said % {"n": done})
    if unchanged:
        told = ngettext(
            "%(n)s conflict was left as it is: it was decided or undone before, a text was changed or archived, "
            "the agent left the team, or neither is newer.",
            "%(n)s conflicts were left as they are: they were decided or undone before, a text was changed or "
            "archived, the agent left the team, or neither is newer.",
            unchanged,
        )
        messages.warning(request, told % {"n": unchanged})
    if refused:
        messages.error(
            request, _("Your role does not allow this for %(n)s of the selected conflicts.") % {"n": refused}
        )
