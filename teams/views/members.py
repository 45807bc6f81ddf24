"""Who belongs to a team: added, given another role and removed by its admins."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from teams.access import principal_of, team_for
from teams.forms import MemberForm, RoleForm
from teams.models import Membership, Team, User
from teams.principal import Action, Role
from teams.services import LastAdmin, membership_remove, membership_set


def members(request: HttpRequest, slug: str) -> HttpResponse:
    """The members with their roles; adds somebody by username."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    form = MemberForm(request.POST or None, principal=principal_of(request))
    if request.method == "POST" and form.is_valid() and form.user:
        try:
            membership_set(team=team, user=form.user, role=form.cleaned_data["role"])
        except LastAdmin as refused:
            form.add_error("role", refused.detail)
        else:
            messages.success(request, _("%(name)s is in the team now.") % {"name": form.user})
            return redirect("team_members", slug=slug)
    context = {
        "team": team,
        "form": form,
        "memberships": team.memberships.select_related("user").order_by("user__username"),
        "roles": Role.choices,
    }
    return render(request, "teams/members.html", context, status=422 if form.errors else 200)


@require_POST
def member_role(request: HttpRequest, slug: str, user_id: UUID) -> HttpResponse:
    """Another role for a member."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    user = _find_member(team, user_id)
    form = RoleForm(request.POST)
    if form.is_valid():
        try:
            membership_set(team=team, user=user, role=form.cleaned_data["role"])
        except LastAdmin as refused:
            messages.error(request, refused.detail)
            return redirect("team_members", slug=slug)
        label = Role(form.cleaned_data["role"]).label
        messages.success(request, _("%(name)s is %(role)s now.") % {"name": user, "role": label.lower()})
    return _redirect_back(request, slug, user)


@require_POST
def member_remove(request: HttpRequest, slug: str, user_id: UUID) -> HttpResponse:
    """Somebody leaves the team."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    user = _find_member(team, user_id)
    try:
        membership_remove(team=team, user=user)
    except LastAdmin as refused:
        messages.error(request, refused.detail)
        return redirect("team_members", slug=slug)
    messages.success(request, _("%(name)s is not in the team any more. You can add them again.") % {"name": user})
    return _redirect_back(request, slug, user)


def _find_member(team: Team, user_id: UUID) -> User:
    return get_object_or_404(Membership.objects.select_related("user"), team=team, user_id=user_id).user


def _redirect_back(request: HttpRequest, slug: str, changed: User) -> HttpResponse:
    # Whoever changed the own role may not be allowed to see this page any more.
    if changed.pk == principal_of(request).id and not principal_of(request).is_admin:
        return redirect("team_list")
    return redirect("team_members", slug=slug)
