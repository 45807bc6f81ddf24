"""Pages of webhooks: the list, one with its log, its secret, and a test message."""

from dataclasses import replace
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from assembly.models import Webhook
from assembly.monitoring.webhooks.delivery import (
    DeliveryNotGivenUp,
    deliveries_of,
    delivery_resend,
    delivery_status,
    webhook_test,
)
from assembly.monitoring.webhooks.services import (
    FORBIDDEN_DETAIL,
    WebhookEditForm,
    WebhookFacts,
    WebhookForm,
    WebhookNewForm,
    WebhookVersionForm,
    delivery_for,
    secret_of,
    webhook_create,
    webhook_delete,
    webhook_for,
    webhook_secret_change,
    webhook_update,
    webhooks_of,
)
from config.http.cursors import next_page_url, page_of
from config.http.encryption import UndecryptableSecret
from config.http.errors import Conflict, Forbidden, Invalid
from teams.access import principal_of
from teams.models import Team
from teams.principal import Principal
from teams.versioned_text.presentation import Crumb
from teams.versioned_text.versioned_file import StaleVersion
from teams.views.confirmation import Confirmation, confirmation_page

SHOWN = "20"


def webhook_list(request: HttpRequest) -> HttpResponse:
    """The webhooks that the person manages, the newest first. Raises Forbidden for those who manage no team."""
    principal = principal_of(request)
    if not principal.is_admin and not Team.objects.manageable_by(principal).exists():
        raise Forbidden(FORBIDDEN_DETAIL)
    found, cursor = page_of(webhooks_of(principal), request.GET)
    context = {"webhooks": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}
    return render(request, "assembly/monitoring/webhooks/list.html", context)


def webhook_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """A webhook, and what became of the messages to it."""
    webhook = webhook_for(principal_of(request), id_)
    found, cursor = page_of(deliveries_of(webhook), {"limit": SHOWN, **request.GET.dict()})
    context = {
        "webhook": webhook,
        "deliveries": [delivery_status(delivery) for delivery in found],
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/monitoring/webhooks/webhook.html", context)


@never_cache
def secret(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The secret, with which the receiver checks that a message is ours."""
    webhook = webhook_for(principal_of(request), id_)
    try:
        shown = secret_of(webhook)
    except UndecryptableSecret:
        shown = ""
    return render(request, "assembly/monitoring/webhooks/secret.html", {"webhook": webhook, "secret": shown})


@require_POST
def secret_change(request: HttpRequest, id_: UUID) -> HttpResponse:
    """A new secret, shown at once. Raises StaleVersion if the page did not show the newest."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    webhook_secret_change(webhook=webhook, expected_version=_form(request)[0], principal=principal)
    messages.success(request, _("There is a new secret. For 24 hours messages are signed with the old one, too."))
    return redirect("webhook_secret", id_=id_)


@require_POST
def test(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Send a message now, and say what came of it."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    delivery = webhook_test(webhook=webhook, principal=principal)
    if delivery.delivered and delivery.ms is None:
        messages.success(request, _("It took the test."))
    elif delivery.delivered:
        messages.success(request, _("It took the test within %(ms)s ms.") % {"ms": f"{delivery.ms:,}"})
    else:
        messages.error(request, _("The test did not arrive. %(fault)s") % {"fault": delivery.fault})
    return redirect("webhook_page", id_=id_)


@require_POST
def resend(request: HttpRequest, id_: UUID, delivery: UUID) -> HttpResponse:
    """Have a message sent again that was given up."""
    principal = principal_of(request)
    try:
        delivery_resend(delivery=delivery_for(principal, id_, delivery), principal=principal)
    except DeliveryNotGivenUp:
        messages.info(request, _("It was taken, or is on its way already."))
    else:
        messages.success(request, _("It is sent again, as often as a new message, until it is taken."))
    return redirect("webhook_page", id_=id_)


@require_POST
def switch(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Switch it on or off. Raises StaleVersion if the page did not show the newest."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    version, on = _form(request)
    facts = replace(WebhookFacts.of(webhook), active=on)
    webhook_update(webhook=webhook, facts=facts, expected_version=version, principal=principal)
    messages.success(request, _("It is on.") if on else _("It is off. What happens meanwhile is not told later."))
    return redirect("webhook_page", id_=id_)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask whether it shall go with its log, and delete it."""
    webhook: Webhook = webhook_for(principal_of(request), id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the webhook %(label)s?") % {"label": webhook.label},
                consequences=[
                    _("Its secret goes, and so does the log of what was sent. What waits to be sent is not sent."),
                    _("To pause it, switch it off."),
                ],
                button=_("Delete it with its log"),
                back=reverse("webhook_page", args=[id_]),
                crumbs=[Crumb(_("Webhooks"), reverse("webhook_list"))],
            ),
        )
    webhook_delete(webhook=webhook)
    messages.success(request, _("The webhook %(label)s is deleted.") % {"label": webhook.label})
    return redirect("webhook_list")


def _form(request: HttpRequest) -> tuple[int, bool]:
    """The version that the page showed, 0 where it said none, and whether the webhook is to be on."""
    form = WebhookVersionForm(request.POST)
    form.full_clean()
    return form.cleaned_data.get("version", 0), form.cleaned_data["on"]


STALE = gettext_lazy("Somebody changed it while you did. Look at what it is now, then save once more to replace that.")


def webhook_new(request: HttpRequest) -> HttpResponse:
    """Register a webhook: its secret is shown next."""
    principal = principal_of(request)
    if not principal.is_admin and not Team.objects.manageable_by(principal).exists():
        raise Forbidden(FORBIDDEN_DETAIL)
    form = WebhookNewForm(request.POST if request.method == "POST" else None, principal=principal)
    if request.method == "POST" and form.is_valid() and (webhook := _create_from_form(form, principal)):
        messages.success(request, _("It is registered. Give the receiver this secret, then send a test."))
        return redirect("webhook_secret", id_=webhook.id)
    return render(request, "assembly/monitoring/webhooks/new.html", {"form": form}, status=422 if form.errors else 200)


def webhook_edit(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Change a webhook. Its secret stays."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    form = WebhookEditForm(request.POST if request.method == "POST" else None, webhook=webhook)
    if request.method == "POST" and form.is_valid() and _save_form(form, webhook, principal):
        messages.success(request, _("Saved. It counts from the next message on."))
        return redirect("webhook_page", id_=id_)
    context = {"form": form, "webhook": webhook}
    return render(request, "assembly/monitoring/webhooks/edit.html", context, status=422 if form.errors else 200)


def _create_from_form(form: WebhookNewForm, principal: Principal) -> Webhook | None:
    """The new webhook; None where the form now says what is wrong."""
    team = form.cleaned_data["team"]
    try:
        return webhook_create(facts=form.facts(active=True), team=team.slug if team else None, principal=principal)
    except Conflict as error:
        form.add_error(None, error.detail)
    except Invalid as error:
        _name_fault(form, error)
    return None


def _save_form(form: WebhookEditForm, webhook: Webhook, principal: Principal) -> bool:
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
