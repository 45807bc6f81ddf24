"""The page of a profile's learned weights: before and after, the shadow reports, and the buttons of admins."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.learned_weights.jobs import has_unfinished_job, last_fault, learning_job_create
from assembly.learned_weights.labelled_contexts import labelled_contexts
from assembly.learned_weights.presentation import learned_versions, weight_changes
from assembly.learned_weights.services import MAX_VERSION, MIN_CONTEXTS, has_blocks, learned_weights_switch
from assembly.profiles.catalogue import find_profile_entry
from config.http.errors import DossierError, Invalid
from teams.access import principal_of, require_admin


class VersionForm(forms.Form):
    """The version to be switched."""

    version = forms.IntegerField(min_value=1, max_value=MAX_VERSION)


def learned_weights_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show the versions of the learned weights of a profile, the newest first."""
    entry = find_profile_entry(name)
    written = entry.described.profile if entry.described and entry.editable else None
    page = {
        "entry": entry,
        "versions": [(one, weight_changes(one.learned)) for one in learned_versions(entry, principal_of(request))],
        "is_learning": has_unfinished_job(name),
        "fault": last_fault(name),
        "known": len(labelled_contexts(written)) if written else 0,
        "without_blocks": written is not None and not has_blocks(written),
        "least": MIN_CONTEXTS,
    }
    return render(request, "assembly/learned_weights/page.html", page)


@require_POST
def learn(request: HttpRequest, name: str) -> HttpResponse:
    """Start the job that learns weights and tries them in the shadow."""
    principal = principal_of(request)
    require_admin(principal)
    find_profile_entry(name)
    try:
        learning_job_create(profile=name, principal=principal)
    except DossierError as refused:
        messages.error(request, refused.detail)
    else:
        messages.success(request, _("Weights are being learned. The report appears here."))
    return redirect("learned_weights", name=name)


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Switch a version of the learned weights on, or off."""
    principal = principal_of(request)
    require_admin(principal)
    find_profile_entry(name)
    form, is_on = VersionForm(request.POST), "on" in request.POST
    try:
        if not form.is_valid():
            raise Invalid("version", _("Choose a version."))
        learned_weights_switch(profile=name, **form.cleaned_data, is_on=is_on, principal=principal)
    except DossierError as refused:
        messages.error(request, refused.detail)
    else:
        messages.success(request, _("Learned weights switched on.") if is_on else _("Learned weights switched off."))
    return redirect("learned_weights", name=name)
