"""Subjects are looked up for admins of the organisation and admin keys alone: a person is seen whole or not at all."""

from uuid import UUID

from django.utils import timezone

from config.http.errors import NotFound
from privacy.models import LegalHold, Subject, SubjectCorrection, SubjectErasure, SubjectFile
from privacy.subjects.export import FILE_RETENTION
from teams.access import require_admin
from teams.principal import Principal


def subject_for(principal: Principal, id_: UUID) -> Subject:
    """Return the subject with this id. Raises Forbidden for everybody but admins of the organisation, and NotFound."""
    require_admin(principal)
    subject = Subject.objects.filter(id=id_).first()
    if subject is None:
        raise NotFound("This subject")
    return subject


def subject_file_for(principal: Principal, subject: Subject, id_: UUID) -> SubjectFile:
    """Return the file about the subject with this id, without its content. Raises Forbidden and NotFound.

    A file older than a day is not found.
    """
    require_admin(principal)
    stored = SubjectFile.objects.filter(subject=subject, created__gte=timezone.now() - FILE_RETENTION)
    file = stored.select_related("job").defer("content").filter(id=id_).first()
    if file is None:
        raise NotFound("This file")
    return file


def correction_for(principal: Principal, subject: Subject, id_: UUID) -> SubjectCorrection:
    """Return the correction of the subject with this id. Raises Forbidden and NotFound."""
    require_admin(principal)
    found = SubjectCorrection.objects.select_related("subject", "job").filter(subject=subject, id=id_).first()
    if found is None:
        raise NotFound("This correction")
    return found


def erasure_for(principal: Principal, id_: UUID) -> SubjectErasure:
    """Return the erasure with this id. Raises Forbidden for everybody but admins of the organisation, and NotFound."""
    require_admin(principal)
    erasure = SubjectErasure.objects.filter(id=id_).first()
    if erasure is None:
        raise NotFound("This erasure")
    return erasure


def hold_for(principal: Principal, id_: UUID) -> LegalHold:
    """Return the legal hold with this id. Raises Forbidden for all but admins of the organisation, and NotFound."""
    require_admin(principal)
    hold = LegalHold.objects.filter(id=id_).first()
    if hold is None:
        raise NotFound("This legal hold")
    return hold
