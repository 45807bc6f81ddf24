"""The pages of subjects: their list, one subject with what mentions it, and the acts on it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, Invalid
from config.http.selection import chosen_action, redirect_to_list, selected_ids
from privacy.access import subject_for
from privacy.models import MentionStatus, Subject
from privacy.subjects.forms import SubjectForm, SubjectSearchForm
from privacy.subjects.presentation import mention_groups, status_counts, with_counts
from privacy.subjects.scan import subject_scan_create
from privacy.subjects.services import (
    facts_of,
    mentions_decide,
    subject_create,
    subject_delete,
    subject_restrict,
    subject_update,
)
from privacy.subjects.subject_search import MAX_FOUND, subjects_found
from teams.access import principal_of, require_admin
from teams.versioned_text.presentation import Crumb
from teams.versioned_text.versioned_file import StaleVersion

ACTIONS: Mapping[str, MentionStatus] = {
    "link": MentionStatus.LINKED,
    "dismiss": MentionStatus.DISMISSED,
    "review": MentionStatus.FOUND,
}
"""What the buttons above the mentions do with the selected ones."""
TAB_NAMES: Mapping[str, str | Promise] = {
    MentionStatus.FOUND: gettext_lazy("To review"),
    MentionStatus.LINKED: gettext_lazy("Linked"),
    MentionStatus.DISMISSED: gettext_lazy("Not about them"),
}


def subject_list(request: HttpRequest) -> HttpResponse:
    """Show all subjects by name; or, for a form that was posted, those with a name or an identifier."""
    require_admin(principal_of(request))
    form = SubjectSearchForm(request.POST or None)
    asked = form.cleaned_data["q"] if form.is_valid() else ""
    facts: dict[str, Any] = {"form": form, "asked": asked, "most": MAX_FOUND}
    if asked:
        facts["subjects"] = with_counts(subjects_found(asked))
    else:
        found, cursor = page_of(with_counts(Subject.objects.all()), request.GET, ("name", "id"), ascending=True)
        facts |= {"subjects": found, "next": next_page_url(request.path, request.GET.dict(), cursor)}
    return render(request, "privacy/subjects/list.html", facts, status=422 if form.errors else 200)


def subject_new(request: HttpRequest) -> HttpResponse:
    """Create a subject, and begin the search for what mentions it."""
    principal = principal_of(request)
    require_admin(principal)
    form = SubjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            subject = subject_create(facts=form.facts, principal=principal)
        except Invalid as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(request, _("Subject created. The search for texts about them has begun."))
            return redirect("subject", id_=subject.id)
    facts = {"form": form, "crumbs": [list_crumb()]}
    return render(request, "privacy/subjects/form.html", facts, status=422 if form.errors else 200)


def subject_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show a subject, and what mentions it, by the kind of thing."""
    subject = subject_for(principal_of(request), id_)
    counts = status_counts(subject)
    chosen = request.GET.get("status", "")
    if chosen not in MentionStatus.values:
        chosen = MentionStatus.FOUND if counts[MentionStatus.FOUND] else MentionStatus.LINKED
    rows = subject.mentions.filter(status=chosen)
    found, cursor = page_of(rows, request.GET, ("ref_kind", "id"), ascending=True)
    scan = subject.scans.select_related("job").order_by("-created").first()
    facts = {
        "subject": subject,
        "crumbs": [list_crumb()],
        "identifiers": subject.identifiers.order_by("id"),
        "former": subject.corrections.filter(was_identifier=True).order_by("created"),
        "corrections": subject.corrections.order_by("-created", "-id")[:20],
        "versions": subject.versions.order_by("-version")[:20],
        "groups": mention_groups(found),
        "status": chosen,
        "tabs": [(value, TAB_NAMES[value], counts[value]) for value in MentionStatus.values],
        "linked": counts[MentionStatus.LINKED],
        "scan": scan,
        "next": next_page_url(request.path, {**request.GET.dict(), "status": chosen}, cursor),
    }
    return render(request, "privacy/subjects/subject.html", facts)


def subject_edit(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Change what is known of a subject."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    initial = {**SubjectForm.initial_of(facts_of(subject)), "version": subject.version}
    form = SubjectForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        expected = form.cleaned_data["version"]
        try:
            subject_update(subject=subject, facts=form.facts, expected_version=expected, principal=principal)
        except StaleVersion as stale:
            form.data = {**request.POST.dict(), "version": stale.current.version}
            form.add_error(None, _("Somebody changed the subject meanwhile. Save again to replace their changes."))
        except (Invalid, Conflict) as refused:
            form.add_error(None, refused.detail)
        else:
            messages.success(request, _("Saved."))
            return redirect("subject", id_=id_)
    facts = {"form": form, "subject": subject, "crumbs": [list_crumb(), crumb_of(subject)]}
    return render(request, "privacy/subjects/form.html", facts, status=422 if form.errors else 200)


@require_POST
def scan(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Search all stored texts for the subject again."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    subject_scan_create(subject=subject, principal=principal)
    messages.success(request, _("The search has begun. You can leave this page."))
    return redirect("subject", id_=id_)


@require_POST
def selection(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Link the selected mentions, dismiss them, or put them back to be reviewed."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    try:
        status, ids = chosen_action(request.POST, ACTIONS), selected_ids(request.POST)
        changed = mentions_decide(subject=subject, mentions=ids, status=status, principal=principal)
    except (Invalid, Conflict) as refused:
        messages.error(request, refused.detail)
    else:
        told = {
            MentionStatus.LINKED: ngettext("1 text linked.", "%(n)s texts linked.", changed),
            MentionStatus.DISMISSED: ngettext("1 text is not about them.", "%(n)s texts are not about them.", changed),
            MentionStatus.FOUND: ngettext("1 text is to be reviewed.", "%(n)s texts are to be reviewed.", changed),
        }
        messages.success(request, told[status] % {"n": changed})
    return redirect_to_list(request, "subject", str(id_))


def restriction(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and restrict a subject, or lift the restriction."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    if request.method == "POST":
        restricted = request.POST.get("restricted") == "yes"
        try:
            subject_restrict(subject=subject, restricted=restricted, principal=principal)
        except Conflict as refused:
            messages.error(request, refused.detail)
        else:
            done = _("Restricted. No context includes the linked texts any more.")
            messages.success(request, done if restricted else _("The restriction is lifted."))
        return redirect("subject", id_=id_)
    linked = status_counts(subject)[MentionStatus.LINKED]
    asked = _("Lift the restriction of %(name)s?") if subject.is_restricted else _("Restrict %(name)s?")
    facts = {
        "subject": subject,
        "linked": linked,
        "question": asked % {"name": subject.name},
        "crumbs": [list_crumb(), crumb_of(subject)],
    }
    return render(request, "privacy/subjects/restriction.html", facts)


def delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and delete a subject; what mentions it stays."""
    principal = principal_of(request)
    subject = subject_for(principal, id_)
    if request.method == "POST":
        try:
            subject_delete(subject=subject, principal=principal)
        except Conflict as refused:
            messages.error(request, refused.detail)
            return redirect("subject", id_=id_)
        messages.success(request, _("Subject deleted. The texts about them are as they were."))
        return redirect("subject_list")
    return render(
        request, "privacy/subjects/delete.html", {"subject": subject, "crumbs": [list_crumb(), crumb_of(subject)]}
    )


def crumb_of(subject: Subject) -> Crumb:
    """Return the link to the page of a subject."""
    return Crumb(subject.name, reverse("subject", args=[subject.id]))


def list_crumb() -> Crumb:
    """Return the link to the list of subjects."""
    return Crumb(_("Subjects"), reverse("subject_list"))
