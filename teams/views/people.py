"""The pages of the people of the organisation, for its admins: accounts, passwords, and who is an admin."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from config.http.errors import Conflict
from config.http.shown_once import show_once, take_shown_once
from config.http.sorting import SortableColumn, sorted_by_request
from teams.access import principal_of, require_admin, team_for
from teams.forms import NewPersonForm, PersonForm
from teams.models import Team, User, teams_administered_alone
from teams.people import person_create, person_password_renew, person_sign_out, person_update
from teams.principal import Action, Role
from teams.services import membership_set
from teams.sign_in.browser_sessions import current_digest, present_sessions
from teams.sign_in.second_factor import has_second_factor, second_factor_remove
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page

PER_PAGE = 60
COLUMNS = (
    SortableColumn("name", gettext_lazy("Name"), fields=("name", "username")),
    SortableColumn("username", gettext_lazy("Username"), "minor", fields=("username",)),
    SortableColumn("status", gettext_lazy("Status"), fields=("is_active", "is_admin", "name"), is_ascending=False),
    SortableColumn("teams", gettext_lazy("Teams"), "num minor", fields=("team_count", "name"), is_ascending=False),
    SortableColumn("seen", gettext_lazy("Last sign-in"), "num", fields=("last_login",), is_ascending=False),
)


@never_cache  # it may show a password
def people(request: HttpRequest) -> HttpResponse:
    """Show all people, and create accounts. The password of a new account is shown once."""
    require_admin(principal_of(request))
    form = NewPersonForm(request.POST or None, principal=principal_of(request))
    if request.method == "POST" and form.is_valid():
        try:
            made, password = _create(request, **form.cleaned_data)
        except Conflict:
            form.add_error("username", _("This username is taken. Choose another."))
        else:
            return _show_invitation(request, made, password)
    everybody = User.objects.annotate(team_count=Count("memberships"))
    matching = everybody.filter(_matches_words(request.GET.get("q", "")))
    found, heads = sorted_by_request(matching, request, COLUMNS, "name")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "heads": heads, "form": form}
    return render(request, "teams/people.html", context, status=422 if form.errors else 200)


@transaction.atomic
def _create(request: HttpRequest, *, team: Team | None, role: str, **facts: Any) -> tuple[User, str]:
    """Create the account and the membership in the chosen team. Raises Conflict."""
    made, password = person_create(**facts, principal=principal_of(request))
    if team:
        managed = team_for(principal_of(request), team.slug, Action.MANAGE)
        membership_set(team=managed, user=made, role=role, principal=principal_of(request))
    return made, password


def person(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show and change an account: its name, whether it is an admin's, and whether it may sign in."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    facts = {"name": found.name, "is_admin": found.is_admin, "is_active": found.is_active}
    alone = teams_administered_alone(found) if request.method == "POST" else []
    form = PersonForm(request.POST or None, initial=facts, administered_alone=list(alone))
    if request.method == "POST" and form.is_valid():
        try:
            person_update(person=found, **form.cleaned_data, principal=principal_of(request))
        except Conflict as conflict:
            form.add_error(None, conflict.detail)
        else:
            messages.success(request, _("Saved."))
            # Who is no admin any more may not see this page.
            return redirect("home" if found.pk == principal_of(request).id else "people")
    memberships = found.memberships.select_related("team").order_by("team__name")
    context = {
        "person": found,
        "form": form,
        "memberships": memberships,
        "roles": dict(Role.choices),
        "shown": present_sessions(found, current_digest(request)),
        "has_second_factor": has_second_factor(found),
    }
    return render(request, "teams/person.html", context, status=422 if form.errors else 200)


@never_cache
@require_POST
def password(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Create a new password for a person who forgot theirs, which is shown once."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    return _show_invitation(request, found, person_password_renew(person=found, principal=principal_of(request)))


@require_POST
def sign_out(request: HttpRequest, id_: UUID) -> HttpResponse:
    """End all sessions of a person, except the current one of the admin who does this."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    person_sign_out(person=found, except_digest=current_digest(request), principal=principal_of(request))
    messages.success(request, _("%(name)s is signed out everywhere.") % {"name": found})
    return redirect("person", id_=found.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and remove the second factor of a person who lost it."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Remove the second factor of %(name)s?") % {"name": found},
                consequences=[
                    _("Verify the identity of the person first: afterwards the password is sufficient."),
                    _("The authenticator app and the recovery codes become invalid; new ones can be set up."),
                ],
                button=_("Remove second factor"),
                back=reverse("person", args=[id_]),
                crumbs=[Crumb(_("People"), reverse("people"))],
            ),
        )
    second_factor_remove(person=found, principal=principal_of(request))
    messages.success(request, _("%(name)s can now sign in with the password alone.") % {"name": found})
    return redirect("person", id_=found.pk)


def _show_invitation(request: HttpRequest, invited: User, password: str) -> HttpResponse:
    show_once(request, f"invitation of {invited.pk}", password=password)
    return redirect("invitation", id_=invited.pk)


@never_cache
def invitation(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show what to hand over to a person: the address, the username and, once, the password that was just created."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    shown = take_shown_once(request, f"invitation of {found.pk}")
    if not shown:
        messages.info(request, _("The password was already shown. If it is lost, reset it here."))
        return redirect("person", id_=found.pk)
    context = {"person": found, "password": shown["password"], "address": request.build_absolute_uri("/")}
    return render(request, "teams/invitation.html", context)


def _matches_words(words: str) -> Q:
    words = words.strip().replace("\x00", "")
    return Q(name__icontains=words) | Q(username__icontains=words) if words else Q()
