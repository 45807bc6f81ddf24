"""Pages: how long contexts are kept, whether they are sealed, and the flag and bundle of one context."""

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
from assembly.records.bundle_writer import RecordBundle, zip_bundle
from assembly.records.followers import failures_retry, parked_failures
from assembly.records.forms import FlagForm, RetentionForm
from assembly.records.pruning import outdated_records
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
from teams.access import principal_of, require_admin, team_for
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion

MAX_PRUNINGS, MAX_PARKED = 10, 20
MAX_COUNTED = 100_000
STALE = gettext_lazy(
    "Somebody changed this while you did. What you chose is below, not saved yet. Save again to use it."
)


def retention(request: HttpRequest) -> HttpResponse:
    """What holds for all teams that have no rule of their own; and how sealing goes."""
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
        "own": RetentionPolicy.objects.exclude(team=None).select_related("team").order_by("team__name"),
    }
    return render(
        request, "assembly/records/retention.html", {**context, "form": form}, status=422 if form.errors else 200
    )


def team_retention(request: HttpRequest, slug: str) -> HttpResponse:
    """What holds for a team."""
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
    }
    status = 422 if form.errors else 200
    return render(request, "assembly/records/team_retention.html", {**context, "form": form}, status=status)


@require_POST
def retry_followers(request: HttpRequest) -> HttpResponse:
    """Try again what was given up after an assembly."""
    require_admin(principal_of(request))
    count = failures_retry()
    messages.success(
        request,
        ngettext("%(count)d context is tried again.", "%(count)d contexts are tried again.", count) % {"count": count},
    )
    return redirect("retention")


def _latest_prunings(**of: Any) -> list[Pruning]:
    return list(Pruning.objects.filter(**of).order_by("-created", "-id").defer("hashes")[:MAX_PRUNINGS])


def _save_policy(request: HttpRequest, form: RetentionForm, held: EffectiveRetention, principal: Principal) -> bool:
    """Whether it is saved; if not, the form says why, and saving once more replaces what others said meanwhile."""
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
            messages.success(request, _("Saved. The organisation's rule holds for this team now."))
        else:
            messages.success(request, _("Saved."))
    except StaleVersion as stale:
        form.data = {**dict(form.data.items()), "version": str(stale.current.version)}
        form.add_error(None, STALE)
        return False
    return True


def _deletion_count(held: EffectiveRetention, keeping: RetentionRule) -> int:
    """How many contexts would be deleted by this that stay by the rule of now; at most MOST_COUNTED are counted."""
    if keeping == held.keeping:
        return 0
    policy = RetentionPolicy(team=held.team, days=keeping.days, keep_flagged=keeping.keep_flagged)
    return outdated_records(policy)[:MAX_COUNTED].count()


def _confirmation_text(count: int) -> str:
    return ngettext(
        "%(count)s context is older than that. It is deleted within the hour, for good. Save again to do so.",
        "%(count)s contexts are older than that. They are deleted within the hour, for good. Save again to do so.",
        count,
    ) % {"count": _count_text(count)}


def _count_text(count: int) -> str:
    return f"{count:,}" if count < MAX_COUNTED else _("More than 100,000")


def _saved_message(policy: RetentionPolicy) -> str:
    """That it is saved, and what goes because of it."""
    count = outdated_records(policy)[:MAX_COUNTED].count()
    if not count:
        return (
            _("Saved. No context is older than that now.") if policy.days else _("Saved. Contexts are kept for ever.")
        )
    return ngettext(
        "Saved. %(count)s context is older than that: it goes within the hour.",
        "Saved. %(count)s contexts are older than that: they go within the hour.",
        count,
    ) % {"count": _count_text(count)}


@require_POST
def flag(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Keep this context, or let it go when its time is over. Answers htmx with `_flag.html`."""
    principal = principal_of(request)
    assembly = assembly_for(principal, id_)
    form = FlagForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("This note is too long, or cannot be stored. Use at most 200 characters."))
    elif form.cleaned_data["keep"]:
        assembly_flag(assembly=assembly, note=form.cleaned_data["note"], principal=principal)
        messages.success(request, _("This context is kept, however old it gets."))
    else:
        assembly_unflag(assembly=assembly, principal=principal)
        messages.success(request, _("This context is kept as long as others."))
    if request.headers.get("HX-Request"):
        found = AssemblyFlag.objects.filter(assembly=assembly).first()
        return render(
            request,
            "assembly/records/_keep_flag.html",
            {"assembly": assembly, "flag": found, "may_flag": True, "swapped": True},
        )
    return redirect("context", id_=assembly.id)


def bundle(request: HttpRequest, id_: UUID) -> HttpResponse:
    """All that a replay of it needs, with the proof of its seal, as a file."""
    assembly = assembly_for(principal_of(request), id_)
    headers = {"Content-Disposition": f'attachment; filename="{assembly.id}.zip"', "Cache-Control": "no-store"}
    return HttpResponse(zip_bundle(RecordBundle([assembly.id])), content_type="application/zip", headers=headers)
