"""The forms of webhooks: a new one, and changes of one."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.models import Webhook
from assembly.webhooks.access import NOT_YOURS, webhook_for
from assembly.webhooks.forms import WebhookEditForm, WebhookForm, WebhookNewForm
from assembly.webhooks.services import webhook_create, webhook_update
from config.http.errors import Conflict, Forbidden, Invalid
from teams.files import StaleVersion
from teams.models import Team
from teams.principal import Principal
from teams.views.asking import asking

STALE = gettext_lazy("Somebody changed it while you did. Look at what it is now, then save once more to replace that.")


def webhook_new(request: HttpRequest) -> HttpResponse:
    """Register a webhook: its secret is shown next."""
    principal = asking(request)
    if not principal.is_admin and not Team.objects.manageable_by(principal).exists():
        raise Forbidden(NOT_YOURS)
    form = WebhookNewForm(request.POST if request.method == "POST" else None, principal=principal)
    if request.method == "POST" and form.is_valid() and (webhook := _created(form, principal)):
        messages.success(request, _("It is registered. Give the receiver this secret, then send a test."))
        return redirect("webhook_secret", id_=webhook.id)
    return render(request, "assembly/webhook_new.html", {"form": form}, status=422 if form.errors else 200)


def webhook_edit(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Change a webhook. Its secret stays."""
    principal = asking(request)
    webhook = webhook_for(principal, id_)
    form = WebhookEditForm(request.POST if request.method == "POST" else None, webhook=webhook)
    if request.method == "POST" and form.is_valid() and _saved(form, webhook, principal):
        messages.success(request, _("Saved. It counts from the next message on."))
        return redirect("webhook_page", id_=id_)
    context = {"form": form, "webhook": webhook}
    return render(request, "assembly/webhook_edit.html", context, status=422 if form.errors else 200)


def _created(form: WebhookNewForm, principal: Principal) -> Webhook | None:
    """The new webhook; None where the form now says what is wrong."""
    team = form.cleaned_data["team"]
    try:
        return webhook_create(facts=form.facts(active=True), team=team.slug if team else None, principal=principal)
    except Conflict as error:
        form.add_error(None, error.detail)
    except Invalid as error:
        _name_fault(form, error)
    return None


def _saved(form: WebhookEditForm, webhook: Webhook, principal: Principal) -> bool:
    """Whether it is saved; if not, the form says why, and saving it once more replaces what others saved meanwhile."""
    facts, version = form.facts(active=webhook.active), form.cleaned_data["version"]
    try:
        webhook_update(webhook=webhook, facts=facts, expected_version=version, principal=principal)
    except StaleVersion as error:
        data = cast("QueryDict", form.data).copy()
        data["version"] = str(error.current.version)
        form.data = data
        form.add_error(None, STALE)
    except Invalid as error:
        _name_fault(form, error)
    else:
        return True
    return False


def _name_fault(form: WebhookForm, error: Invalid) -> None:
    form.add_error(next(iter(error.extra["errors"])), error.detail)
