"""Imports: choosing an archive, looking at what it would change, doing it, and seeing what came of it."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from config.http.errors import Conflict, TooManyRequests
from memories.bundle.imports import import_begin, import_for, import_show, imports_of
from memories.bundle.upload_limits import may_upload, upload_permit
from memories.forms.importing import ArchiveForm
from memories.importing import ImportRefused
from memories.jobs import UNFINISHED
from memories.models import ImportStatus
from memories.views.import_words import outcome_of, plan_page
from teams.principal import Principal
from teams.views.asking import asking

MOST_LISTED = 10
MOST_DIGITS = 6


def import_new(request: HttpRequest) -> HttpResponse:
    """Choose an archive; it is read, checked and shown, and nothing is written."""
    principal = asking(request)
    if request.method != "POST":
        return _choosing(request, principal, ArchiveForm())
    upload_permit(principal)  # before the file is read
    form = ArchiveForm(request.POST, request.FILES)
    if form.is_valid():
        archive = form.cleaned_data["archive"]
        try:
            plan = import_show(archive=archive.read(), file_name=archive.name, principal=principal)
        except ImportRefused as refused:
            form.add_error("archive", refused.detail)
        except TooManyRequests as refused:
            form.add_error("archive", refused.detail)
            response = _choosing(request, principal, form, status=refused.status)
            response.headers["Retry-After"] = str(refused.retry_after)
            return response
        else:
            return redirect("import_plan", id_=plan.id)
    return _choosing(request, principal, form, status=422)


def _choosing(request: HttpRequest, principal: Principal, form: ArchiveForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "may_import": may_upload(principal), "imports": imports_of(principal)[:MOST_LISTED]}
    return render(request, "memories/import_new.html", context, status=status)


def import_plan(request: HttpRequest, id_: UUID) -> HttpResponse:
    """What would change, and once it was begun, how far it is or what came of it; htmx asks again while it is done."""
    principal = asking(request)
    plan = import_for(principal, id_)
    context: dict[str, Any] = {"plan": plan}
    if plan.status == ImportStatus.SHOWN:
        number = request.GET.get("page", "1")
        page = plan_page(plan, int(number) if number.isdecimal() and len(number) < MOST_DIGITS else 1, principal)
        return render(request, "memories/import_plan.html", {**context, "is_shown": True, "page": page})
    context |= {
        "is_done": plan.status == ImportStatus.DONE,
        "is_planning": plan.status == ImportStatus.PLANNING,
        "is_refused": plan.status == ImportStatus.REFUSED,
        "is_running": plan.job is not None and plan.job.status in UNFINISHED,
        "outcome": outcome_of(plan, principal),
    }
    return render(request, "memories/import_plan.html", context)


@require_POST
def import_apply(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Do what was shown."""
    principal = asking(request)
    plan = import_for(principal, id_)
    with suppress(Conflict):  # by a second click: the page says what came of the first
        import_begin(plan=plan, chosen=request.POST.getlist("take"), principal=principal)
    return redirect("import_plan", id_=plan.id)
