"""These pages list the versions of a memory, compare one with the previous one, and restore a version."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from config.http.cursors import next_page_url, page_of
from config.http.errors import NotFound
from memories.access import memory_for
from memories.forms import VersionForm
from memories.models import Memory, MemoryVersion
from memories.services import MemoryFacts, owner_of
from memories.views.agent_item import owner_page_context
from memories.views.memory import save_changes
from teams.access import principal_of
from teams.principal import Action
from teams.versioned_text.presentation import Crumb, add_save_message


def versions(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show all versions of a memory, the newest first."""
    memory = memory_for(principal_of(request), id_)
    found, cursor = page_of(MemoryVersion.objects.filter(file=memory), request.GET, keys=("version",))
    context = {
        **_page_context(request, memory),
        "versions": found,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/memory/versions.html", context)


def version(request: HttpRequest, id_: UUID, number: int) -> HttpResponse:
    """Show one version, compared with the previous one."""
    memory = memory_for(principal_of(request), id_)
    found = _find_version(memory, number)
    near = {one.version: one for one in MemoryVersion.objects.filter(file=memory, version__in=[number - 1, number + 1])}
    before = near.get(number - 1)
    context = {
        **_page_context(request, memory),
        "version": found,
        "before": before,
        "later": near.get(number + 1),
        "says_something_else": before is not None and before.content != found.content,
        "facts": [fact for fact in _facts(found, before) if before is None or fact.before != fact.now],
        "is_current": found.version == memory.version,
    }
    return render(request, "memories/memory/version.html", context)


@require_POST
def restore(request: HttpRequest, id_: UUID, number: int) -> HttpResponse:
    """Save the content of an old version as a new version; the memory stays pinned or retired as it is.

    Raises StaleVersion.
    """
    memory = memory_for(principal_of(request), id_, Action.WRITE)
    found = _find_version(memory, number)
    form = VersionForm(request.POST)
    if form.is_valid():
        note = _("Version %(number)s restored.") % {"number": number}
        saved = save_changes(request, memory, form.cleaned_data["version"], facts=_facts_of(found), note=note)
        add_save_message(request, saved.version, form.cleaned_data["version"])
    return redirect("memory", id_=id_)


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A value of a version other than its text, in words, with the value of the previous version."""

    label: str
    before: str
    now: str


def _facts(version: MemoryVersion, before: MemoryVersion | None) -> list[ChangedFact]:
    held = _values_by_label(before) if before else {}
    return [ChangedFact(label, held.get(label, ""), now) for label, now in _values_by_label(version).items()]


def _values_by_label(version: MemoryVersion) -> dict[str, str]:
    """Return the values of the version other than its text, by their labels."""
    happened = version.occurred_at
    return {
        _("Kind"): version.kind,
        _("Language"): version.language.capitalize(),
        _("Importance"): f"{version.salience:g}",
        _("Confidence"): f"{version.credibility:g}",
        _("Happened"): date_format(happened, "j F Y, H:i") if happened else "",
        _("Pinned"): _("yes") if version.pinned else _("no"),
        _("Archived"): version.retired_because or _("no"),
        _("Superseded"): _("yes") if version.superseded_by else _("no"),
    }


def _facts_of(version: MemoryVersion) -> MemoryFacts:
    return MemoryFacts(
        kind=version.kind,
        text=version.content,
        occurred_at=version.occurred_at,
        salience=version.salience,
        credibility=version.credibility,
        language=version.language,
    )


def _find_version(memory: Memory, number: int) -> MemoryVersion:
    found = MemoryVersion.objects.filter(file=memory, version=number).first() if number < 2**31 else None
    if found is None:
        raise NotFound(_("Version %(number)s") % {"number": number})
    return found


def _page_context(request: HttpRequest, memory: Memory) -> dict[str, Any]:
    shown = owner_page_context(request, owner_of(memory))
    address = reverse("memory", args=[memory.id])
    return {**shown, "memory": memory, "crumbs": (*shown["crumbs"], Crumb(_("This memory"), address))}
