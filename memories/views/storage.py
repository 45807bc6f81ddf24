"""These pages show the storage policies in plain words, let admins try and save them, and undo what a run did."""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from config.http.errors import Conflict, NotFound
from memories.forms.storage_policy import StoragePolicyForm
from memories.lifecycle.failed_steps import Cause, FailedStep, failed_steps
from memories.lifecycle.kv_policies import PolicyBook, current_version, kv_policy_save, versions_of
from memories.lifecycle.kv_policy import CONTENT_TYPES, parse_policy, stored_policy
from memories.lifecycle.policy_preview import COUNTED_THINGS, policy_preview
from memories.lifecycle.undoing import UNDOING, lifecycle_undo, undo_of
from memories.models import Document, Event, KVPolicyVersion, LifecycleReport, MemoryVersion
from teams.access import is_permitted, principal_of, require_admin, team_for
from teams.models import Team
from teams.principal import Action, Principal
from teams.sealing.fields import Beginning

CONTENT_TYPE_LABELS = {
    "code_snippets": gettext_lazy("Code"),
    "documentation": gettext_lazy("Documentation"),
    "research_papers": gettext_lazy("Research papers"),
    "general": gettext_lazy("Memories, events and everything else"),
}
STEP_LABELS = {
    "prune": gettext_lazy("Replaced or archived long ago: left out of search"),
    "compress": gettext_lazy("Compressed"),
    "evict": gettext_lazy("Over the size of the policy: left out of search"),
    "freeze": gettext_lazy("Unused for 90 days: archived in files"),
    "pressure": gettext_lazy("Over the budget: left out of search"),
    "consolidate": gettext_lazy("Duplicates: merged"),
    "undo": gettext_lazy("Undone by an admin"),
}
FAILED_LABELS = {
    "prune": gettext_lazy("Replaced and archived items could not be left out of search."),
    "compress": gettext_lazy("Items could not be compressed."),
    "evict": gettext_lazy("Items over the size of their policy could not be left out of search."),
    "freeze": gettext_lazy("Unused items could not be archived in files."),
    "rebalance": gettext_lazy("The hours after which items are compressed could not be adjusted to what is used."),
    "consolidate_duplicates": gettext_lazy("Duplicates could not be merged."),
    "pressure": gettext_lazy("The size of all items could not be kept within the budget."),
    "clean_up": gettext_lazy("Old counts of uses could not be deleted."),
    "": gettext_lazy("A step of the run could not be done."),
}
"""What did not happen, by the step of the run."""
ADVICE = {
    Cause.STORE: gettext_lazy(
        "The folder or store of archived texts did not answer, or has no room. Check that it can be reached and that"
        " files can be written there."
    ),
    Cause.KEYS: gettext_lazy("The store of encryption keys could not be read. Check that its database is running."),
    Cause.DATABASE: gettext_lazy(
        "The database was busy or did not answer. If it happens again, look at its load and its free disk."
    ),
    Cause.LOST: gettext_lazy(
        "An archived text could not be read. Check that the folder or store of archived texts can be reached. If texts"
        " are missing from it, restore it from a backup."
    ),
    Cause.OTHER: gettext_lazy("The log of the worker has the details. If it happens again, report it as an error."),
}
VERSION_NUMBER = re.compile("[0-9]{1,9}")
SHOWN_REPORTS = 20
SHOWN_VERSIONS = 20
SHOWN_THINGS, SHOWN_CHARACTERS = 200, 100


def storage(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Show the policy of each content type of the organisation or a team, and to its admins what the last runs did."""
    principal = principal_of(request)
    team = None if slug is None else team_for(principal, slug)
    book = PolicyBook()
    context = {
        "team": team,
        "policies": [_present_policy(book, name, team) for name in CONTENT_TYPES],
        "may_edit": is_permitted(principal, team, Action.MANAGE) if team else principal.is_admin,
        **(_present_runs() if principal.is_admin and team is None else {}),
    }
    return render(request, "memories/lifecycle/storage.html", context)


def _present_policy(book: PolicyBook, name: str, team: Team | None) -> dict[str, Any]:
    team_id, saved = team.id if team else None, versions_of(name, team).first()
    return {
        "label": CONTENT_TYPE_LABELS[name],
        "url": _policy_url(name, team),
        "policy": book.policy(name, team_id),
        "version": saved if saved and saved.policy is not None else None,
        "is_adjusted": book.age_factor(name) != 1,
        "hours": round(book.rebalanced(name, team_id).compress.age_threshold_hours, 1),
    }


def _present_runs() -> dict[str, Any]:
    return {"reports": _last_reports(), "failed": [(one, *_failure(one)) for one in failed_steps()]}


def _failure(one: FailedStep) -> tuple[Any, Any]:
    """Return what failed and what to do, in plain words."""
    return FAILED_LABELS.get(one.step, FAILED_LABELS[""]), ADVICE[one.cause]


def _last_reports() -> list[tuple[LifecycleReport, Any]]:
    rows = LifecycleReport.objects.filter(step__in=STEP_LABELS, changed__gt=0).order_by("-created", "-id")
    return [(report, STEP_LABELS[report.step]) for report in rows[:SHOWN_REPORTS]]


def _policy_url(content_type: str, team: Team | None) -> str:
    if team is None:
        return reverse("storage_policy", args=[content_type])
    return reverse("team_storage_policy", args=[team.slug, content_type])


def _storage_url(team: Team | None) -> str:
    return reverse("team_storage", args=[team.slug]) if team else reverse("storage")


def storage_policy(request: HttpRequest, content_type: str, slug: str | None = None) -> HttpResponse:
    """Show the form of a policy with its versions, say what would happen, and save it. For admins."""
    principal = principal_of(request)
    if slug is None:
        require_admin(principal)
    team = None if slug is None else team_for(principal, slug, Action.MANAGE)
    if content_type not in CONTENT_TYPES:
        raise NotFound(_("This page"))
    shown = _shown_version(request, content_type, team)
    held = stored_policy(shown.policy or {}) if shown else PolicyBook().policy(content_type, team.id if team else None)
    version = current_version(content_type, team)
    form = StoragePolicyForm(request.POST or None, policy=held, version=version)
    preview = None
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "preview":
            policy = parse_policy(form.policy_json)
            preview = policy_preview(content_type=content_type, team=team, policy=policy, now=timezone.now())
        elif _save(request, content_type, team, form, principal):
            return redirect(_storage_url(team))
    versions = list(versions_of(content_type, team)[:SHOWN_VERSIONS])
    context = {
        "form": form,
        "label": CONTENT_TYPE_LABELS[content_type],
        "team": team,
        "preview": preview,
        "counted": COUNTED_THINGS,
        "shown": shown,
        "versions": versions,
        "is_own": bool(versions) and versions[0].policy is not None,
        "cancel": _storage_url(team),
    }
    status = 422 if form.errors else 200
    return render(request, "memories/lifecycle/storage_policy.html", context, status=status)


def _shown_version(request: HttpRequest, content_type: str, team: Team | None) -> KVPolicyVersion | None:
    """Return the older version whose values the form is filled with; None for those that hold."""
    number = VERSION_NUMBER.fullmatch(request.GET.get("version", ""))
    saved = versions_of(content_type, team).filter(policy__isnull=False)
    return saved.filter(version=int(number[0])).first() if number else None


def _save(
    request: HttpRequest, content_type: str, team: Team | None, form: StoragePolicyForm, principal: Principal
) -> bool:
    """Save the policy, and return whether it was saved; the form says what is wrong."""
    try:
        kv_policy_save(
            content_type=content_type,
            team=team,
            policy=None if request.POST.get("action") == "reset" else form.policy_json,
            expected_version=form.cleaned_data["version"],
            note=form.cleaned_data["note"],
            principal=principal,
        )
    except Conflict as stale:
        form.add_error(None, stale.detail)
        return False
    messages.success(request, _("Saved. It holds from the next run on."))
    return True


def _find_report(id_: UUID) -> LifecycleReport:
    report = LifecycleReport.objects.filter(id=id_, step__in=STEP_LABELS).first()
    if report is None:
        raise NotFound(_("This report"))
    return report


def storage_report(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show what a step of a run did to which things, for admins of the organisation."""
    require_admin(principal_of(request))
    report = _find_report(id_)
    context = {
        "report": report,
        "label": STEP_LABELS[report.step],
        "things": list(_present_things(report.things[:SHOWN_THINGS])),
        "more": max(0, len(report.things) - SHOWN_THINGS),
        "may_undo": report.step in UNDOING and report.things,
        "undone": undo_of(report),
    }
    return render(request, "memories/lifecycle/storage_report.html", context)


def _present_things(refs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the beginning of the text, path or type of each thing that still exists, and the address of its page."""
    ids = {ref.partition(":")[2]: ref.partition(":")[0] for ref in refs}
    memories = [UUID(id_) for id_, kind in ids.items() if kind == "memory"]
    versions = MemoryVersion.objects.filter(file_id__in=memories, version=F("file__version"))
    for version in versions.annotate(beginning=Beginning("content", SHOWN_CHARACTERS)).only("file_id", "sensitivity"):
        yield version.beginning, reverse("memory", args=[version.file_id])
    for name, model, label in (("document", Document, "path"), ("event", Event, "type")):
        of_kind = [id_ for id_, kind in ids.items() if kind == name]
        rows = model._default_manager.filter(id__in=of_kind).select_related("agent")  # noqa: SLF001
        for row in rows.only(label, "agent__slug", "sensitivity"):
            yield getattr(row, label), reverse(name, args=[row.agent.slug, row.pk])


@require_POST
def storage_report_undo(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Undo what the report names, in the background."""
    principal = principal_of(request)
    require_admin(principal)
    try:
        lifecycle_undo(report=_find_report(id_), principal=principal)
    except Conflict as refused:
        messages.error(request, refused.detail)
    else:
        messages.success(request, _("It is being undone. This takes up to some minutes."))
    return redirect("storage_report", id_=id_)
