"""Registering webhooks. What is stored can be told: its URL is checked as it will be at every message."""

import datetime
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from assembly.external.destination import url_check
from assembly.external.networks import FOR_WEBHOOKS
from assembly.models import Webhook, WebhookEvent
from assembly.webhooks.access import team_to_tell
from assembly.webhooks.signing import secret_new
from config.http.encryption import decrypt, encrypt
from config.http.errors import Conflict, Invalid, NotFound
from teams.files import StaleVersion, locked
from teams.principal import Principal

MAX_WEBHOOKS = 20
"""Of a team, or of the organisation."""
OVERLAP = datetime.timedelta(hours=24)
"""How long the secret before still counts."""


@dataclass(frozen=True, slots=True)
class WebhookFacts:
    """What is told of a webhook, but for its secret."""

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
        """As they are stored."""
        return cls(webhook.label, webhook.url, tuple(webhook.events), webhook.active)


def webhook_create(*, facts: WebhookFacts, team: str | None, principal: Principal) -> Webhook:
    """A new webhook of the team with that slug, or of the organisation.

    Raises Forbidden, NotFound, Conflict and Invalid.
    """
    whose = team_to_tell(principal, team)
    url_check(facts.url, FOR_WEBHOOKS)
    if Webhook.objects.filter(team=whose).count() >= MAX_WEBHOOKS:
        raise Conflict(f"There are {MAX_WEBHOOKS} webhooks already. Delete one that is not needed any more.")
    row = Webhook(team=whose, sealed_secret=encrypt(secret_new()), **_columns(facts))
    row.signed_by(principal.author)
    row.save(force_insert=True)
    return row


@transaction.atomic
def webhook_update(*, webhook: Webhook, facts: WebhookFacts, expected_version: int, principal: Principal) -> Webhook:
    """Change a webhook; the same again makes no new version. Raises StaleVersion, NotFound and Invalid."""
    if facts.url != webhook.url:  # one whose host is gone can still be switched off
        url_check(facts.url, FOR_WEBHOOKS)
    current = _current(webhook, expected_version)
    if facts == WebhookFacts.of(current):
        return current
    for name, value in _columns(facts).items():
        setattr(current, name, value)
    return _saved(current, principal)


@transaction.atomic
def webhook_secret_change(*, webhook: Webhook, expected_version: int, principal: Principal) -> Webhook:
    """A new secret. For 24 hours messages are signed with the one before, too, so that none is refused meanwhile."""
    current = _current(webhook, expected_version)
    current.sealed_before, current.before_until = current.sealed_secret, timezone.now() + OVERLAP
    current.sealed_secret = encrypt(secret_new())
    return _saved(current, principal)


def webhook_delete(*, webhook: Webhook) -> None:
    """Delete a webhook with its log. What was to be sent to it is not sent any more. Raises NotFound."""
    deleted, _ = Webhook.objects.filter(pk=webhook.pk).delete()
    if not deleted:
        raise NotFound("This webhook")


def secret_of(webhook: Webhook) -> str:
    """The secret with which its messages are signed. Raises SecretLost."""
    return decrypt(webhook.sealed_secret)


def _columns(facts: WebhookFacts) -> dict[str, object]:
    return {**asdict(facts), "events": sorted(set(facts.events))}


def _current(webhook: Webhook, expected_version: int) -> Webhook:
    current = locked(webhook)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    return current


def _saved(current: Webhook, principal: Principal) -> Webhook:
    current.version += 1
    current.signed_by(principal.author)
    current.save(force_update=True)
    return current
