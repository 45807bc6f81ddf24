"""These pages download exports, and upload an archive, show its changes and import it."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.access import agent_for
from config.http.errors import Conflict, TooManyRequests
from memories.archive.sections import ExportScope, scope_of_agent, scope_of_everything, scope_of_team
from memories.archive.services import import_begin, import_create, import_for, imports_of
from memories.archive.upload_limits import may_upload, require_may_upload
from memories.archive.zip_file import zip_download
from memories.imports.base import ImportRefused
from memories.jobs.services import UNFINISHED
from memories.models import ImportStatus
from memories.views.import_presentation import import_outcome, plan_page
from teams.access import principal_of, team_for
from teams.principal import Principal
from teams.versioned_text.presentation import Crumb

MEGABYTE = 1_000_000


class ArchiveForm(forms.Form):
    """A form to upload a zip."""

    archive = forms.FileField(
        label=_("Zip file"),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        max_length=500,
        error_messages={
            "required": _("Choose a zip file first."),
            "empty": _("This file is empty. Export it again and choose the new file."),
            "max_length": _("The file name is too long. Rename the file and choose it again."),
        },
    )

    def clean_archive(self) -> Any:
        archive = self.cleaned_data["archive"]
        if archive.size > settings.MAX_BODY_BYTES:
            most = f"{settings.MAX_BODY_BYTES / MEGABYTE:.0f}"
            raise ValidationError(
                _("The maximum size of a zip is %(most)s MB. Import a part at a time."), params={"most": most}
            )
        return archive


def agent_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what an export of the agent contains."""
    scope = _agent_scope(request, slug)
    name = scope.agents[0].name
    crumbs = (Crumb(gettext("Agents"), reverse("agent_list")), Crumb(name, reverse("agent_page", args=[slug])))
    return _render_export(request, scope, kind="agent", name=name, address=f"{request.path}download/", crumbs=crumbs)


def agent_export_download(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download the archive of an agent."""
    return zip_download(_agent_scope(request, slug))


def team_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what an export of the team contains."""
    scope = _team_scope(request, slug)
    name = scope.teams[0].name
    crumbs = (Crumb(gettext("Teams"), reverse("team_list")), Crumb(name, reverse("team_page", args=[slug])))
    return _render_export(request, scope, kind="team", name=name, address=f"{request.path}download/", crumbs=crumbs)


def team_export_download(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download the archive of a team."""
    return zip_download(_team_scope(request, slug))


def organisation_export(request: HttpRequest) -> HttpResponse:
    """Show what an export of everything contains, to admins of the organisation."""
    scope = scope_of_everything(principal_of(request))
    return _render_export(
        request, scope, kind="organisation", name=gettext("everything"), address=f"{request.path}download/"
    )


def organisation_export_download(request: HttpRequest) -> HttpResponseBase:
    """Download the archive of everything, as an admin of the organisation."""
    return zip_download(scope_of_everything(principal_of(request)))


def _agent_scope(request: HttpRequest, slug: str) -> ExportScope:
    principal = principal_of(request)
    return scope_of_agent(agent_for(principal, slug), principal)


def _team_scope(request: HttpRequest, slug: str) -> ExportScope:
    principal = principal_of(request)
    return scope_of_team(team_for(principal, slug), principal)


def _render_export(
    request: HttpRequest, scope: ExportScope, *, kind: str, name: str, address: str, crumbs: tuple[Crumb, ...] = ()
) -> HttpResponse:
    context = {"scope": scope, "kind": kind, "name": name, "crumbs": crumbs, "address": address}
    return render(request, "memories/archive/export.html", context)


MAX_LISTED = 10
MAX_PAGE_DIGITS = 6


def import_new(request: HttpRequest) -> HttpResponse:
    """Upload an archive; it is checked and its changes are computed, but nothing is imported."""
    principal = principal_of(request)
    if request.method != "POST":
        return _render_upload_form(request, principal, ArchiveForm())
    require_may_upload(principal)  # before the file is read
    form = ArchiveForm(request.POST, request.FILES)
    if form.is_valid():
        archive = form.cleaned_data["archive"]
        try:
            plan = import_create(archive=archive.read(), file_name=archive.name, principal=principal)
        except ImportRefused as refused:
            form.add_error("archive", refused.detail)
        except TooManyRequests as refused:
            form.add_error("archive", refused.detail)
            response = _render_upload_form(request, principal, form, status=refused.status)
            response.headers["Retry-After"] = str(refused.retry_after)
            return response
        else:
            return redirect("import_plan", id_=plan.id)
    return _render_upload_form(request, principal, form, status=422)


def _render_upload_form(
    request: HttpRequest, principal: Principal, form: ArchiveForm, status: int = 200
) -> HttpResponse:
    context = {"form": form, "may_import": may_upload(principal), "imports": imports_of(principal)[:MAX_LISTED]}
    return render(request, "memories/archive/import_new.html", context, status=status)


def import_plan(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show what an import would change or, once it was started, its progress and result; htmx polls while it runs."""
    principal = principal_of(request)
    plan = import_for(principal, id_)
    context: dict[str, Any] = {"plan": plan}
    if plan.status == ImportStatus.SHOWN:
        number = request.GET.get("page", "1")
        page = plan_page(plan, int(number) if number.isdecimal() and len(number) < MAX_PAGE_DIGITS else 1, principal)
        return render(request, "memories/archive/import_plan.html", {**context, "is_shown": True, "page": page})
    context |= {
        "is_done": plan.status == ImportStatus.DONE,
        "is_planning": plan.status == ImportStatus.PLANNING,
        "is_refused": plan.status == ImportStatus.REFUSED,
        "is_running": plan.job is not None and plan.job.status in UNFINISHED,
        "outcome": import_outcome(plan, principal),
    }
    return render(request, "memories/archive/import_plan.html", context)


@require_POST
def import_apply(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Start the import, with the changes that the person chose."""
    principal = principal_of(request)
    plan = import_for(principal, id_)
    with suppress(Conflict):  # a second click: the page shows the result of the first
        import_begin(plan=plan, chosen=request.POST.getlist("take"), principal=principal)
    return redirect("import_plan", id_=plan.id)
