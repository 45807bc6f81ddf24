"""The pages of every versioned text: its history, a version, a comparison of two, and restoring a version."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.http.cursors import next_page_url, page_of
from config.http.errors import NotFound
from teams.access import principal_of
from teams.forms import validate_storable
from teams.text_diff.comparison import compare_texts
from teams.text_diff.markdown import render_markdown
from teams.versioned_text.drafts import draft_of
from teams.versioned_text.presentation import SaveText, TextPage, add_unchanged_message
from teams.versioned_text.version_pair import (
    NoDraft,
    NothingToCompare,
    VersionPair,
    find_version_pair,
    to_compared_text,
)
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS, StaleVersion

MAX_OWN_CHARACTERS = MAX_NOTE_CHARACTERS - 60
"""The maximum number of characters of a person's own words in the note of a restored version."""


class RestoreForm(forms.Form):
    """The form that restores a version: the version that was newest when the page was shown, and the person's note."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    note = forms.CharField(
        label=gettext_lazy("Comment"),
        help_text=gettext_lazy("Change summary"),
        required=False,
        max_length=MAX_OWN_CHARACTERS,
        validators=[validate_storable],
    )

    def __init__(self, data: Any = None, *, number: int, **kwargs: Any) -> None:
        # Two of them may be on one page, so their fields need ids of their own.
        super().__init__(data, auto_id=f"id_{number}_%s", **kwargs)
        self.number = number

    @property
    def full_note(self) -> str:
        """The note of the new version: which version was restored, and the person's own words."""
        restored = _("Restored version %(number)s") % {"number": self.number}
        own = " ".join(self.cleaned_data["note"].split())
        return f"{restored}: {own}" if own else restored


def history(request: HttpRequest, document: TextPage) -> HttpResponse:
    """Show all versions, newest first. After one was restored, the page offers to undo that."""
    versions, cursor = page_of(document.file.versions.defer("content"), request.GET, keys=("version",))
    newest = document.file.version
    restored = document.may_edit and newest > 1 and request.GET.get("restored") == str(newest)
    context = {
        "document": document,
        "versions": add_growth(document, versions),
        "draft": draft_of(principal_of(request).id, document.file.about),
        "undo": RestoreForm(initial={"version": newest}, number=newest - 1) if restored else None,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "teams/versioned_text/history.html", context)


def version(request: HttpRequest, document: TextPage, number: int) -> HttpResponse:
    """Show a version, formatted or as source."""
    found = find_version(document, number)
    source = not document.is_markdown or request.GET.get("as") == "source"
    neighbours = document.file.versions.filter(version__in=[number - 1, number + 1])
    newest = document.file.version
    context = {
        "document": document,
        "version": found,
        "source": source,
        "html": "" if source else render_markdown(found.content),
        "neighbours": sorted(neighbours.values_list("version", flat=True)),
        "is_current": found.version == newest,
        "form": RestoreForm(initial={"version": newest}, number=found.version),
    }
    return render(request, "teams/versioned_text/version.html", context)


def find_version(document: TextPage, number: int) -> Any:
    """Return a version of the text. Raises NotFound."""
    found = document.file.versions.filter(version=number).first() if number < 2**31 else None
    if found is None:
        raise NotFound(_("Version %(number)s") % {"number": number})
    return found


def add_growth(document: TextPage, versions: Sequence[Any]) -> Sequence[Any]:
    """Return the versions, newest first, each with its number of `words` and its `growth`.

    `growth` is by how many words it is longer than the previous version; None for the first.
    """
    if not versions:
        return versions
    # Counted here: PostgreSQL takes ten times as long to find the words of large texts.
    shown = range(versions[-1].version - 1, versions[0].version + 1)
    texts = document.file.versions.filter(version__range=(shown[0], shown[-1])).values_list("version", "content")
    words = {number: len(content.split()) for number, content in texts}
    for row in versions:
        row.words = words[row.version]
        row.growth = row.words - words[row.version - 1] if row.version - 1 in words else None
    return versions


def compare(request: HttpRequest, document: TextPage) -> HttpResponse:
    """Show what changed between the versions that `from` and `to` name, or to the reader's draft."""
    try:
        choice = find_version_pair(request, document)
    except NoDraft as fault:
        messages.info(request, fault.detail)
        return redirect(document.edit_address if document.may_edit else document.history_address)
    except NothingToCompare as fault:
        return render(
            request,
            "teams/versioned_text/compare.html",
            {"document": document, "fault": fault.detail},
            status=fault.status,
        )
    newest = document.file.version
    numbers = [side.number for side in (choice.old, choice.new) if side.number not in {newest, None}]
    forms = [RestoreForm(initial={"version": newest}, number=number) for number in numbers if number]
    return _render_comparison(request, document, choice, forms=forms if document.may_edit else [])


def render_restore_refused(
    request: HttpRequest, document: TextPage, version: Any, form: RestoreForm, status: int
) -> HttpResponse:
    """Show the newest version compared with the one that was to be restored, which can still be restored."""
    newest = document.file
    again = {"version": newest.version, "note": form.data.get("note", "")}
    facts: dict[str, Any] = {
        "forms": [RestoreForm(again, number=version.version)],
        "stale": newest if status == StaleVersion.status else None,
        "incomplete": "version" in form.errors,
    }
    return _render_comparison(
        request, document, VersionPair(to_compared_text(version), to_compared_text(newest)), status=status, **facts
    )


def _render_comparison(
    request: HttpRequest, document: TextPage, choice: VersionPair, status: int = 200, **facts: Any
) -> HttpResponse:
    source = not document.is_markdown or request.GET.get("as") == "source"
    named = {"from": choice.old.name, "to": choice.new.name}
    context = {
        "document": document,
        "choice": choice,
        "comparison": compare_texts(choice.old.content, choice.new.content, source=source),
        "address_read": f"{document.history_address}compare/?{urlencode(named)}",
        "address_source": f"{document.history_address}compare/?{urlencode({**named, 'as': 'source'})}",
        **facts,
    }
    return render(request, "teams/versioned_text/compare.html", context, status=status)


def restore(request: HttpRequest, document: TextPage, number: int, save: SaveText) -> HttpResponse:
    """Save the text of an old version as a new one. A person who has not seen the newest version is shown it first."""
    found = find_version(document, number)
    form = RestoreForm(request.POST, number=number)
    if not form.is_valid():
        return render_restore_refused(request, document, found, form, status=422)
    expected = form.cleaned_data["version"]
    try:
        saved = save(found.content, expected, form.full_note)
    except StaleVersion as stale:
        newest = replace(document, file=stale.current)
        return render_restore_refused(request, newest, found, form, status=stale.status)
    if saved.version == expected:
        add_unchanged_message(request)
        return redirect(document.history_address)
    facts = {"number": number, "version": saved.version}
    messages.success(request, _("Restored version %(number)s as version %(version)s.") % facts)
    if draft_of(principal_of(request).id, document.file.about):
        messages.info(request, _("Your draft is not changed; only you can see it."))
    return redirect(f"{document.history_address}?restored={saved.version}")
