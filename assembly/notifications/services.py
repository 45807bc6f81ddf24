"""Services create notifications, mark them as read, and send them by e-mail.

Recipients of an alert are the editors and admins of its team, and of a suggestion the admins of the team; without a
team, those of the agent's teams. If there are none, they are the admins of the organisation.
"""

from collections.abc import Sequence
from datetime import timedelta
from smtplib import SMTPException
from uuid import UUID

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from assembly.models import Alert, Notification, NotificationKind, Proposal
from assembly.notifications.sentences import mailed_sentence
from memories.jobs.services import Advance, RetryLater, job_create, job_kind
from memories.models import Job
from teams.models import User
from teams.principal import SYSTEM, Action
from teams.sensitivity import Sensitivity

MAIL = "mail_notifications"
RETRY_PAUSE = timedelta(minutes=10)
MAX_SUBJECT_CHARACTERS = 180
MAX_LISTED = 20
"""The most notifications that one message lists."""
RETENTION = timedelta(days=90)


def alert_notify(alert: Alert) -> None:
    """Notify the people who can solve the problem that an alert was opened."""
    action = Action.MANAGE if alert.sensitivity > Sensitivity.CONFIDENTIAL else Action.EDIT
    people = _responsible(alert.agent_id, alert.team_id, action)
    _notify(people, NotificationKind.ALERT_OPENED, alert=alert)


def suggestion_notify(proposal: Proposal) -> None:
    """Notify the people who may decide on a new suggestion, except its author."""
    people = _responsible(proposal.agent_id, proposal.team_id, Action.MANAGE)
    _notify(people.exclude(id__in=_person_ids(proposal)), NotificationKind.SUGGESTION_CREATED, proposal=proposal)


def decision_notify(proposal: Proposal) -> None:
    """Notify the author of a suggestion that somebody else decided on it."""
    if proposal.decided_by != proposal.proposed_by:
        people = User.objects.filter(id__in=_person_ids(proposal), is_active=True)
        _notify(people, NotificationKind.SUGGESTION_DECIDED, proposal=proposal)


def notification_read(notification: Notification) -> None:
    """Mark a notification as read."""
    if Notification.objects.filter(id=notification.id, read_at=None).update(read_at=timezone.now()):
        recount_unread(notification.user)


def notifications_read_all(person: User) -> int:
    """Mark all notifications of a person as read. Return how many were not."""
    marked = Notification.objects.filter(user=person, read_at=None).update(read_at=timezone.now())
    recount_unread(person)
    return marked


def recount_unread(person: User) -> None:
    """Store the number of the person's unread notifications, which the menu shows on every page."""
    person.unread_notifications = Notification.objects.readable_by(person.principal).unread().count()
    User.objects.filter(id=person.id).update(unread_notifications=person.unread_notifications)


def _person_ids(proposal: Proposal) -> list[UUID]:
    """Return the id of the author of a suggestion; nothing if a key made it."""
    kind, _sign, id_ = proposal.proposed_by.partition(":")
    return [UUID(id_)] if kind == "person" else []


def _responsible(agent_id: UUID, team_id: UUID | None, action: Action) -> QuerySet[User]:
    """Return the people who may perform the action in the team, or in the agent's teams if there is no team."""
    teams = (
        [team_id] if team_id else Agent.objects.filter(id=agent_id, teams__isnull=False).values_list("teams", flat=True)
    )
    return User.objects.permitted(action, teams)


@transaction.atomic
def _notify(
    people: QuerySet[User], kind: NotificationKind, *, alert: Alert | None = None, proposal: Proposal | None = None
) -> None:
    """Create one notification for each person, and a job for each who wants it by e-mail."""
    recipients = list(people.order_by("id").select_for_update(no_key=True))
    ids = [person.id for person in recipients]
    Notification.objects.filter(user__in=ids, created__lt=timezone.now() - RETENTION).delete()
    Notification.objects.bulk_create(
        Notification(user=person, kind=kind, alert=alert, proposal=proposal) for person in recipients
    )
    User.objects.filter(id__in=ids).update(unread_notifications=F("unread_notifications") + 1)
    for person in recipients:
        if settings.EMAIL_HOST and person.wants_mail:
            job_create(kind=MAIL, arguments={"user": str(person.id)}, agent=None, principal=SYSTEM, steps=1)


@job_kind(MAIL)
def mail_run(job: Job, advance: Advance) -> None:
    """Send a person's new notifications in one message, without those that were read meanwhile, or that the person
    may no longer read. Raises RetryLater if the mail server does not take it.

    Many alerts may open at once: the first of their jobs sends them all, and the others find nothing to send.
    """
    person = User.objects.get(id=job.arguments["user"])
    if person.wants_mail:
        with transaction.atomic():
            new = Notification.objects.readable_by(person.principal).unread().filter(mailed_at=None)
            found = list(new.select_related("alert", "proposal").select_for_update(of=("self",), skip_locked=True))
            if found:
                _mail(person, found)
                Notification.objects.filter(id__in=[one.id for one in found]).update(mailed_at=timezone.now())
    advance(1)


def _mail(person: User, found: Sequence[Notification]) -> None:
    sentences = [mailed_sentence(one) for one in found]
    listed = [
        f"{sentence}.\n{settings.SITE_URL}{reverse('notification', args=[one.id])}"
        for sentence, one in zip(sentences, found, strict=True)
    ][:MAX_LISTED]
    if more := len(found) - len(listed):
        all_of_them = settings.SITE_URL + reverse("notification_list")
        listed.append(_("And %(n)s more: %(address)s") % {"n": more, "address": all_of_them})
    off = _("You can turn these messages off in your settings: %(address)s")
    listed.append(off % {"address": settings.SITE_URL + reverse("user_settings")})
    subject = sentences[0] if len(found) == 1 else _("%(n)s notifications") % {"n": len(found)}
    try:
        send_mail(
            f"Dossier: {subject}"[:MAX_SUBJECT_CHARACTERS],
            "\n\n".join(listed),
            settings.DEFAULT_FROM_EMAIL,
            [person.email],
        )
    except (SMTPException, OSError) as error:
        raise RetryLater(f"The mail server did not take the message: {type(error).__name__}", RETRY_PAUSE) from error
