"""These pages list, create, edit, rename and delete the organisation's files, and show their history."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from config.http.errors import Conflict, Forbidden
from teams.access import organisation_file_for, principal_of, require_admin
from teams.forms import DeletionForm
from teams.guidance import organisation_guidance
from teams.models import OrganisationFile
from teams.organisation.forms import OrganisationFileForm, OrganisationFileSettingsForm
from teams.organisation.models import ORGANISATION_TEXT
from teams.organisation.services import (
    organisation_file_create,
    organisation_file_delete,
    organisation_file_rename,
)
from teams.principal import Action
from teams.sealing.fields import Beginning
from teams.sealing.order import in_order_of, rows_by_name
from teams.text_diff.markdown import in_plain_words
from teams.versioned_text import views as versioned_text_views
from teams.versioned_text.drafts import Draft, drafts_of
from teams.versioned_text.editor import views as editor_views
from teams.versioned_text.presentation import Crumb, TextPage, save_as_person
from teams.versioned_text.versioned_file import StaleVersion, file_save

PER_PAGE = 60
BEGINNING = 160  # characters
LIST_NAME = gettext_lazy("Organisation knowledge")


@dataclass(frozen=True, slots=True)
class OrganisationFileCard:
    """A card shows a file in the list, with the beginning of its text and the person's draft of it."""

    file: OrganisationFile
    beginning: str
    draft: Draft | None


def file_list(request: HttpRequest) -> HttpResponse:
    """Show the organisation's files, by title."""
    files = OrganisationFile.objects.defer("content")
    titles = [row.id for row in rows_by_name(files, "title", "file_key")]
    page = Paginator(titles, PER_PAGE).get_page(request.GET.get("page"))
    shown = list(files.filter(id__in=list(page)).order_by(in_order_of(list(page))))
    principal = principal_of(request)
    abouts = [file.about for file in shown] if principal.is_admin else []
    drafts = {draft.about: draft for draft in drafts_of(principal.id).filter(about__in=abouts).defer("content")}
    beginnings = dict(files.filter(id__in=list(page)).values_list("id", Beginning("content", BEGINNING)))
    cards = [OrganisationFileCard(file, in_plain_words(beginnings[file.id]), drafts.get(file.about)) for file in shown]
    return render(request, "teams/organisation/list.html", {"page": page, "cards": cards})


def file_new(request: HttpRequest) -> HttpResponse:
    """Create a file, as an organisation admin."""
    principal = principal_of(request)
    require_admin(principal)
    form = OrganisationFileForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            file = organisation_file_create(**form.cleaned_data, principal=principal)
        except Conflict:
            form.add_error("key", _("A file with this key exists. Choose another key."))
        else:
            messages.success(request, _("File created. It is empty until you publish its text."))
            return redirect("organisation_file", key=file.file_key)
    return render(request, "teams/organisation/new.html", {"form": form}, status=422 if form.errors else 200)


def edit(request: HttpRequest, key: str) -> HttpResponse:
    """Edit a file of the organisation; people who may only read are redirected to its newest version."""
    try:
        found = _document(request, key, Action.EDIT)
    except Forbidden:
        if request.method == "POST":
            raise
        return redirect(_document(request, key).current_address)
    return editor_views.edit(request, found, save_as_person(request, file_save, found.file))


def history(request: HttpRequest, key: str) -> HttpResponse:
    """Show all versions of a file of the organisation."""
    return versioned_text_views.history(request, _document(request, key))


def version(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """Show a version of a file of the organisation."""
    return versioned_text_views.version(request, _document(request, key), number)


def compare(request: HttpRequest, key: str) -> HttpResponse:
    """Show the difference of two versions of a file of the organisation, or of a version and the draft."""
    return versioned_text_views.compare(request, _document(request, key))


@require_POST
def restore(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """Restore the text of an old version of a file of the organisation."""
    found = _document(request, key, Action.EDIT)
    return versioned_text_views.restore(request, found, number, save_as_person(request, file_save, found.file))


def file_settings(request: HttpRequest, key: str) -> HttpResponse:
    """Show and change the title of a file."""
    principal = principal_of(request)
    file = organisation_file_for(principal, key, Action.MANAGE)
    form = OrganisationFileSettingsForm(request.POST or None, initial={"title": file.title, "version": file.version})
    if request.method == "POST" and form.is_valid():
        title, expected = form.cleaned_data["title"], form.cleaned_data["version"]
        try:
            organisation_file_rename(file=file, title=title, expected_version=expected, principal=principal)
        except StaleVersion as stale:
            form.data = {**request.POST.dict(), "version": stale.current.version}
            form.add_error("title", _("Someone saved a newer version meanwhile. Save again to use your title."))
        else:
            messages.success(request, _("Saved."))
            return redirect("organisation_file", key=key)
    facts = {"file": file, "form": form, "crumbs": _crumbs(file)}
    return render(request, "teams/organisation/settings.html", facts, status=422 if form.errors else 200)


def file_delete(request: HttpRequest, key: str) -> HttpResponse:
    """Ask for confirmation, and delete a file with its versions."""
    principal = principal_of(request)
    file = organisation_file_for(principal, key, Action.MANAGE)
    form = DeletionForm(request.POST or None, slug=key)
    if request.method == "POST" and form.is_valid():
        organisation_file_delete(file=file, principal=principal)
        messages.success(request, _("“%(title)s” deleted. Records of contexts are retained.") % {"title": file.title})
        return redirect("organisation_files")
    facts = {"file": file, "form": form, "crumbs": _crumbs(file)}
    return render(request, "teams/organisation/delete.html", facts, status=422 if form.errors else 200)


def _crumbs(file: OrganisationFile) -> tuple[Crumb, ...]:
    return (
        Crumb(LIST_NAME, reverse("organisation_files")),
        Crumb(file.title, reverse("organisation_file", args=[file.file_key])),
    )


def _document(request: HttpRequest, key: str, action: Action = Action.READ) -> TextPage:
    principal = principal_of(request)
    file = organisation_file_for(principal, key, action)
    address = reverse("organisation_file", args=[key])
    return TextPage(
        file=file,
        guidance=organisation_guidance(file.title),
        key=ORGANISATION_TEXT,
        heading=file.title,
        crumbs=(Crumb(LIST_NAME, reverse("organisation_files")),),
        readers=_("Used by: all agents"),
        edit_address=address,
        history_address=f"{address}history/",
        settings_address=reverse("organisation_file_settings", args=[key]) if principal.is_admin else "",
        may_edit=principal.is_admin,
    )
