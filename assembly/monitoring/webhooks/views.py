"""The pages of webhooks: the list, a webhook with its deliveries, its secret, and a test message."""

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
    """Show the webhooks that the person manages, newest first. Raises Forbidden for people who manage no team."""
    principal = principal_of(request)
    if not principal.is_admin and not Team.objects.manageable_by(principal).exists():
        raise Forbidden(FORBIDDEN_DETAIL)
    found, cursor = page_of(webhooks_of(principal), request.GET)
    context = {"webhooks": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}
    return render(request, "assembly/monitoring/webhooks/list.html", context)


def webhook_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show a webhook with its deliveries."""
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
    """Show the secret, with which the receiver verifies messages."""
    webhook = webhook_for(principal_of(request), id_)
    try:
        shown = secret_of(webhook)
    except UndecryptableSecret:
        shown = ""
    return render(request, "assembly/monitoring/webhooks/secret.html", {"webhook": webhook, "secret": shown})


@require_POST
def secret_change(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Create a new secret and show it. Raises StaleVersion if the page did not show the newest version."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    webhook_secret_change(webhook=webhook, expected_version=_form(request)[0], principal=principal)
    messages.success(request, _("New secret created. For 24 hours messages are signed with the old one, too."))
    return redirect("webhook_secret", id_=id_)


@require_POST
def test(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Send a test message now, and show its result."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    delivery = webhook_test(webhook=webhook, principal=principal)
    if delivery.delivered and delivery.ms is None:
        messages.success(request, _("The test message was delivered."))
    elif delivery.delivered:
        messages.success(request, _("The test message was delivered in %(ms)s ms.") % {"ms": f"{delivery.ms:,}"})
    else:
        messages.error(request, _("The test message was not delivered. %(fault)s") % {"fault": delivery.fault})
    return redirect("webhook_page", id_=id_)


@require_POST
def resend(request: HttpRequest, id_: UUID, delivery: UUID) -> HttpResponse:
    """Send an abandoned message again."""
    principal = principal_of(request)
    try:
        delivery_resend(delivery=delivery_for(principal, id_, delivery), principal=principal)
    except DeliveryNotGivenUp:
        messages.info(request, _("It is delivered or being delivered already."))
    else:
        messages.success(request, _("It will be sent again until it is delivered."))
    return redirect("webhook_page", id_=id_)


@require_POST
def switch(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Enable or disable a webhook. Raises StaleVersion if the page did not show the newest version."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    version, on = _form(request)
    facts = replace(WebhookFacts.of(webhook), active=on)
    webhook_update(webhook=webhook, facts=facts, expected_version=version, principal=principal)
    messages.success(request, _("Webhook enabled.") if on else _("Webhook disabled. Events are not queued meanwhile."))
    return redirect("webhook_page", id_=id_)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and delete a webhook with its deliveries."""
    webhook: Webhook = webhook_for(principal_of(request), id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the webhook %(label)s?") % {"label": webhook.label},
                consequences=[
                    _("Its secret and its deliveries are deleted. Pending messages are not sent."),
                    _("To pause it, disable it."),
                ],
                button=_("Delete webhook"),
                back=reverse("webhook_page", args=[id_]),
                crumbs=[Crumb(_("Webhooks"), reverse("webhook_list"))],
            ),
        )
    webhook_delete(webhook=webhook, principal=principal_of(request))
    messages.success(request, _("Webhook %(label)s deleted.") % {"label": webhook.label})
    return redirect("webhook_list")


def _form(request: HttpRequest) -> tuple[int, bool]:
    """Return the version that the page showed, 0 without one, and whether the webhook is to be enabled."""
    form = WebhookVersionForm(request.POST)
    form.full_clean()
    return form.cleaned_data.get("version", 0), form.cleaned_data["on"]


STALE = gettext_lazy("Someone changed it meanwhile. Review the current values, then save again to replace them.")


def webhook_new(request: HttpRequest) -> HttpResponse:
    """Create a webhook, and show its secret next."""
    principal = principal_of(request)
    if not principal.is_admin and not Team.objects.manageable_by(principal).exists():
        raise Forbidden(FORBIDDEN_DETAIL)
    form = WebhookNewForm(request.POST if request.method == "POST" else None, principal=principal)
    if request.method == "POST" and form.is_valid() and (webhook := _create_from_form(form, principal)):
        messages.success(request, _("Webhook created. Give this secret to the receiver, then send a test."))
        return redirect("webhook_secret", id_=webhook.id)
    return render(request, "assembly/monitoring/webhooks/new.html", {"form": form}, status=422 if form.errors else 200)


def webhook_edit(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Change a webhook. Its secret remains."""
    principal = principal_of(request)
    webhook = webhook_for(principal, id_)
    form = WebhookEditForm(request.POST if request.method == "POST" else None, webhook=webhook)
    if request.method == "POST" and form.is_valid() and _save_form(form, webhook, principal):
        messages.success(request, _("Saved. The change applies to the next message."))
        return redirect("webhook_page", id_=id_)
    context = {"form": form, "webhook": webhook}
    return render(request, "assembly/monitoring/webhooks/edit.html", context, status=422 if form.errors else 200)


def _create_from_form(form: WebhookNewForm, principal: Principal) -> Webhook | None:
    """Return the new webhook; None if the form now has errors."""
    team = form.cleaned_data["team"]
    try:
        return webhook_create(facts=form.facts(active=True), team=team.slug if team else None, principal=principal)
    except Conflict as error:
        form.add_error(None, error.detail)
    except Invalid as error:
        _name_fault(form, error)
    return None


def _save_form(form: WebhookEditForm, webhook: Webhook, principal: Principal) -> bool:
    """Return whether the webhook was saved; if not, the form has the error, and saving again overwrites the changes of
    others.
    """
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
