"""These pages list background jobs, show one with its progress, and retry a job that was given up."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from config.http.cursors import next_page_url, page_of
from memories.jobs.services import MAX_ATTEMPTS, UNFINISHED, NotParked, job_for, job_retry, jobs_visible_to, may_change
from memories.models import Job, JobStatus
from teams.access import principal_of
from teams.principal import Action

PURPOSES = {
    "split_documents": gettext_lazy("Index documents"),
    "split_files": gettext_lazy("Index files and daily logs"),
    "import_archive": gettext_lazy("Import archive"),
    "list_contexts": gettext_lazy("Export contexts"),
    "find_subject_mentions": gettext_lazy("Search for texts about a subject"),
    "correct_subject": gettext_lazy("Correct data of a subject"),
    "write_subject_file": gettext_lazy("Write a file about a subject"),
    "webhook_delivery": gettext_lazy("Deliver webhook"),
    "embed_missing": gettext_lazy("Index memories, entities and tools"),
    "derive_levels": gettext_lazy("Derive levels of detail"),
    "lifecycle": gettext_lazy("Move rarely used items to slower storage"),
    "warm_up_things": gettext_lazy("Bring used items back from slower storage"),
    "undo_lifecycle": gettext_lazy("Undo a run of the storage policies"),
}


def jobs(request: HttpRequest) -> HttpResponse:
    """Show the jobs that the person may see, the newest first."""
    found, cursor = page_of(jobs_visible_to(principal_of(request)), request.GET)
    context = {
        "jobs": [_present_job(job) for job in found],
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/jobs/list.html", context)


def job(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show one job; htmx polls the page until the job is finished."""
    principal = principal_of(request)
    found = job_for(principal, id_)
    context = _present_job(found) | {"may_retry": found.status == JobStatus.PARKED and may_change(principal, found)}
    return render(request, "memories/jobs/job.html", context)


@require_POST
def retry(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Retry a job that was given up."""
    found = job_for(principal_of(request), id_, Action.WRITE)
    try:
        job_retry(job=found)
    except NotParked:
        messages.info(request, _("The job was restarted already."))
    else:
        messages.success(request, _("Restarted."))
    return redirect("job", id_=found.id)


def _present_job(job: Job) -> dict[str, object]:
    return {
        "job": job,
        "purpose": PURPOSES.get(job.kind, job.kind),
        "unfinished": job.status in UNFINISHED,
        "most_attempts": MAX_ATTEMPTS,
    }
