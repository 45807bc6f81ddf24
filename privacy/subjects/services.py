"""Subjects are created, changed, reviewed, restricted and deleted here, each as an act in the activity log.

The activity log has the ids of subjects and of what was changed: neither names nor identifiers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from config.http.errors import Conflict, Invalid
from config.invisible_characters import clean_text, is_blank
from privacy.models import MentionStatus, Subject, SubjectIdentifier, SubjectMention, SubjectVersion
from privacy.models.subject import MAX_IDENTIFIERS
from privacy.subjects.scan import subject_scan_create
from privacy.subjects.spellings import fault_of, normalised_identifier
from privacy.subjects.withholding import withheld_things_sync
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal
from teams.services import erase
from teams.versioned_text.versioned_file import StaleVersion, lock_row


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier as somebody entered it; `kind` is one of IdentifierKind."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class SubjectFacts:
    """What is known of a subject. Its name is searched for, whether or not it is among the identifiers."""

    name: str
    kind: str
    note: str = ""
    identifiers: Sequence[Identifier] = field(default_factory=tuple)


@transaction.atomic
def subject_create(*, facts: SubjectFacts, principal: Principal) -> Subject:
    """Create a subject, and search for what mentions it. Raises Invalid."""
    subject = Subject(created_by=principal.ref, creator_name=principal.name)
    rows = _set_facts(subject, facts)
    _sign(subject, principal)
    subject.save(force_insert=True)
    _store_state(subject, rows, principal)
    _record(principal, ActivityAction.SUBJECT_CREATED, subject)
    subject_scan_create(subject=subject, principal=principal)
    return subject


@transaction.atomic
def subject_update(*, subject: Subject, facts: SubjectFacts, expected_version: int, principal: Principal) -> Subject:
    """Save the facts as the next version, and search anew if an identifier changed; equal facts create no version.

    Raises Invalid, StaleVersion, and Conflict for an erased subject.
    """
    current = lock_subject(subject)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    before = facts_of(current)
    rows = _set_facts(current, facts)
    after = SubjectFacts(current.name, current.kind, current.note, [Identifier(row.kind, row.value) for row in rows])
    if after == before:
        return current
    current.version += 1
    _sign(current, principal)
    current.save(force_update=True)
    _store_state(current, rows, principal)
    _record(principal, ActivityAction.SUBJECT_CHANGED, current)
    if after.identifiers != before.identifiers:
        subject_scan_create(subject=current, principal=principal)
    return current


@transaction.atomic
def subject_delete(*, subject: Subject, principal: Principal) -> None:
    """Delete a subject with its identifiers, mentions and history; the things that mention it stay as they are.

    Raises Conflict while it is restricted, because what is linked would be told again without anybody having decided.
    """
    current = lock_row(subject)
    if current.is_restricted:
        raise Conflict("The subject is restricted. Lift the restriction first.")
    erase("subjects", current.id, principal)
    _record(principal, ActivityAction.SUBJECT_DELETED, current)


@transaction.atomic
def mentions_decide(*, subject: Subject, mentions: Iterable[UUID], status: MentionStatus, principal: Principal) -> int:
    """Link the mentions to the subject, dismiss them, or put them back to be reviewed; return how many changed.

    Ids of other mentions are ignored. Raises Conflict for an erased subject.
    """
    current = lock_subject(subject)
    rows = SubjectMention.objects.filter(subject=current, id__in=list(mentions)).exclude(status=status)
    decided: dict[str, object] = {"decided_at": timezone.now(), "decided_by": principal.ref}
    if status == MentionStatus.FOUND:
        decided = {"decided_at": None, "decided_by": "", "decider_name": ""}
    else:
        decided["decider_name"] = principal.name
    changed = rows.update(status=status, **decided)
    if changed:
        if current.is_restricted:
            withheld_things_sync(current)
        _record(principal, ActivityAction.SUBJECT_REVIEWED, current, status=status.value, mentions=changed)
    return changed


@transaction.atomic
def subject_restrict(*, subject: Subject, restricted: bool, principal: Principal) -> Subject:
    """Withhold what is linked to the subject from all contexts and searches, or lift the restriction; return it.

    The same state creates no version. Raises Conflict for an erased subject, whose restriction may be lifted, though:
    only then can it be deleted.
    """
    current = lock_subject(subject) if restricted else lock_row(subject)
    if current.is_restricted == restricted:
        return current
    if not restricted:
        withheld_things_sync(current)  # so that what was added to withheld things since is restored with them
    current.restricted_at = timezone.now() if restricted else None
    current.restricted_by = principal.ref if restricted else ""
    current.restricter_name = principal.name if restricted else ""
    current.version += 1
    _sign(current, principal)
    current.save(force_update=True)
    _store_version(current, principal)
    withheld_things_sync(current)
    action = ActivityAction.SUBJECT_RESTRICTED if restricted else ActivityAction.SUBJECT_RELEASED
    _record(principal, action, current)
    return current


def lock_subject(subject: Subject) -> Subject:
    """Return the newest state of the subject, locked. Raises NotFound, and Conflict where it was erased."""
    current = lock_row(subject)
    if current.erased_at:
        raise Conflict("The data of this subject was erased. Create another subject.")
    return current


def _set_facts(subject: Subject, facts: SubjectFacts) -> list[SubjectIdentifier]:
    """Set the facts of the subject, and return its identifiers, each once, the name first. Raises Invalid."""
    name = " ".join(clean_text(facts.name).split())
    if is_blank(name):
        raise Invalid("name", "Enter the name of the person.")
    subject.name, subject.kind, subject.note = name, facts.kind, clean_text(facts.note)
    rows: dict[tuple[str, str], SubjectIdentifier] = {}
    for place, one in enumerate([Identifier("name", name), *facts.identifiers]):
        value = " ".join(clean_text(one.value).split())
        if fault := fault_of(one.kind, value):
            raise Invalid("identifiers" if place else "name", f"“{value}”: {fault}")
        normalised = normalised_identifier(one.kind, value)
        rows.setdefault(
            (one.kind, normalised),
            SubjectIdentifier(subject=subject, kind=one.kind, value=value, normalised=normalised),
        )
    if len(rows) > MAX_IDENTIFIERS:
        raise Invalid("identifiers", f"A subject has at most {MAX_IDENTIFIERS} identifiers. Remove some.")
    return list(rows.values())


def facts_of(subject: Subject) -> SubjectFacts:
    """Return what is known of a subject."""
    rows = [Identifier(kind, value) for kind, value in subject.identifiers.order_by("id").values_list("kind", "value")]
    return SubjectFacts(subject.name, subject.kind, subject.note, rows)


def _sign(subject: Subject, principal: Principal) -> None:
    subject.updated_by, subject.updater_name = principal.ref, principal.name


def _store_state(subject: Subject, rows: Sequence[SubjectIdentifier], principal: Principal) -> None:
    """Replace the identifiers of the subject, and store its state as a version."""
    SubjectIdentifier.objects.filter(subject=subject).delete()
    SubjectIdentifier.objects.bulk_create(rows)
    _store_version(subject, principal)


def _store_version(subject: Subject, principal: Principal) -> None:
    identifiers = subject.identifiers.order_by("id").values_list("kind", "value")
    SubjectVersion.objects.create(
        subject=subject,
        version=subject.version,
        name=subject.name,
        kind=subject.kind,
        note=subject.note,
        identifiers=[{"kind": kind, "value": value} for kind, value in identifiers],
        restricted=subject.is_restricted,
        by_ref=principal.ref,
        by_name=principal.name,
    )


def _record(principal: Principal, action: ActivityAction, subject: Subject, **detail: object) -> None:
    activity_record(principal, action, f"subject:{subject.id}", detail=detail)
