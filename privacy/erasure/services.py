"""Somebody asks for an erasure, after having seen what it will do; a job then does it."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from config.http.errors import Conflict, Invalid
from config.invisible_characters import clean_text, is_blank
from privacy.erasure.erasure_job import erasure_job
from privacy.erasure.holds import hold_in_force
from privacy.erasure.sought import DELETABLE_TABLES, TABLE_OF_KIND, seal_spellings
from privacy.erasure.spelling_patterns import LEAST_CHARACTERS, SpellingPatterns
from privacy.models import LegalHold, MentionStatus, Subject, SubjectErasure, SubjectMention
from privacy.models.erasure import MAX_ERASURE_REASON_CHARACTERS
from privacy.subjects.scan import sought_identifiers
from privacy.subjects.services import lock_subject
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.legal_holds import HeldByLaw, HoldInForce
from teams.principal import Principal

WHOLE_BY_DEFAULT = frozenset({"memory", "event", "relation", "entity"})
"""Kinds of things that an erasure deletes as a whole, unless somebody chooses otherwise."""
WHOLE_POSSIBLE = frozenset(kind for kind, table in TABLE_OF_KIND.items() if table in DELETABLE_TABLES)
"""Kinds of things that can be deleted as a whole."""


@dataclass(frozen=True, slots=True)
class PlannedMention:
    """A linked mention with what happens to its thing: it is deleted as a whole, or its spellings are replaced."""

    mention: SubjectMention
    is_whole: bool
    may_be_whole: bool


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What an erasure would do, for who decides: linked mentions, how many are not reviewed, and a hold if any."""

    mentions: tuple[PlannedMention, ...]
    unreviewed: int
    hold: LegalHold | None
    spellings: int

    @property
    def counts(self) -> dict[str, int]:
        """The number of linked things by kind."""
        found: dict[str, int] = {}
        for one in self.mentions:
            found[one.mention.ref_kind] = found.get(one.mention.ref_kind, 0) + 1
        return found


def erasure_plan(subject: Subject, whole: Collection[UUID] | None = None) -> ErasurePlan:
    """Return what an erasure would do. `whole` are the mentions whose things are deleted; None: those of the default
    kinds.
    """
    rows = SubjectMention.objects.filter(subject=subject).order_by("ref_kind", "id")
    linked = [row for row in rows if row.status == MentionStatus.LINKED]
    planned = tuple(
        PlannedMention(
            row,
            row.ref_kind in WHOLE_POSSIBLE and (row.ref_kind in WHOLE_BY_DEFAULT if whole is None else row.id in whole),
            row.ref_kind in WHOLE_POSSIBLE,
        )
        for row in linked
    )
    unreviewed = sum(row.status == MentionStatus.FOUND for row in rows)
    return ErasurePlan(planned, unreviewed, hold_in_force(subject.id), len(subject_spellings(subject)))


def subject_spellings(subject: Subject) -> set[str]:
    """Return what is looked for: the identifiers, and all that was found to be written of them in linked things."""
    found = {subject.name, *(value for _kind, value in sought_identifiers(subject))}
    for spellings in SubjectMention.objects.filter(subject=subject, status=MentionStatus.LINKED).values_list(
        "spellings", flat=True
    ):
        found.update(spellings)
    return {one for one in found if len(one.strip()) >= LEAST_CHARACTERS}


@transaction.atomic
def erasure_request(
    *, subject: Subject, reason: str, principal: Principal, whole: Collection[UUID] | None = None
) -> SubjectErasure:
    """Begin the erasure of a subject, and return it; a job does the work.

    Raises HeldByLaw, Invalid for a reason that is missing or names the person, and Conflict where mentions are not
    reviewed, where the subject was erased, or where its erasure runs.
    """
    current = lock_subject(subject)
    plan = erasure_plan(current, whole)
    if plan.hold:
        raise HeldByLaw(HoldInForce(plan.hold.id, plan.hold.created, plan.hold.reason), "erasure")
    if plan.unreviewed:
        raise Conflict(
            f"{plan.unreviewed:,} mentions are not reviewed. Link or dismiss each of them first: what is dismissed is "
            "not erased."
        )
    spellings = subject_spellings(current)
    said = clean_text(reason).strip()
    if is_blank(said) or len(said) > MAX_ERASURE_REASON_CHARACTERS:
        raise Invalid("reason", f"Say why, in 1 to {MAX_ERASURE_REASON_CHARACTERS:,} characters.")
    if SpellingPatterns.of(spellings).is_in(said):
        raise Invalid("reason", "The reason stays in the report. Write it without the name of the person.")
    dismissed = SubjectMention.objects.filter(subject=current, status=MentionStatus.DISMISSED)
    last = SubjectErasure.objects.aggregate(last=Max("number"))["last"] or 0
    erasure = SubjectErasure(
        number=last + 1,
        subject_id=current.id,
        requested_by=principal.ref,
        requester_name=principal.name,
        reason=said,
        whole=[one.mention.about for one in plan.mentions if one.is_whole],
        spared=[row.about for row in dismissed],
        sealed_spellings=seal_spellings(spellings),
    )
    try:
        with transaction.atomic():
            erasure.save(force_insert=True)
    except IntegrityError:
        raise Conflict("An erasure of this subject is under way already.") from None
    erasure.job_id = erasure_job(erasure).id
    erasure.save(update_fields=["job_id"])
    activity_record(
        principal,
        ActivityAction.SUBJECT_ERASED,
        f"subject:{current.id}",
        detail={"erasure": erasure.number},
        reason=said,
    )
    return erasure
