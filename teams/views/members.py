"""The pages of the members of a team, on which its admins add and remove people and change roles."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from teams.access import principal_of, team_for
from teams.forms import MemberForm, RoleForm
from teams.models import Membership, Team, User
from teams.principal import Action, Role
from teams.services import LastAdmin, membership_remove, membership_set
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page


def members(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the members with their roles, and add a person by username."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    form = MemberForm(request.POST or None, principal=principal_of(request))
    if request.method == "POST" and form.is_valid() and form.user:
        try:
            membership_set(team=team, user=form.user, role=form.cleaned_data["role"], principal=principal_of(request))
        except LastAdmin as refused:
            form.add_error("role", refused.detail)
        else:
            messages.success(request, _("%(name)s added.") % {"name": form.user})
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
    """Change the role of a member."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    user = _find_member(team, user_id)
    form = RoleForm(request.POST)
    if form.is_valid():
        try:
            membership_set(team=team, user=user, role=form.cleaned_data["role"], principal=principal_of(request))
        except LastAdmin as refused:
            messages.error(request, refused.detail)
            return redirect("team_members", slug=slug)
        label = Role(form.cleaned_data["role"]).label
        messages.success(request, _("The role of %(name)s is now %(role)s.") % {"name": user, "role": label.lower()})
    return _redirect_back(request, slug, user)


@require_http_methods(["GET", "HEAD", "POST"])
def member_remove(request: HttpRequest, slug: str, user_id: UUID) -> HttpResponse:
    """Ask for confirmation, and remove a person from the team."""
    team = team_for(principal_of(request), slug, Action.MANAGE)
    user = _find_member(team, user_id)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Remove %(name)s from %(team)s?") % {"name": user, "team": team},
                consequences=[
                    _("The person loses access to the team, its agents and their contexts."),
                    _("Texts of the person are retained. To undo this, add the person again."),
                ],
                button=_("Remove"),
                back=reverse("team_members", args=[slug]),
                crumbs=[Crumb(team.name, reverse("team_page", args=[slug]))],
            ),
        )
    try:
        membership_remove(team=team, user=user, principal=principal_of(request))
    except LastAdmin as refused:
        messages.error(request, refused.detail)
        return redirect("team_members", slug=slug)
    messages.success(request, _("%(name)s removed.") % {"name": user})
    return _redirect_back(request, slug, user)


def _find_member(team: Team, user_id: UUID) -> User:
    return get_object_or_404(Membership.objects.select_related("user"), team=team, user_id=user_id).user


def _redirect_back(request: HttpRequest, slug: str, changed: User) -> HttpResponse:
    # Whoever changed the own role may not be allowed to see this page any more.
    if changed.pk == principal_of(request).id and not principal_of(request).is_admin:
        return redirect("team_list")
    return redirect("team_members", slug=slug)
