"""Actions on alerts that were selected in their list: acknowledge, resolve, reopen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from assembly.models import Alert
from assembly.monitoring.alerts.services import alert_acknowledge, alert_reopen, alert_resolve
from assembly.monitoring.alerts.views import alert_rows
from config.http.errors import Invalid
from config.http.selection import chosen_action, redirect_to_list, selected_ids
from teams.access import principal_of
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class AlertAction:
    """An action on one alert, and the message that counts the alerts."""

    change: Callable[[Alert, Principal], Alert]
    done: str | Promise


ACTIONS: Mapping[str, AlertAction] = {
    "acknowledge": AlertAction(
        lambda alert, principal: alert_acknowledge(alert=alert, principal=principal),
        gettext_lazy("Acknowledged: %(n)s."),
    ),
    "resolve": AlertAction(
        lambda alert, principal: alert_resolve(alert=alert, principal=principal), gettext_lazy("Resolved: %(n)s.")
    ),
    "reopen": AlertAction(lambda alert, _principal: alert_reopen(alert=alert), gettext_lazy("Reopened: %(n)s.")),
}


@require_POST
def selection(request: HttpRequest) -> HttpResponse:
    """Do the action that the pressed button names with the selected alerts that the user may resolve."""
    principal = principal_of(request)
    try:
        action, ids = chosen_action(request.POST, ACTIONS), selected_ids(request.POST)
    except Invalid as refused:
        messages.error(request, refused.detail)
        return redirect_to_list(request, "alert_list")
    rows = alert_rows(principal, Alert.objects.visible_to(principal).filter(id__in=ids).order_by("id"))
    allowed = [row.alert for row in rows if row.may_settle]
    for alert in allowed:
        action.change(alert, principal)
    if allowed:
        messages.success(request, action.done % {"n": len(allowed)})
    if refused_count := len(rows) - len(allowed):
        said = _("Your role does not allow this for %(n)s of the selected alerts.")
        messages.error(request, said % {"n": refused_count})
    return redirect_to_list(request, "alert_list")
