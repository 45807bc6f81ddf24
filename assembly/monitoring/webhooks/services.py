"""Services and forms of webhooks. A URL is checked when it is stored and at every message.

Organisation admins manage all webhooks, team admins those of their teams. A URL may contain a credential, so nobody
else sees it. Secrets are generated here, never entered.
"""

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from assembly.models import Webhook, WebhookDelivery, WebhookEvent
from assembly.models.external_source import MAX_LABEL_CHARACTERS, MAX_URL_CHARACTERS
from assembly.monitoring.webhooks.http_post import secret_new
from config.http.encryption import decrypt, encrypt
from config.http.errors import Conflict, Forbidden, Invalid, NotFound
from config.http.outbound.ssrf import FOR_WEBHOOKS, host_of, validate_url
from teams.access import require_admin, team_for
from teams.activity.log import activity_record, changed_values
from teams.activity.models import ActivityAction
from teams.forms import validate_storable
from teams.models import Team
from teams.principal import SYSTEM, Action, Principal
from teams.versioned_text.versioned_file import StaleVersion, lock_row

FORBIDDEN_DETAIL = "Only admins of the team may see and change its webhooks."


def webhooks_of(principal: Principal) -> QuerySet[Webhook]:
    """Return the webhooks that the principal may change."""
    rows = Webhook.objects.select_related("team")
    return rows if principal.is_admin else rows.filter(team__in=Team.objects.manageable_by(principal))


def webhook_for(principal: Principal, id_: UUID) -> Webhook:
    """Return the webhook. Raises Forbidden for principals who only see its team, and NotFound."""
    found = Webhook.objects.select_related("team").filter(_seen_by(principal), id=id_).first()
    if found is None:
        raise NotFound("This webhook")
    if not webhooks_of(principal).filter(id=found.id).exists():
        raise Forbidden(FORBIDDEN_DETAIL)
    return found


def delivery_for(principal: Principal, webhook: UUID, id_: UUID) -> WebhookDelivery:
    """Return a message to the webhook. Raises as `webhook_for` does."""
    found = WebhookDelivery.objects.filter(webhook=webhook_for(principal, webhook), id=id_).select_related("webhook")
    if (delivery := found.first()) is None:
        raise NotFound("This message")
    return delivery


def team_for_webhook(principal: Principal, slug: str | None) -> Team | None:
    """Return the team whose events a webhook gets; None for all events of the organisation.

    Raises Forbidden and NotFound.
    """
    if slug:
        return team_for(principal, slug, Action.MANAGE)
    require_admin(principal)
    return None


def _seen_by(principal: Principal) -> Q:
    return Q() if principal.is_admin else Q(team__in=Team.objects.visible_to(principal).values("id"))


MAX_WEBHOOKS = 20
"""The maximum number of webhooks of a team, or of the organisation."""
OVERLAP = datetime.timedelta(hours=24)
"""How long the previous secret remains valid."""


@dataclass(frozen=True, slots=True)
class WebhookFacts:
    """The settings of a webhook without its secret."""

    label: str
    url: str
    events: tuple[str, ...]
    active: bool = True

    def __post_init__(self) -> None:
        if not self.events:
            raise Invalid("events", "Choose at least one event.")
        if unknown := set(self.events) - set(WebhookEvent.values):
            known = ", ".join(WebhookEvent.values)
            raise Invalid("events", f"There is no event “{min(unknown)}”. Known: {known}.")

    @classmethod
    def of(cls, webhook: Webhook) -> "WebhookFacts":
        """Return the stored settings of a webhook."""
        return cls(webhook.label, webhook.url, tuple(webhook.events), webhook.active)


@transaction.atomic
def webhook_create(*, facts: WebhookFacts, team: str | None, principal: Principal) -> Webhook:
    """Create a webhook of the team with this slug, or of the organisation.

    Raises Forbidden, NotFound, Conflict and Invalid.
    """
    whose = team_for_webhook(principal, team)
    validate_url(facts.url, FOR_WEBHOOKS)
    if Webhook.objects.filter(team=whose).count() >= MAX_WEBHOOKS:
        raise Conflict(f"There are {MAX_WEBHOOKS} webhooks already. Delete one first.")
    row = Webhook(team=whose, sealed_secret=encrypt(secret_new()), **_columns(facts))
    row.signed_by(principal.author)
    row.save(force_insert=True)
    _record(principal, ActivityAction.WEBHOOK_CREATED, row)
    return row


def _record(
    principal: Principal, action: ActivityAction, webhook: Webhook, detail: Mapping[str, Any] | None = None
) -> None:
    """Record the act in the activity log."""
    target = webhook.label or host_of(webhook.url)
    activity_record(
        principal,
        action,
        target,
        team_ids=[webhook.team_id],
        detail=_public_facts(webhook) if detail is None else detail,
    )


def _public_facts(webhook: Webhook) -> dict[str, Any]:
    return {"host": host_of(webhook.url), "events": webhook.events, "active": webhook.active}


@transaction.atomic
def webhook_update(*, webhook: Webhook, facts: WebhookFacts, expected_version: int, principal: Principal) -> Webhook:
    """Change a webhook; a call that changes nothing creates no version. Raises StaleVersion, NotFound and Invalid."""
    if facts.url != webhook.url:  # one whose host is gone can still be switched off
        validate_url(facts.url, FOR_WEBHOOKS)
    current = _locked_version(webhook, expected_version)
    if facts == WebhookFacts.of(current):
        return current
    before, url = _public_facts(current), current.url
    for name, value in _columns(facts).items():
        setattr(current, name, value)
    detail = changed_values(before, _public_facts(current)) | {"url_changed": current.url != url}
    _record(principal, ActivityAction.WEBHOOK_CHANGED, current, detail)
    return _save_version(current, principal)


@transaction.atomic
def webhook_secret_change(*, webhook: Webhook, expected_version: int, principal: Principal) -> Webhook:
    """Create a new secret. For 24 hours messages are also signed with the previous one, so that none is rejected."""
    current = _locked_version(webhook, expected_version)
    current.sealed_before, current.before_until = current.sealed_secret, timezone.now() + OVERLAP
    current.sealed_secret = encrypt(secret_new())
    _record(principal, ActivityAction.WEBHOOK_SECRET, current)
    return _save_version(current, principal)


@transaction.atomic
def webhook_delete(*, webhook: Webhook, principal: Principal = SYSTEM) -> None:
    """Delete a webhook with its deliveries. Waiting messages are not sent any more. Raises NotFound."""
    deleted, _ = Webhook.objects.filter(pk=webhook.pk).delete()
    if not deleted:
        raise NotFound("This webhook")
    _record(principal, ActivityAction.WEBHOOK_DELETED, webhook)


def secret_of(webhook: Webhook) -> str:
    """Return the secret that signs the webhook's messages. Raises UndecryptableSecret."""
    return decrypt(webhook.sealed_secret)


def _columns(facts: WebhookFacts) -> dict[str, object]:
    return {**asdict(facts), "events": sorted(set(facts.events))}


def _locked_version(webhook: Webhook, expected_version: int) -> Webhook:
    current = lock_row(webhook)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    return current


def _save_version(current: Webhook, principal: Principal) -> Webhook:
    current.version += 1
    current.signed_by(principal.author)
    current.save(force_update=True)
    return current


class WebhookForm(forms.Form):
    """The form of a webhook: its URL and its events."""

    label = forms.CharField(
        label=_("Label"),
        help_text=_("Name of the webhook."),
        max_length=MAX_LABEL_CHARACTERS,
        validators=[validate_storable],
    )
    url = forms.CharField(
        label=_("URL"),
        help_text=_(
            "URL to which messages are sent by POST: https://hooks.example.org/dossier. Private addresses are rejected."
        ),
        max_length=MAX_URL_CHARACTERS,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=WebhookEvent.choices,
        initial=[WebhookEvent.ALERT_OPENED, WebhookEvent.ALERT_CLOSED],
        widget=forms.CheckboxSelectMultiple,
    )

    def facts(self, *, active: bool) -> WebhookFacts:
        """Return the settings in a valid form."""
        given = self.cleaned_data
        return WebhookFacts(given["label"], given["url"], tuple(given["events"]), active)


class WebhookNewForm(WebhookForm):
    """The form of a new webhook, of one of the teams that the person manages or of the organisation."""

    team = forms.ModelChoiceField(
        Team.objects.none(),
        to_field_name="slug",
        label=_("Team"),
        required=False,
        empty_label=_("Organisation"),
        help_text=_("Scope"),
    )
    field_order = ("label", "team")

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team: Any = self.fields["team"]
        team.queryset = Team.objects.manageable_by(principal).order_by("name")
        if not principal.is_admin:
            team.required, team.empty_label = True, None


class WebhookEditForm(WebhookForm):
    """The form of a webhook, at the version that the page showed."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, webhook: Webhook) -> None:
        shown = ("label", "url", "events", "version")
        super().__init__(data, initial={name: getattr(webhook, name) for name in shown})


class WebhookVersionForm(forms.Form):
    """The form of an action on a version of a webhook, with the state (enabled or not) that it gets."""

    version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    on = forms.BooleanField(required=False)
