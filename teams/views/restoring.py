"""Bringing back an old version of a text, as a new one."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from teams.drafts import draft_of
from teams.files import StaleVersion
from teams.history_forms import RestoreForm
from teams.views.asking import asking
from teams.views.comparing import restore_refused
from teams.views.document import Document, Save
from teams.views.history import version_of


def restore(request: HttpRequest, document: Document, number: int, save: Save) -> HttpResponse:
    """Save the text of an old version as a new one. Who did not see the newest is shown it first."""
    found = version_of(document, number)
    form = RestoreForm(request.POST, number=number)
    if not form.is_valid():
        return restore_refused(request, document, found, form, status=422)
    expected = form.cleaned_data["version"]
    try:
        saved = save(found.content, expected, form.whole_note)
    except StaleVersion as stale:
        newest = replace(document, file=stale.current)
        return restore_refused(request, newest, found, form, status=stale.status)
    if saved.version == expected:
        messages.info(request, _("Nothing had changed, so there is no new version."))
        return redirect(document.history_address)
    facts = {"number": number, "version": saved.version}
    messages.success(request, _("Version %(number)s is back, as version %(version)s.") % facts)
    if draft_of(asking(request).id, document.file.about):
        messages.info(request, _("Your draft is kept as it was: nobody else sees it until you publish it."))
    return redirect(f"{document.history_address}?restored={saved.version}")
