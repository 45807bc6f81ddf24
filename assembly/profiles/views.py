"""Pages of profiles: the list, one profile, a new one, and the check of a text."""

import re
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from assembly.profiles.catalogue import ProfileEntry, all_profiles, find_profile_entry, profile_fault
from assembly.profiles.forms import ProfileForm
from assembly.profiles.presentation import PROFILE_GUIDANCE, offered_sources, profile_table
from assembly.profiles.services import profile_create, profile_delete
from assembly.profiles.yaml_reader import MAX_CHARACTERS, UnreadableDocument, line_at
from assembly.sources.external.services import unregistered_sections
from config.http.errors import Conflict, Invalid, NotFound
from teams.access import principal_of, require_admin
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page


@dataclass(frozen=True, slots=True)
class TextCheck:
    """What is wrong with a text, and the line that it is about; without a fault the text can be used."""

    fault: UnreadableDocument | None
    excerpt: str


def check_profile_text(sent: str) -> TextCheck:
    """The check of a text as a browser sent it."""
    text = sent[: MAX_CHARACTERS + 1].replace("\r\n", "\n")
    fault = profile_fault(text)
    return TextCheck(fault, line_at(text, fault.line) if fault else "")


NAME_LINE = re.compile(r"^name:.*\n", re.MULTILINE)
STARTING_PROFILE = "coding"


def profile_list(request: HttpRequest) -> HttpResponse:
    """All profiles: those that Dossier comes with, then the organisation's own."""
    return render(request, "assembly/profiles/list.html", {"entries": all_profiles()})


def profile_page(request: HttpRequest, name: str) -> HttpResponse:
    """What a profile says, as a table; or, where its text cannot be read any more, why."""
    entry = find_profile_entry(name)
    profile = entry.described.profile if entry.described else None
    facts = {**profile_table(profile), "unregistered": unregistered_sections(profile)} if profile else {}
    return render(request, "assembly/profiles/profile.html", {"entry": entry, **facts})


def profile_new(request: HttpRequest) -> HttpResponse:
    """A new profile, begun with the text of another one."""
    principal = principal_of(request)
    require_admin(principal)
    if request.method != "POST":
        start = find_profile_entry(request.GET.get("from", STARTING_PROFILE))
        return _render_new(request, ProfileForm(initial={"content": _without_name_line(start)}), start=start.name)
    form = ProfileForm(request.POST)
    if form.is_valid():
        try:
            row = profile_create(**form.cleaned_data, principal=principal)
        except Conflict as error:
            form.add_error("name", error.detail)
        except Invalid as error:
            form.add_error(next(iter(error.extra["errors"])), error.detail)
        else:
            messages.success(request, _("The profile is there. Ask for it by its name, %(name)s.") % {"name": row.name})
            return redirect("profile_page", name=row.name)
    return _render_new(request, form, status=422, check=check_profile_text(request.POST.get("content", "")))


@require_POST
def profile_check(request: HttpRequest) -> HttpResponse:
    """The panel that says whether the text in the form is a profile; nothing is stored."""
    check = check_profile_text(request.POST.get("content", ""))
    return render(request, "assembly/profiles/_check.html", {"check": check})


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether a profile shall go with its history, and delete it; a shipped one is then again as it came."""
    require_admin(principal_of(request))
    entry = find_profile_entry(name)
    if request.method != "POST":
        return _confirm_deletion(request, entry)
    profile_delete(name=name, principal=principal_of(request))
    if entry.shipped:
        messages.success(request, _("The profile %(name)s is as it came with Dossier again.") % {"name": name})
        return redirect("profile_page", name=name)
    messages.success(request, _("The profile %(name)s is deleted. Contexts made with it stay.") % {"name": name})
    return redirect("profile_list")


def _confirm_deletion(request: HttpRequest, entry: ProfileEntry) -> HttpResponse:
    """Ask before the organisation's own text of a profile goes. Raises NotFound where there is none."""
    if not entry.stored:
        raise NotFound(_("A profile %(name)s of your own") % {"name": entry.name})
    remains = (
        _("It is as it came with Dossier again.")
        if entry.shipped
        else _("Requests that name it are refused from then on.")
    )
    return confirmation_page(
        request,
        Confirmation(
            question=_("Delete the profile %(name)s?") % {"name": entry.name},
            consequences=[
                _("Its text goes with all its versions. Contexts that were made with it stay."),
                remains,
            ],
            button=_("Delete our changes") if entry.shipped else _("Delete the profile for good"),
            back=reverse("profile_page", args=[entry.name]),
            crumbs=[Crumb(_("Profiles"), reverse("profile_list"))],
        ),
    )


def _render_new(request: HttpRequest, form: ProfileForm, status: int = 200, **facts: Any) -> HttpResponse:
    context = {"form": form, "guidance": PROFILE_GUIDANCE, "sources": offered_sources(), **facts}
    return render(request, "assembly/profiles/new.html", context, status=status)


def _without_name_line(entry: ProfileEntry) -> str:
    """The text without the line that says its name: the copy gets another one."""
    return NAME_LINE.sub("", entry.row.content, count=1)
