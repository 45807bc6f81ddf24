"""Legal holds: who sets one names a reason, and nothing of the subject, team or agent is erased until it is lifted.

What deletes single things asks `teams.legal_holds`. Pruning asks in the database, see the migration
`0008_held_records`.
"""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from config.http.errors import Conflict, Invalid
from config.invisible_characters import clean_text, is_blank
from privacy.models import HoldKind, LegalHold, MentionStatus, SubjectMention
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal


def hold_in_force(subject_id: UUID) -> LegalHold | None:
    """Return a hold on the subject, or on a team or an agent that has something of it; None without one."""
    mentions = SubjectMention.objects.filter(subject_id=subject_id).exclude(status=MentionStatus.DISMISSED)
    named = (
        Q(kind=HoldKind.SUBJECT, target=subject_id)
        | Q(kind=HoldKind.TEAM, target__in=mentions.exclude(team_id=None).values("team_id"))
        | Q(kind=HoldKind.AGENT, target__in=mentions.exclude(agent_id=None).values("agent_id"))
    )
    return LegalHold.objects.filter(named, lifted_at=None).order_by("created").first()


@transaction.atomic
def hold_set(*, kind: HoldKind, target: UUID, reason: str, principal: Principal) -> LegalHold:
    """Set a legal hold, and return it. Raises Invalid without a reason, and Conflict where there is one already."""
    said = clean_text(reason).strip()
    if is_blank(said):
        raise Invalid("reason", "Say why nothing may be erased or deleted.")
    try:
        with transaction.atomic():
            hold = LegalHold.objects.create(
                kind=kind, target=target, reason=said, set_by=principal.ref, setter_name=principal.name
            )
    except IntegrityError:
        raise Conflict("There is a legal hold already. Lift it before you set another one.") from None
    activity_record(principal, ActivityAction.LEGAL_HOLD_SET, f"{kind}:{target}", reason=said)
    return hold


@transaction.atomic
def hold_lift(*, hold: LegalHold, principal: Principal) -> LegalHold:
    """Lift a legal hold, and return it; one that was lifted before stays as it is."""
    current = LegalHold.objects.select_for_update(no_key=True).get(id=hold.id)
    if current.lifted_at is None:
        current.lifted_at, current.lifted_by, current.lifter_name = timezone.now(), principal.ref, principal.name
        current.save()
        activity_record(principal, ActivityAction.LEGAL_HOLD_LIFTED, f"{current.kind}:{current.target}")
    return current
