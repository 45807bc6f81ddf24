"""Values of a subject are corrected here, each thing by the service of its kind, in a transaction of its own.

What somebody changed since the plan was read is reported and not overwritten. The subject itself is corrected with its
identifiers. A few things are corrected at once; a job does the rest, counts the recorded contexts that told the wrong
value, and goes on where it was interrupted. The activity log has ids and numbers, and no values.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.authentication import principal_behind
from assembly.engine.refs import Ref
from config.http.encryption import decrypt, encrypt
from config.http.errors import Conflict, DossierError, Invalid, NotFound
from config.invisible_characters import clean_text, is_blank
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import Job
from privacy.corrections.corrected_text import ValueCorrection
from privacy.corrections.correction_plan import LIVE_KINDS, MAX_PLANNED, corrected_columns
from privacy.corrections.saving import thing_save
from privacy.corrections.told_contexts import told_contexts
from privacy.models import (
    CorrectionResult,
    CorrectionStatus,
    IdentifierKind,
    MentionStatus,
    Subject,
    SubjectCorrection,
    SubjectErasure,
    SubjectMention,
)
from privacy.models.correction import MAX_CORRECTION_REASON_CHARACTERS
from privacy.models.erasure import ErasureState
from privacy.models.subject import MAX_IDENTIFIER_CHARACTERS
from privacy.subjects.services import Identifier, SubjectFacts, facts_of, lock_subject, subject_update
from privacy.subjects.spellings import fault_of
from privacy.subjects.stored_texts import THING_KINDS, ThingKind
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS, StaleVersion

CORRECT_SUBJECT = "correct_subject"
MAX_IMMEDIATE = 20
"""The most things that are corrected before the answer; a job corrects more."""


class ChosenThing(NamedTuple):
    """A thing to correct, in the version that somebody has seen."""

    kind: str
    id: UUID
    version: int

    @classmethod
    def parse(cls, ref: str) -> "ChosenThing":
        """Return the thing that a ref such as memory:<uuid>@3 names. Raises Invalid."""
        parsed = Ref.parse(ref)
        try:
            return cls(parsed.kind, UUID(parsed.id), int(parsed.version))
        except ValueError:
            raise Invalid("things", f"“{ref[:80]}” is no ref with a version, as in memory:<uuid>@3.") from None

    @property
    def ref(self) -> str:
        return f"{self.kind}:{self.id}@{self.version}"


def valid_correction(*, kind: str, wrong: str, right: str) -> ValueCorrection:
    """Return the correction of a value as it was entered. Raises Invalid for what cannot be searched for."""
    values = {"wrong": " ".join(clean_text(wrong).split()), "right": " ".join(clean_text(right).split())}
    if kind not in IdentifierKind.values:
        raise Invalid("kind", f"Use one of: {', '.join(IdentifierKind.values)}.")
    for name, value in values.items():
        if is_blank(value):
            raise Invalid(name, "Enter a value with visible characters.")
        if len(value) > MAX_IDENTIFIER_CHARACTERS:
            raise Invalid(name, f"At most {MAX_IDENTIFIER_CHARACTERS} characters.")
        if fault := fault_of(kind, value):
            raise Invalid(name, fault)
    if values["wrong"] == values["right"]:
        raise Invalid("right", "The right value is the same as the wrong one.")
    return ValueCorrection(kind, values["wrong"], values["right"])


@transaction.atomic
def correction_create(
    *, subject: Subject, value: ValueCorrection, reason: str, things: Sequence[str], principal: Principal
) -> SubjectCorrection:
    """Correct a value in these things, which are refs with the versions that were seen, and in the subject itself.

    Returns the correction with its results; a job ends it. Raises Invalid, and Conflict for a subject that is erased or
    about to be.
    """
    current = lock_subject(subject)
    if SubjectErasure.objects.filter(subject_id=current.id).exclude(state=ErasureState.FINISHED).exists():
        raise Conflict("The erasure of this subject is under way. Nothing was changed.")
    said = " ".join(clean_text(reason).split())
    if is_blank(said) or len(said) > MAX_CORRECTION_REASON_CHARACTERS:
        raise Invalid("reason", f"Say why, in 1 to {MAX_CORRECTION_REASON_CHARACTERS} characters.")
    chosen = _chosen(current, things)
    corrected = _corrected_facts(current, value)
    if not chosen and corrected is None:
        raise Invalid("things", "Select at least one text. Nothing was changed.")
    correction = SubjectCorrection.objects.create(
        subject=current,
        kind=value.kind,
        wrong=value.wrong,
        right=value.right,
        reason=said,
        was_identifier=corrected is not None,
        chosen=[one.ref for one in chosen],
        requested_by=principal.ref,
        requester_name=principal.name,
    )
    if corrected is not None:
        subject_update(subject=current, facts=corrected, expected_version=current.version, principal=principal)
    if len(chosen) <= MAX_IMMEDIATE:
        _correct_things(correction, principal)
    activity_record(
        principal,
        ActivityAction.SUBJECT_CORRECTED,
        f"subject:{current.id}",
        detail={"correction": str(correction.id), "things": len(chosen)},
    )
    arguments = {"correction": str(correction.id)}
    correction.job = job_create(
        kind=CORRECT_SUBJECT, arguments=arguments, agent=None, principal=principal, steps=len(chosen) + 1
    )
    correction.save(update_fields=["job"])
    return correction


def _chosen(subject: Subject, refs: Sequence[str]) -> list[ChosenThing]:
    """Return the chosen things, each once. Raises Invalid for one that is not linked to the subject."""
    chosen = {one.id: one for one in map(ChosenThing.parse, refs)}
    if len(chosen) > MAX_PLANNED:
        raise Invalid("things", f"At most {MAX_PLANNED} at a time. Correct the rest afterwards.")
    linked = SubjectMention.objects.filter(subject=subject, status=MentionStatus.LINKED, ref_kind__in=LIVE_KINDS)
    there = dict(linked.filter(thing__in=chosen).values_list("thing", "ref_kind"))
    if unknown := [one for one in chosen.values() if there.get(one.id) != one.kind]:
        raise Invalid("things", f"{unknown[0].ref} is not linked to this subject. Nothing was changed.")
    return list(chosen.values())


def _corrected_facts(subject: Subject, value: ValueCorrection) -> SubjectFacts | None:
    """Return the facts of the subject with the right identifier; None if the wrong one is not among them."""
    facts = facts_of(subject)
    if not any(value.is_wrong_identifier(one.kind, one.value) for one in facts.identifiers):
        return None
    name = value.right if value.is_wrong_identifier("name", facts.name) else facts.name
    identifiers = [
        Identifier(one.kind, value.right) if value.is_wrong_identifier(one.kind, one.value) else one
        for one in facts.identifiers
    ]
    return SubjectFacts(name, facts.kind, facts.note, identifiers)


@job_kind(CORRECT_SUBJECT)
def correct_subject(job: Job, advance: Advance) -> None:
    """End the correction that the job names; nothing happens if it was deleted, or is finished."""
    found = SubjectCorrection.objects.select_related("subject")
    correction = found.filter(id=job.arguments["correction"], finished_at=None).first()
    if correction is None or correction.subject.erased_at:
        return
    _correct_things(correction, principal_behind(correction.requested_by), advance)
    told = told_contexts(correction.subject, value_of(correction))
    SubjectCorrection.objects.filter(id=correction.id).update(told=told, finished_at=timezone.now())


def value_of(correction: SubjectCorrection) -> ValueCorrection:
    """Return what a correction replaces by what."""
    return ValueCorrection(correction.kind, correction.wrong, correction.right)


def _correct_things(
    correction: SubjectCorrection, principal: Principal | None, advance: Callable[[int], object] = lambda _steps: None
) -> None:
    """Correct the chosen things that have no result yet."""
    done = set(correction.results.values_list("thing", flat=True))
    advance(len(done))
    for ref in correction.chosen:
        chosen = ChosenThing.parse(ref)
        if chosen.id not in done:
            _correct_thing(correction, chosen, principal)
            advance(1)


@transaction.atomic
def _correct_thing(correction: SubjectCorrection, chosen: ChosenThing, principal: Principal | None) -> None:
    """Correct a thing and store the result, both or neither."""
    result = CorrectionResult(
        correction=correction, ref_kind=chosen.kind, thing=chosen.id, version_before=chosen.version
    )
    if principal is None or not principal.is_admin:
        result.status, result.detail = CorrectionStatus.REFUSED, "Whoever asked for it may not do it any more."
    else:
        try:
            with transaction.atomic():
                _save_corrected(result, correction, chosen, principal)
        except StaleVersion as stale:
            result.status, result.version = CorrectionStatus.CHANGED, stale.current.version
        except NotFound:
            result.status = CorrectionStatus.MISSING
        except DossierError as refused:
            result.status, result.detail = CorrectionStatus.REFUSED, refused.detail[:500]
        if result.status != CorrectionStatus.CORRECTED:
            result.sealed_before = ""
    result.save(force_insert=True)


def _save_corrected(
    result: CorrectionResult, correction: SubjectCorrection, chosen: ChosenThing, principal: Principal
) -> None:
    kind = THING_KINDS[chosen.kind]
    row = _row_of(kind, chosen.id)
    if row.version != chosen.version:
        raise StaleVersion(row, chosen.version)
    changes, places = corrected_columns(kind, row, value_of(correction))
    if not changes:
        result.status, result.version = CorrectionStatus.UNCHANGED, row.version
        return
    if kind.versions is None:
        result.sealed_before = encrypt(json.dumps({column: getattr(row, column) for column in changes}))
    result.version = thing_save(
        row=row, expected_version=chosen.version, changes=changes, note=note_of(correction), principal=principal
    )
    result.status, result.places = CorrectionStatus.CORRECTED, places


def _row_of(kind: ThingKind, id_: UUID) -> Any:
    """Return a thing, whose service locks it and checks its version. Raises NotFound."""
    row = kind.model._default_manager.filter(pk=id_).first()  # noqa: SLF001 - Django's documented name
    if row is None:
        raise NotFound
    return row


def note_of(correction: SubjectCorrection) -> str:
    """Return the note of the versions that a correction makes: its number and the reason."""
    return f"Correction {correction.id.hex[-8:]}: {correction.reason}"[:MAX_NOTE_CHARACTERS]


@transaction.atomic
def correction_undo(*, correction: SubjectCorrection, things: Iterable[UUID], principal: Principal) -> int:
    """Give these things the texts that they had before, as their next versions; return how many.

    Only a thing that nobody changed since is undone, because the change would be lost. Raises Conflict, naming one that
    was changed, and Invalid if none of the things was corrected. The identifiers of the subject stay as they are.
    """
    lock_subject(correction.subject)
    rows = list(correction.results.filter(thing__in=list(things), status=CorrectionStatus.CORRECTED))
    if not rows:
        raise Invalid("things", "Select at least one text that was corrected. Nothing was changed.")
    for result in rows:
        kind = THING_KINDS[result.ref_kind]
        try:
            row = _row_of(kind, result.thing)
            changes = _former_columns(result, kind, row)
            version = result.version or 0
            note = f"Undone: {note_of(correction)}"[:MAX_NOTE_CHARACTERS]
            thing_save(row=row, expected_version=version, changes=changes, note=note, principal=principal)
        except StaleVersion:
            raise Conflict(f"{result.about} was changed after the correction. Nothing was undone.") from None
        except NotFound:
            raise Conflict(f"{result.about} was deleted after the correction. Nothing was undone.") from None
        result.status, result.sealed_before = CorrectionStatus.UNDONE, ""
        result.save(update_fields=["status", "sealed_before"])
    activity_record(
        principal,
        ActivityAction.CORRECTION_UNDONE,
        f"subject:{correction.subject_id}",
        detail={"correction": str(correction.id), "things": len(rows)},
    )
    return len(rows)


def _former_columns(result: CorrectionResult, kind: ThingKind, row: Any) -> dict[str, Any]:
    """Return the values that the corrected columns had: those of its history, or else those that the result has."""
    if kind.versions is None:
        columns: dict[str, Any] = json.loads(decrypt(result.sealed_before))
        return columns
    before = kind.versions.everything.get(file_id=result.thing, version=result.version_before)
    named = {"text": "content"} if hasattr(row, "text") else {}
    values = {column: getattr(before, named.get(column, column), None) for column in kind.columns}
    return {column: value for column, value in values.items() if value is not None and value != getattr(row, column)}
