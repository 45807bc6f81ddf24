"""The rows of the subject itself: identifiers, mentions, files and scans are deleted, its name becomes `[erased]`."""

from django.utils import timezone

from assembly.models.assembly import ERASED
from config.db.statements import fetch_rows
from privacy.models import Subject, SubjectFile, SubjectIdentifier, SubjectMention, SubjectScan
from privacy.models.erasure import SubjectErasure
from privacy.subjects.withholding import withheld_things_sync

ERASE_VERSIONS_SQL = "SELECT erase_subject_versions(%s)"


def subject_rows_erase(erasure: SubjectErasure) -> dict[str, int]:
    """Erase the subject's own data, and lift its restriction; its row stays, to say that it was erased, and when."""
    subject = Subject.objects.select_for_update(no_key=True).filter(id=erasure.subject_id).first()
    if subject is None:
        return {}
    if subject.is_restricted:
        subject.restricted_at, subject.restricted_by, subject.restricter_name = None, "", ""
        subject.save()
        withheld_things_sync(subject)
    counts = {
        model._meta.db_table: model.objects.filter(subject=subject).delete()[0]  # noqa: SLF001
        for model in (SubjectIdentifier, SubjectMention, SubjectFile, SubjectScan)
    }
    subject.name, subject.note, subject.erased_at = ERASED, "", subject.erased_at or timezone.now()
    subject.save()
    ((versions,),) = fetch_rows(ERASE_VERSIONS_SQL, [erasure.id])
    return {**counts, "subject_versions": int(versions), "subjects": 1}
