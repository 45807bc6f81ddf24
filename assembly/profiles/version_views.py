"""The pages of a profile's text: editor, history, one version, restore."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.models import StoredProfile
from assembly.profiles.catalogue import ProfileEntry, find_profile_entry
from assembly.profiles.presentation import PROFILE_GUIDANCE, offered_sources
from assembly.profiles.services import find_changeable_profile, profile_save
from assembly.profiles.views import check_profile_text
from config.http.errors import Invalid, NotFound
from teams.access import principal_of, require_admin
from teams.forms import TextForm
from teams.versioned_text import views
from teams.versioned_text import views as document_history
from teams.versioned_text.presentation import Crumb, TextPage
from teams.versioned_text.versioned_file import StaleVersion


def edit(request: HttpRequest, name: str) -> HttpResponse:
    """The editor: what is typed stays on the page until it is saved, whatever is wrong with it."""
    require_admin(principal_of(request))
    row = find_changeable_profile(name)
    if request.method != "POST":
        return _editor(request, row, text=row.content, based_on=row.version)
    form = TextForm(request.POST, stored=row)
    if not form.is_valid():
        reasons = map(str, form.errors.get("content", [_("This page was incomplete.")]))
        return _render_refused(request, row, " ".join(reasons))
    content, based_on = form.cleaned_data["content"], form.cleaned_data["version"]
    try:
        saved = _save(request, name, content, based_on)
    except StaleVersion as stale:
        newest = stale.current
        return _editor(request, row, text=content, based_on=newest.version, theirs=newest, status=stale.status)
    except Invalid as fault:
        return _render_refused(request, row, fault.detail, based_on=based_on)
    _notify_saved(request, saved, based_on)
    return redirect("profile_page", name=name)


def history(request: HttpRequest, name: str) -> HttpResponse:
    """All versions of a profile, newest first."""
    return document_history.history(request, _document(request, _find_stored_entry(name)))


def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """One version of a profile, as it was written."""
    return document_history.version(request, _document(request, _find_stored_entry(name)), number)


def compare(request: HttpRequest, name: str) -> HttpResponse:
    """Two versions of a profile."""
    return views.compare(request, _document(request, _find_stored_entry(name)))


@require_POST
def restore(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Bring back an old version of a profile, if it can still be read."""
    require_admin(principal_of(request))
    shown = _document(request, _find_stored_entry(name))
    return views.restore(
        request, shown, number, lambda content, expected, note: _save(request, name, content, expected, note)
    )


def _save(request: HttpRequest, name: str, content: str, expected: int, note: str = "") -> StoredProfile:
    return profile_save(
        name=name, content=content, expected_version=expected, principal=principal_of(request), note=note
    )


def _find_stored_entry(name: str) -> ProfileEntry:
    entry = find_profile_entry(name)
    if not entry.stored:
        raise NotFound(_("The history of %(name)s") % {"name": name})
    return entry


def _document(request: HttpRequest, entry: ProfileEntry) -> TextPage:
    address = reverse("profile_page", args=[entry.name])
    return TextPage(
        file=entry.row,
        guidance=PROFILE_GUIDANCE,
        key=entry.name,
        heading=_("Profile %(name)s") % {"name": entry.name},
        crumbs=(Crumb(_("Profiles"), reverse("profile_list")), Crumb(entry.name, address)),
        readers="",
        edit_address=reverse("profile_edit", args=[entry.name]),
        history_address=reverse("profile_history", args=[entry.name]),
        may_edit=principal_of(request).is_admin,
        is_markdown=False,
    )


def _render_refused(request: HttpRequest, row: StoredProfile, fault: str, based_on: int | None = None) -> HttpResponse:
    sent = request.POST.get("content", "").replace("\r\n", "\n")
    based_on = row.version if based_on is None else based_on
    return _editor(request, row, text=sent, based_on=based_on, fault=fault, check=check_profile_text(sent), status=422)


def _editor(request: HttpRequest, row: StoredProfile, status: int = 200, **facts: Any) -> HttpResponse:
    context = {"row": row, "guidance": PROFILE_GUIDANCE, "sources": offered_sources(), **facts}
    return render(request, "assembly/profiles/edit.html", context, status=status)


def _notify_saved(request: HttpRequest, saved: StoredProfile, based_on: int) -> None:
    if saved.version == based_on:
        messages.info(request, _("Nothing had changed, so there is no new version."))
    else:
        messages.success(request, _("Saved as version %(version)s.") % {"version": saved.version})
