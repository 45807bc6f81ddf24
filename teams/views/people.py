"""The people of the organisation, for its admins: new accounts, new passwords, who may sign in and who is an admin."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from config.http.errors import Conflict
from teams.access import principal_of, require_admin
from teams.forms import NewPersonForm, PersonForm
from teams.models import User, teams_administered_alone
from teams.people import person_create, person_password_renew, person_update
from teams.principal import Role
from teams.sign_in.browser_sessions import current_digest, present_sessions, sessions_end
from teams.sign_in.second_factor import has_second_factor, second_factor_remove
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page

PER_PAGE = 60


@never_cache  # it may show a password
def people(request: HttpRequest) -> HttpResponse:
    """Everybody; makes accounts. The password of a new one is shown once."""
    require_admin(principal_of(request))
    form = NewPersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made, password = person_create(**form.cleaned_data)
        except Conflict:
            form.add_error("username", _("Somebody has this username already. Choose another."))
        else:
            return _render_invitation(request, made, password)
    everybody = User.objects.annotate(team_count=Count("memberships")).order_by("-is_active", "name", "username")
    found = everybody.filter(_matches_words(request.GET.get("q", "")))
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "teams/people.html", {"page": page, "form": form}, status=422 if form.errors else 200)


def person(request: HttpRequest, id_: UUID) -> HttpResponse:
    """One account: its name, whether it is an admin's, whether it may sign in."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    facts = {"name": found.name, "is_admin": found.is_admin, "is_active": found.is_active}
    alone = teams_administered_alone(found) if request.method == "POST" else []
    form = PersonForm(request.POST or None, initial=facts, administered_alone=list(alone))
    if request.method == "POST" and form.is_valid():
        try:
            person_update(person=found, **form.cleaned_data)
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
    """A new password for somebody who forgot theirs, shown once."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    return _render_invitation(request, found, person_password_renew(person=found))


@require_POST
def sign_out(request: HttpRequest, id_: UUID) -> HttpResponse:
    """End all sessions of somebody; an admin's own but for the one that asks."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    sessions_end(person=found, except_digest=current_digest(request))
    messages.success(request, _("%(name)s is signed out everywhere.") % {"name": found})
    return redirect("person", id_=found.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask whether the second factor of somebody who lost it shall go, and remove it."""
    require_admin(principal_of(request))
    found = get_object_or_404(User, pk=id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Remove the second factor of %(name)s?") % {"name": found},
                consequences=[
                    _("Make sure that it is the person who asks: afterwards the password alone is enough."),
                    _("The authenticator app and the recovery codes are of no use any more; new ones can be set up."),
                ],
                button=_("Remove the second factor"),
                back=reverse("person", args=[id_]),
                crumbs=[Crumb(_("People"), reverse("people"))],
            ),
        )
    second_factor_remove(person=found)
    messages.success(request, _("%(name)s signs in with the password alone now.") % {"name": found})
    return redirect("person", id_=found.pk)


def _render_invitation(request: HttpRequest, invited: User, password: str) -> HttpResponse:
    address = request.build_absolute_uri("/")
    context = {"person": invited, "password": password, "address": address}
    return render(request, "teams/invitation.html", context)


def _matches_words(words: str) -> Q:
    words = words.strip().replace("\x00", "")
    return Q(name__icontains=words) | Q(username__icontains=words) if words else Q()
