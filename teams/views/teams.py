"""The list of teams, and new ones."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from config.http.errors import Conflict
from teams.access import require_admin
from teams.forms import TeamForm
from teams.models import Membership, Role, Team
from teams.services import team_create
from teams.views.asking import asking

PER_PAGE = 60


def team_list(request: HttpRequest) -> HttpResponse:
    """The teams that the person may read, by name."""
    principal = asking(request)
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
    """A new team, by an admin of the organisation."""
    principal = asking(request)
    require_admin(principal)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = team_create(slug=form.cleaned_data["slug"], name=form.cleaned_data["name"], principal=principal)
        except Conflict:
            form.add_error("slug", _("There is a team with this short name already. Choose another."))
        else:
            messages.success(request, _("The team is there. Say what it wants in Goals."))
            return redirect("team_page", slug=team.slug)
    return render(request, "teams/team_new.html", {"form": form}, status=422 if form.errors else 200)
