"""The pages of teams: the list, a new team, and the settings for its admins."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from config.http.errors import Conflict
from teams.access import principal_of, require_admin, team_for
from teams.forms import DeletionForm, TeamForm, TeamSettingsForm
from teams.legal_holds import HeldByLaw, hold_on
from teams.models import Membership, Team
from teams.principal import Action, Role
from teams.services import team_create, team_delete, team_update
from teams.versioned_text.versioned_file import StaleVersion

PER_PAGE = 60


def team_list(request: HttpRequest) -> HttpResponse:
    """Show the teams that the person may read, by name."""
    principal = principal_of(request)
    members = Membership.objects.filter(team=OuterRef("pk")).order_by().values("team").annotate(n=Count("*"))
    own = Membership.objects.filter(team=OuterRef("pk"), user_id=principal.id).values("role")[:1]
    teams = (
        Team.objects.visible_to(principal)
        .annotate(members=Coalesce(Subquery(members.values("n")), 0), own_role=Subquery(own))
        .prefetch_related("agents")
        .order_by("name", "slug")
    )
    page = Paginator(teams, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "teams/team_list.html", {"page": page, "roles": dict(Role.choices)})


def team_new(request: HttpRequest) -> HttpResponse:
    """Create a team, as an organisation admin."""
    principal = principal_of(request)
    require_admin(principal)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = team_create(slug=form.cleaned_data["slug"], name=form.cleaned_data["name"], principal=principal)
        except Conflict:
            form.add_error("slug", _("A team with this slug exists. Choose another slug."))
        else:
            messages.success(request, _("Team created. Next: write its Goals."))
            return redirect("team_page", slug=team.slug)
    return render(request, "teams/team_new.html", {"form": form}, status=422 if form.errors else 200)


def team_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and change the name of a team, what its agents may do, what happens to secrets in texts, and what is read
    only with a reason.
    """
    team = team_for(principal_of(request), slug, Action.MANAGE)
    form = TeamSettingsForm(request.POST or None, initial=_form_values(team))
    if request.method == "POST" and form.is_valid():
        try:
            team_update(
                principal=principal_of(request),
                team=team,
                expected_version=form.cleaned_data["version"],
                name=form.cleaned_data["name"],
                agents_may_change_texts=form.cleaned_data["agents_may_change_texts"],
                secret_handling=form.cleaned_data["secret_handling"],
                reading_reasons=form.cleaned_data["reading_reasons"],
            )
        except StaleVersion as stale:
            form.data = {**request.POST.dict(), "version": stale.current.version}
            form.add_error(
                "name",
                _("Someone renamed it to “%(name)s” meanwhile. Save again to use your name.")
                % {"name": stale.current.name},
            )
        else:
            messages.success(request, _("Saved."))
            return redirect("team_page", slug=slug)
    return render(request, "teams/settings.html", {"team": team, "form": form}, status=422 if form.errors else 200)


def _form_values(team: Team) -> dict[str, Any]:
    shown = ("name", "version", "agents_may_change_texts", "secret_handling", "reading_reasons")
    return {name: getattr(team, name) for name in shown}


def team_delete_view(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for confirmation, and delete the team."""
    principal = principal_of(request)
    team = team_for(principal, slug, Action.MANAGE)
    form = DeletionForm(request.POST or None, slug=slug)
    if request.method == "POST" and form.is_valid():
        try:
            team_delete(team=team, principal=principal)
        except HeldByLaw as refused:
            form.add_error(None, refused.detail)
        else:
            said = _("Team %(name)s deleted. Records of contexts are retained.")
            messages.success(request, said % {"name": team.name})
            return redirect("team_list")
    facts = {"team": team, "form": form, "hold": hold_on("teams", team.id)}
    return render(request, "teams/delete.html", facts, status=422 if form.errors else 200)
