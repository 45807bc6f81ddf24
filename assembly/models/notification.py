"""A notification tells one person that an alert was opened, or that a suggestion was made or decided."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from assembly.models.monitoring import Alert
from assembly.models.proposal import Proposal
from teams.models import User
from teams.principal import Principal
from teams.sensitivity import reading_as


class NotificationKind(models.TextChoices):
    """What a notification reports."""

    ALERT_OPENED = "alert.opened", _("Alert")
    SUGGESTION_CREATED = "suggestion.created", _("New suggestion")
    SUGGESTION_DECIDED = "suggestion.decided", _("Decision")


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self) -> "NotificationQuerySet":
        return self.filter(read_at=None)

    def readable_by(self, principal: Principal) -> "NotificationQuerySet":
        """Return the person's notifications about what the person may still read."""
        with reading_as(principal):
            alerts, proposals = Alert.objects.visible_to(principal), Proposal.objects.visible_to(principal)
        return self.filter(Q(alert__in=alerts) | Q(proposal__in=proposals), user_id=principal.id)


class Notification(models.Model):
    """A notification has no text of its own: it shows the alert or the suggestion as it is now, and goes with it."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=24, choices=NotificationKind.choices)
    alert = models.ForeignKey(Alert, models.CASCADE, null=True, related_name="+")
    proposal = models.ForeignKey(Proposal, models.CASCADE, null=True, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        db_table = "notifications"
        ordering: ClassVar[list[str]] = ["-created", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["user", "-created", "-id"], name="notifications_newest"),
        ]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(alert=None, proposal__isnull=False) | Q(alert__isnull=False, proposal=None),
                name="notification_about_one_thing",
            ),
            models.UniqueConstraint(fields=["user", "kind", "alert"], name="notification_once_per_alert"),
            models.UniqueConstraint(fields=["user", "kind", "proposal"], name="notification_once_per_suggestion"),
        ]
