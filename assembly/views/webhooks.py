"""The pages of webhooks: all that somebody manages, one with its log, its secret, and a message to try it."""

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from assembly.models import Webhook
from assembly.webhooks.access import NOT_YOURS, delivery_for, webhook_for, webhooks_of
from assembly.webhooks.delivering import webhook_test
from assembly.webhooks.forms import VersionForm
from assembly.webhooks.resending import NotGivenUp, deliveries_of, delivery_resend, told_of
from assembly.webhooks.services import (
    WebhookFacts,
    secret_of,
    webhook_delete,
    webhook_secret_change,
    webhook_update,
)
from config.http.cursors import next_address, page_of
from config.http.encryption import SecretLost
from config.http.errors import Forbidden
from teams.models import Team
from teams.views.asking import asking
from teams.views.confirmation import Confirmation, confirmation_page
from teams.views.document import Crumb

SHOWN = "20"


def webhook_list(request: HttpRequest) -> HttpResponse:
    """The webhooks that the person manages, the newest first. Raises Forbidden for those who manage no team."""
    principal = asking(request)
    if not principal.is_admin and not Team.objects.manageable_by(principal).exists():
        raise Forbidden(NOT_YOURS)
    found, cursor = page_of(webhooks_of(principal), request.GET)
    context = {"webhooks": found, "next": next_address(request.path, request.GET.dict(), cursor)}
    return render(request, "assembly/webhook_list.html", context)


def webhook_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """A webhook, and what became of the messages to it."""
    webhook = webhook_for(asking(request), id_)
    found, cursor = page_of(deliveries_of(webhook), {"limit": SHOWN, **request.GET.dict()})
    context = {
        "webhook": webhook,
        "deliveries": [told_of(delivery) for delivery in found],
        "next": next_address(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/webhook_page.html", context)


@never_cache
def secret(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The secret, with which the receiver checks that a message is ours."""
    webhook = webhook_for(asking(request), id_)
    try:
        shown = secret_of(webhook)
    except SecretLost:
        shown = ""
    return render(request, "assembly/webhook_secret.html", {"webhook": webhook, "secret": shown})


@require_POST
def secret_change(request: HttpRequest, id_: UUID) -> HttpResponse:
    """A new secret, shown at once. Raises StaleVersion if the page did not show the newest."""
    principal = asking(request)
    webhook = webhook_for(principal, id_)
    webhook_secret_change(webhook=webhook, expected_version=_form(request)[0], principal=principal)
    messages.success(request, _("There is a new secret. For 24 hours messages are signed with the old one, too."))
    return redirect("webhook_secret", id_=id_)


@require_POST
def test(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Send a message now, and say what came of it."""
    principal = asking(request)
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
def send_again(request: HttpRequest, id_: UUID, delivery: UUID) -> HttpResponse:
    """Have a message sent again that was given up."""
    principal = asking(request)
    try:
        delivery_resend(delivery=delivery_for(principal, id_, delivery), principal=principal)
    except NotGivenUp:
        messages.info(request, _("It was taken, or is on its way already."))
    else:
        messages.success(request, _("It is sent again, as often as a new message, until it is taken."))
    return redirect("webhook_page", id_=id_)


@require_POST
def switch(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Switch it on or off. Raises StaleVersion if the page did not show the newest."""
    principal = asking(request)
    webhook = webhook_for(principal, id_)
    version, on = _form(request)
    facts = replace(WebhookFacts.of(webhook), active=on)
    webhook_update(webhook=webhook, facts=facts, expected_version=version, principal=principal)
    messages.success(request, _("It is on.") if on else _("It is off. What happens meanwhile is not told later."))
    return redirect("webhook_page", id_=id_)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask whether it shall go with its log, and delete it."""
    webhook: Webhook = webhook_for(asking(request), id_)
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
    form = VersionForm(request.POST)
    form.full_clean()
    return form.cleaned_data.get("version", 0), form.cleaned_data["on"]
