"""The page of alerts: what is wrong with contexts, who has seen it, and what is settled."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.alerts.access import alert_to_settle
from assembly.alerts.forms import AlertFilterForm
from assembly.alerts.selecting import alerts_selected
from assembly.alerts.services import alert_see, alert_settle, alert_take_up
from assembly.models import Alert
from assembly.views.alert_words import lines, title_of
from config.http.cursors import next_address, page_of
from teams.models import Team
from teams.views.asking import asking


def alert_list(request: HttpRequest) -> HttpResponse:
    """The alerts that the person may read, newest first: those that wait, unless others are asked for."""
    principal = asking(request)
    form = AlertFilterForm(request.GET, principal=principal)
    visible = Alert.objects.visible_to(principal)
    chosen = alerts_selected(visible, **form.chosen()) if form.is_valid() else visible.none()
    found, cursor = page_of(chosen, request.GET)
    context = {
        "form": form,
        "lines": lines(principal, found),
        "waiting": visible.waiting().count(),
        "narrowed": any(request.GET.get(name) for name in form.fields),
        "may_tell": Team.objects.manageable_by(principal).exists() or principal.is_admin,
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/alert_list.html", context)


@require_POST
def see(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The person looks after it."""
    principal = asking(request)
    alert = alert_see(alert=alert_to_settle(principal, id_), principal=principal)
    messages.success(request, _("Everybody sees now that you look after it: %(title)s.") % {"title": title_of(alert)})
    return redirect("alert_list")


@require_POST
def settle(request: HttpRequest, id_: UUID) -> HttpResponse:
    """It needs nobody any more."""
    principal = asking(request)
    alert = alert_settle(alert=alert_to_settle(principal, id_), principal=principal)
    told = _("Settled: %(title)s. Only another change brings it back.") % {"title": title_of(alert)}
    messages.success(request, told)
    return redirect("alert_list")


@require_POST
def take_up(request: HttpRequest, id_: UUID) -> HttpResponse:
    """It was settled too soon."""
    alert = alert_take_up(alert=alert_to_settle(asking(request), id_))
    messages.success(request, _("It is not settled any more: %(title)s.") % {"title": title_of(alert)})
    return redirect("alert_list")
