"""What the admins of a team change about it: its name, and whether it goes on."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from teams.access import Action, team_for
from teams.files import StaleVersion
from teams.forms import DeletionForm, TeamSettingsForm
from teams.models import Team
from teams.services import team_delete, team_update
from teams.views.asking import asking


def team_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """The name of a team, and what its agents may do."""
    team = team_for(asking(request), slug, Action.MANAGE)
    form = TeamSettingsForm(request.POST or None, initial=_facts(team))
    if request.method == "POST" and form.is_valid():
        try:
            team_update(
                team=team,
                expected_version=form.cleaned_data["version"],
                name=form.cleaned_data["name"],
                agents_may_change_texts=form.cleaned_data["agents_may_change_texts"],
            )
        except StaleVersion as stale:
            form.data = {**request.POST.dict(), "version": stale.current.version}
            form.add_error(
                "name",
                _("Somebody named it “%(name)s” meanwhile. Save again to name it as you wrote.")
                % {"name": stale.current.name},
            )
        else:
            messages.success(request, _("Saved."))
            return redirect("team_page", slug=slug)
    return render(request, "teams/settings.html", {"team": team, "form": form}, status=422 if form.errors else 200)


def _facts(team: Team) -> dict[str, Any]:
    return {name: getattr(team, name) for name in ("name", "version", "agents_may_change_texts")}


def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks whether the team shall go, and deletes it."""
    principal = asking(request)
    team = team_for(principal, slug, Action.MANAGE)
    form = DeletionForm(request.POST or None, slug=slug)
    if request.method == "POST" and form.is_valid():
        team_delete(team=team, principal=principal)
        messages.success(
            request, _("The team %(name)s is deleted. Contexts that it was told of stay.") % {"name": team.name}
        )
        return redirect("team_list")
    return render(request, "teams/delete.html", {"team": team, "form": form}, status=422 if form.errors else 200)
