"""The pages of profiles: the list, a profile, a new profile, the editor, and the pages of versions."""

import re
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from assembly.models import StoredProfile
from assembly.profiles.catalogue import ProfileEntry, all_profiles, find_profile_entry, profile_fault
from assembly.profiles.document_pages import DocumentPages
from assembly.profiles.draft_change import draft_with_change
from assembly.profiles.forms import ProfileForm
from assembly.profiles.presentation import PROFILE_GUIDANCE, offered_sources, profile_table
from assembly.profiles.services import find_changeable_profile, profile_create, profile_delete, profile_save
from assembly.profiles.tuning_presentation import tuning_facts
from assembly.sources.external.services import unregistered_sections
from config.http.errors import Conflict, Invalid, NotFound
from teams.access import principal_of, require_admin
from teams.forms import TextForm
from teams.principal import Principal
from teams.versioned_text.presentation import Crumb, add_save_message
from teams.versioned_text.versioned_file import StaleVersion
from teams.views.confirmation import Confirmation, confirmation_page

NAME_LINE = re.compile(r"^name:.*\n", re.MULTILINE)
STARTING_PROFILE = "coding"


def profile_list(request: HttpRequest) -> HttpResponse:
    """Show all profiles: the built-in ones, then those of the organisation."""
    return render(request, "assembly/profiles/list.html", {"entries": all_profiles()})


def profile_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a profile as a table, or why its text cannot be parsed any more."""
    entry = find_profile_entry(name)
    profile = entry.described.profile if entry.described else None
    facts = (
        {**profile_table(profile), "unregistered": unregistered_sections(profile), **tuning_facts(profile)}
        if profile
        else {}
    )
    return render(request, "assembly/profiles/profile.html", {"entry": entry, **facts})


def profile_new(request: HttpRequest) -> HttpResponse:
    """Create a profile, starting from the text of another one."""
    principal = principal_of(request)
    require_admin(principal)
    if request.method != "POST":
        start = find_profile_entry(request.GET.get("from", STARTING_PROFILE))
        content, changed = _with_asked_change(request, _without_name_line(start))
        return _render_new(request, ProfileForm(initial={"content": content}), start=start.name, changed=changed)
    form = ProfileForm(request.POST)
    if form.is_valid():
        try:
            row = profile_create(**form.cleaned_data, principal=principal)
        except Conflict as error:
            form.add_error("name", error.detail)
        except Invalid as error:
            form.add_error(next(iter(error.extra["errors"])), error.detail)
        else:
            messages.success(
                request, _("Profile created. Requests can use it by its name, %(name)s.") % {"name": row.name}
            )
            return redirect("profile_page", name=row.name)
    return _render_new(request, form, status=422, check=profile_pages.check_text(request.POST.get("content", "")))


def profile_edit(request: HttpRequest, name: str) -> HttpResponse:
    """Edit a profile. An invalid text remains on the page until it is saved."""
    require_admin(principal_of(request))
    row = find_changeable_profile(name)
    if request.method != "POST":
        content, changed = _with_asked_change(request, row.content)
        return _editor(request, row, text=content, based_on=row.version, changed=changed)
    form = TextForm(request.POST, stored=row)
    if not form.is_valid():
        reasons = map(str, form.errors.get("content", [_("The request was incomplete.")]))
        return _render_refused(request, row, " ".join(reasons))
    content, based_on = form.cleaned_data["content"], form.cleaned_data["version"]
    try:
        saved = _save(principal_of(request), row, content, based_on)
    except StaleVersion as stale:
        newest = stale.current
        return _editor(request, row, text=content, based_on=newest.version, theirs=newest, status=stale.status)
    except Invalid as fault:
        return _render_refused(request, row, fault.detail, based_on=based_on)
    add_save_message(request, saved.version, based_on)
    return redirect("profile_page", name=name)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for confirmation, and delete a profile with its history; a built-in one is reset to its default."""
    require_admin(principal_of(request))
    entry = find_profile_entry(name)
    if request.method != "POST":
        return _confirm_deletion(request, entry)
    profile_delete(name=name, principal=principal_of(request))
    if entry.shipped:
        messages.success(request, _("Profile %(name)s reset to default.") % {"name": name})
        return redirect("profile_page", name=name)
    messages.success(request, _("Profile %(name)s deleted. Recorded contexts are not changed.") % {"name": name})
    return redirect("profile_list")


@require_POST
def restore(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Restore a version of a profile, if its text is still valid."""
    principal = principal_of(request)
    require_admin(principal)
    row = _stored_profile(principal, name)
    return profile_pages.restore(request, row, number, partial(_save, principal, row))


def _save(principal: Principal, row: StoredProfile, content: str, expected: int, note: str = "") -> StoredProfile:
    return profile_save(name=row.name, content=content, expected_version=expected, principal=principal, note=note)


def _stored_profile(_principal: Principal, name: str) -> StoredProfile:
    """Return the row of a profile that has a history; everyone may read it. Raises NotFound."""
    entry = find_profile_entry(name)
    if not entry.stored:
        raise NotFound(_("History of %(name)s") % {"name": name})
    return entry.row


profile_pages = DocumentPages(
    kind="profile",
    plural=gettext_lazy("Context profiles"),
    heading=gettext_lazy("Profile %(name)s"),
    guidance=PROFILE_GUIDANCE,
    fault_of=profile_fault,
    find=_stored_profile,
    may_edit=lambda principal, _row: principal.is_admin,
)
"""The validation of a text, and the pages of versions."""


def _confirm_deletion(request: HttpRequest, entry: ProfileEntry) -> HttpResponse:
    """Ask for confirmation before the organisation's text of a profile is deleted. Raises NotFound if there is none."""
    if not entry.stored:
        raise NotFound(_("A copy of the profile %(name)s") % {"name": entry.name})
    remains = _("It is reset to the default.") if entry.shipped else _("Requests that name it will be rejected.")
    return confirmation_page(
        request,
        Confirmation(
            question=_("Delete the profile %(name)s?") % {"name": entry.name},
            consequences=[
                _("This deletes its text with all versions. Recorded contexts are not changed."),
                remains,
            ],
            button=_("Reset to default") if entry.shipped else _("Delete permanently"),
            back=reverse("profile_page", args=[entry.name]),
            crumbs=[Crumb(_("Context profiles"), reverse("profile_list"))],
        ),
    )


def _render_new(request: HttpRequest, form: ProfileForm, status: int = 200, **facts: Any) -> HttpResponse:
    context = {"form": form, "guidance": PROFILE_GUIDANCE, "sources": offered_sources(), **facts}
    return render(request, "assembly/profiles/new.html", context, status=status)


def _with_asked_change(request: HttpRequest, content: str) -> tuple[str, bool]:
    """Return the text with the change that the query asks for, and whether there is one."""
    asked = {name: request.GET.get(name, "") for name in ("section", "value")}
    draft = draft_with_change(content, kind=request.GET.get("change", ""), **asked)
    return (content, False) if draft is None else (draft, True)


def _without_name_line(entry: ProfileEntry) -> str:
    """Return the text without the line with its name, because the copy gets another one."""
    return NAME_LINE.sub("", entry.row.content, count=1)


def _render_refused(request: HttpRequest, row: StoredProfile, fault: str, based_on: int | None = None) -> HttpResponse:
    sent = request.POST.get("content", "").replace("\r\n", "\n")
    based_on = row.version if based_on is None else based_on
    check = profile_pages.check_text(sent)
    return _editor(request, row, text=sent, based_on=based_on, fault=fault, check=check, status=422)


def _editor(request: HttpRequest, row: StoredProfile, status: int = 200, **facts: Any) -> HttpResponse:
    context = {"row": row, "guidance": PROFILE_GUIDANCE, "sources": offered_sources(), **facts}
    return render(request, "assembly/profiles/edit.html", context, status=status)
