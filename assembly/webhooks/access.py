"""Who may see and change webhooks: admins of the organisation all of them, admins of a team those of their team.

An address may hold what proves who asks, so that nobody else sees it.
"""

from uuid import UUID

from django.db.models import Q, QuerySet

from assembly.models import Webhook, WebhookDelivery
from config.http.errors import Forbidden, NotFound
from teams.access import Action, require_admin, team_for
from teams.models import Team
from teams.principal import Principal

NOT_YOURS = "Only admins of the team may see and change its webhooks."


def webhooks_of(principal: Principal) -> QuerySet[Webhook]:
    """Those that the principal may change."""
    rows = Webhook.objects.select_related("team")
    return rows if principal.is_admin else rows.filter(team__in=Team.objects.manageable_by(principal))


def webhook_for(principal: Principal, id_: UUID) -> Webhook:
    """The webhook. Raises Forbidden for those who only see its team, and NotFound."""
    found = Webhook.objects.select_related("team").filter(_seen_by(principal), id=id_).first()
    if found is None:
        raise NotFound("This webhook")
    if not webhooks_of(principal).filter(id=found.id).exists():
        raise Forbidden(NOT_YOURS)
    return found


def delivery_for(principal: Principal, webhook: UUID, id_: UUID) -> WebhookDelivery:
    """A message to the webhook. Raises as `webhook_for` does."""
    found = WebhookDelivery.objects.filter(webhook=webhook_for(principal, webhook), id=id_).select_related("webhook")
    if (delivery := found.first()) is None:
        raise NotFound("This message")
    return delivery


def team_to_tell(principal: Principal, slug: str | None) -> Team | None:
    """The team whose events a webhook is to be told; None: all of the organisation's. Raises Forbidden and NotFound."""
    if slug:
        return team_for(principal, slug, Action.MANAGE)
    require_admin(principal)
    return None


def _seen_by(principal: Principal) -> Q:
    return Q() if principal.is_admin else Q(team__in=Team.objects.visible_to(principal).values("id"))
