"""The page of files with everything about a subject, and their download."""

from io import BytesIO
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from config.http.errors import Conflict
from memories.archive.zip_file import ZIP, file_response
from memories.lifecycle.frozen_texts import FrozenTextUnreachable
from privacy.access import subject_file_for, subject_for
from privacy.models import MentionStatus
from privacy.subjects.export import FILE_RETENTION, file_name, note_download, subject_file_create, written_content
from privacy.subjects.presentation import status_counts
from privacy.subjects.views import crumb_of
from teams.access import principal_of


def files(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the files of the last day, and write another one."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    if request.method == "POST":
        try:
            file = subject_file_create(subject=subject, principal=principal)
        except (Conflict, FrozenTextUnreachable) as refused:
            messages.error(request, refused.detail)
        else:
            messages.success(request, _("The file is ready.") if file.finished_at else _("The file is being written."))
        return redirect("subject_files", id_=id_)
    stored = subject.files.filter(created__gte=timezone.now() - FILE_RETENTION)
    counts = status_counts(subject)
    facts = {
        "subject": subject,
        "files": stored.select_related("job").defer("content").order_by("-created"),
        "linked": counts[MentionStatus.LINKED],
        "to_review": counts[MentionStatus.FOUND],
        "crumbs": [crumb_of(subject)],
    }
    return render(request, "privacy/subjects/files.html", facts)


def download(request: HttpRequest, id_: UUID, file_id: UUID) -> HttpResponseBase:
    """Download a file that is written."""
    principal = principal_of(request)
    file = subject_file_for(principal, subject_for(principal, id_), file_id)
    if file.finished_at is None:
        messages.error(request, _("The file is not written yet. Reload the page in a moment."))
        return redirect("subject_files", id_=id_)
    note_download(file, principal)
    return file_response(BytesIO(written_content(file)), file_name(file), ZIP)
