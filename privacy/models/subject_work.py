"""Scans that look for what mentions a subject, and files with everything about one, are made in the background."""

from typing import Any

from django.db import models
from uuid_utils.compat import uuid7

from config.http.encrypted_fields import EncryptedBytesField
from memories.models import Job
from privacy.models.subject import Subject


class SubjectScan(models.Model):
    """A search of stored texts for the identifiers of a subject, which an interrupted job resumes at `place`.

    `since` limits it to what changed from that time on; None for everything. `place` says by `kind` and `after` which
    rows are searched already. `found` is the number of mentions that are new.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.ForeignKey(Subject, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="scans")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    since = models.DateTimeField(null=True)
    place: Any = models.JSONField(default=dict)
    texts = models.PositiveIntegerField(default=0)
    found = models.PositiveIntegerField(default=0)
    requested_by = models.CharField(max_length=80)
    created = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "subject_scans"
        indexes = [models.Index(fields=["subject", "-created"], name="subject_scan_newest")]


class SubjectFile(models.Model):
    """A ZIP file with everything that is linked to a subject. It is stored, encrypted, for a day after it
    was requested."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.ForeignKey(Subject, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="files")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    requested_by = models.CharField(max_length=80)
    requester_name = models.CharField(max_length=200, blank=True, default="")
    content = EncryptedBytesField(default=b"")
    created = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "subject_files"
        indexes = [
            models.Index(fields=["subject", "-created"], name="subject_file_newest"),
            models.Index(fields=["created"], name="subject_file_oldest"),
        ]
