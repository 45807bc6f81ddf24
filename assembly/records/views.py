"""These pages set how long contexts are stored, show the state of sealing, and flag or download one context."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from assembly.access import assembly_for
from assembly.models import AssemblyFlag, NewAssembly, Pruning, RetentionPolicy
from assembly.records.bundle_writer import RecordBundle, record_bundle_download, zip_bundle
from assembly.records.followers import failures_retry, parked_failures
from assembly.records.forms import FlagForm, RetentionForm
from assembly.records.pruning import held_count, outdated_records
from assembly.records.retention_policies import (
    EffectiveRetention,
    RetentionRule,
    assembly_flag,
    assembly_unflag,
    effective_retention,
    retention_clear,
    retention_set,
)
from assembly.records.seals import newest_seal
from config.http.errors import Invalid
from teams.access import principal_of, require_admin, team_for
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion

MAX_PRUNINGS, MAX_PARKED = 10, 20
MAX_COUNTED = 100_000
STALE = gettext_lazy("Someone changed this meanwhile. Your choice is below and not saved. Save again to apply it.")


def retention(request: HttpRequest) -> HttpResponse:
    """Show and save the organisation's retention rule, and show the state of sealing."""
    principal = principal_of(request)
    require_admin(principal)
    held = effective_retention(None)
    form = RetentionForm(request.POST or None, held=held)
    if request.method == "POST" and form.is_valid() and _save_policy(request, form, held, principal):
        return redirect("retention")
    seal = newest_seal()
    context = {
        "seal": seal,
        "hash": bytes(seal.sha256).hex() if seal else "",
        "waiting": NewAssembly.objects.count(),
        "parked": parked_failures()[:MAX_PARKED],
        "prunings": _latest_prunings(),
        "kept_by_law": _kept_by_law(held),
        "own": RetentionPolicy.objects.exclude(team=None).select_related("team").order_by("team__name"),
    }
    return render(
        request, "assembly/records/retention.html", {**context, "form": form}, status=422 if form.errors else 200
    )


def team_retention(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and save the retention rule of a team."""
    principal = principal_of(request)
    team = team_for(principal, slug, Action.MANAGE)
    held = effective_retention(team)
    form = RetentionForm(request.POST or None, held=held)
    if request.method == "POST" and form.is_valid() and _save_policy(request, form, held, principal):
        return redirect("team_retention", slug=slug)
    context = {
        "team": team,
        "held": held,
        "default": effective_retention(None),
        "prunings": _latest_prunings(team_id=team.id),
        "kept_by_law": _kept_by_law(held),
    }
    status = 422 if form.errors else 200
    return render(request, "assembly/records/team_retention.html", {**context, "form": form}, status=status)


@require_POST
def retry_followers(request: HttpRequest) -> HttpResponse:
    """Return all parked assemblies to the queue, so that the followers (seals, counts, alerts) try again."""
    require_admin(principal_of(request))
    count = failures_retry()
    messages.success(
        request,
        ngettext("%(count)d context is processed again.", "%(count)d contexts are processed again.", count)
        % {"count": count},
    )
    return redirect("retention")


def _kept_by_law(held: EffectiveRetention) -> int:
    """Return how many contexts under the rule would have been deleted without legal holds."""
    return held_count(RetentionPolicy(team=held.team, days=held.keeping.days, keep_flagged=held.keeping.keep_flagged))


def _latest_prunings(**of: Any) -> list[Pruning]:
    return list(Pruning.objects.filter(**of).order_by("-created", "-id").defer("hashes")[:MAX_PRUNINGS])


def _save_policy(request: HttpRequest, form: RetentionForm, held: EffectiveRetention, principal: Principal) -> bool:
    """Save the form's retention rule and return whether it was saved.

    If not, the form says why: contexts would be deleted, or the policy was changed meanwhile. Saving again confirms the
    first, and overwrites the second.
    """
    version, keeping = form.cleaned_data["version"], form.keeping
    if not form.cleaned_data["confirmed"] and (
        going := _deletion_count(held, keeping or effective_retention(None).keeping)
    ):
        form.data = {**dict(form.data.items()), "confirmed": "on"}
        form.add_error(None, _confirmation_text(going))
        return False
    try:
        if keeping:
            policy = retention_set(team=held.team, keeping=keeping, expected_version=version, principal=principal)
            messages.success(request, _saved_message(policy))
        elif held.policy:
            retention_clear(team=held.team, expected_version=version, principal=principal)
            messages.success(request, _("Saved. The team now uses the default of the organisation."))
        else:
            messages.info(request, _("Nothing has changed."))
    except StaleVersion as stale:
        form.data = {**dict(form.data.items()), "version": str(stale.current.version)}
        form.add_error(None, STALE)
        return False
    return True


def _deletion_count(held: EffectiveRetention, keeping: RetentionRule) -> int:
    """Return how many more contexts the new rule would delete; at most 100,000 are counted."""
    if keeping == held.keeping:
        return 0
    policy = RetentionPolicy(team=held.team, days=keeping.days, keep_flagged=keeping.keep_flagged)
    return outdated_records(policy)[:MAX_COUNTED].count()


def _confirmation_text(count: int) -> str:
    return ngettext(
        "%(count)s context is older and will be deleted permanently within the hour. Save again to confirm.",
        "%(count)s contexts are older and will be deleted permanently within the hour. Save again to confirm.",
        count,
    ) % {"count": _count_text(count)}


def _count_text(count: int) -> str:
    return f"{count:,}" if count < MAX_COUNTED else _("More than 100,000")


def _saved_message(policy: RetentionPolicy) -> str:
    """Return the message that the policy is saved, and how many contexts will be deleted."""
    count = outdated_records(policy)[:MAX_COUNTED].count()
    if not count:
        return _("Saved. No contexts are older.") if policy.days else _("Saved. Contexts are retained indefinitely.")
    return ngettext(
        "Saved. %(count)s older context will be deleted within the hour.",
        "Saved. %(count)s older contexts will be deleted within the hour.",
        count,
    ) % {"count": _count_text(count)}


@require_POST
def flag(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Flag a context so that it is not deleted, or remove its flag. Returns `_keep_flag.html` to htmx."""
    principal = principal_of(request)
    assembly = assembly_for(principal, id_)
    form = FlagForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The comment is too long or has invalid characters. Use at most 200 characters."))
    elif form.cleaned_data["keep"]:
        try:
            assembly_flag(assembly=assembly, note=form.cleaned_data["note"], principal=principal)
        except Invalid as refused:
            messages.error(request, refused.detail)
        else:
            messages.success(request, _("Context flagged."))
    else:
        assembly_unflag(assembly=assembly, principal=principal)
        messages.success(request, _("Flag removed."))
    if request.headers.get("HX-Request"):
        found = AssemblyFlag.objects.filter(assembly=assembly).first()
        return render(
            request,
            "assembly/records/_keep_flag.html",
            {"assembly": assembly, "flag": found, "may_flag": True, "swapped": True},
        )
    return redirect("context", id_=assembly.id)


def bundle(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Return the bundle of a context as a zip file: all that a replay needs, with the proof of its seal."""
    assembly = assembly_for(principal_of(request), id_)
    record_bundle_download(assembly, principal_of(request))
    headers = {"Content-Disposition": f'attachment; filename="{assembly.id}.zip"', "Cache-Control": "no-store"}
    return HttpResponse(zip_bundle(RecordBundle([assembly.id])), content_type="application/zip", headers=headers)
