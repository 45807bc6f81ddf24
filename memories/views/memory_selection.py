"""Actions on memories that were selected in their list: archive, restore, pin, unpin, export.

Each memory is sent with the version that the list showed; one that was changed meanwhile is left as it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from agents.models import Agent
from config.http.csv_files import csv_response
from config.http.errors import Invalid
from config.http.selection import FIELD, MAX_SELECTED, chosen_action, parse_ids, redirect_to_list
from config.http.shown_once import show_once
from memories.embeddings.active_model import SLOTS
from memories.forms import RetireForm
from memories.lifecycle.listed_texts import is_readable, listed
from memories.models import Memory
from memories.services import Owner, facts_of, memories_of, memory_update
from memories.views.memories import FindOwner, list_name, undo_page
from teams.access import principal_of
from teams.activity.log import export_record
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion

CSV_COLUMNS = ("id", "kind", "text", "occurred_at", "salience", "credibility", "pinned", "retired_because", "created")


@dataclass(frozen=True, slots=True)
class MemoryAction:
    """An action: the changes that it makes in a memory, which memories it would change, the message that counts the
    changed ones, and the name of the action that undoes it (empty: none).
    """

    changes: Mapping[str, Any]
    concerns: Callable[[Memory], bool]
    done: str | Promise
    undo: str = ""


ACTIONS: Mapping[str, MemoryAction | None] = {
    "archive": MemoryAction({}, lambda one: not one.retired_because, lazy("Archived: %(n)s."), "restore"),
    "restore": MemoryAction({"retired_because": ""}, lambda one: bool(one.retired_because), lazy("Restored: %(n)s.")),
    "pin": MemoryAction({"pinned": True}, lambda one: not one.pinned, lazy("Pinned: %(n)s."), "unpin"),
    "unpin": MemoryAction({"pinned": False}, lambda one: one.pinned, lazy("Unpinned: %(n)s."), "pin"),
    "export": None,
}


@require_POST
def selection(request: HttpRequest, slug: str, find: FindOwner) -> HttpResponse:
    """Do the action that the pressed button names with the selected memories of the owner."""
    owner = find(principal_of(request), slug, Action.WRITE)
    try:
        action = chosen_action(request.POST, ACTIONS)
        found = _selected(owner, request.POST)
        readable = [(memory, version) for memory, version in found if is_readable(memory.text)]
        missing = len(found) - len(readable)
        if action is None:
            return _csv(owner, [memory for memory, _version in found], missing, principal_of(request))
        changes = {**action.changes, **_reason(request.POST)}
        changed = _change(action, readable, changes, principal_of(request))
    except Invalid as refused:
        messages.error(request, refused.detail)
        return redirect_to_list(request, list_name(owner), slug)
    if missing:
        _tell_missing(request, missing)
    if readable or not missing:
        _tell(request, owner, action, changed, readable)
    return redirect_to_list(request, list_name(owner), slug)


def _selected(owner: Owner, data: QueryDict) -> list[tuple[Memory, str]]:
    """Return the selected memories of the owner, each with the version that was shown. Raises Invalid."""
    versions = dict(value.rpartition(":")[::2] for value in data.getlist(FIELD)[: MAX_SELECTED + 1])
    if not 0 < len(versions) <= MAX_SELECTED:
        raise Invalid(FIELD, _("Select from 1 to %(most)s memories.") % {"most": MAX_SELECTED})
    rows = listed(memories_of(owner).filter(id__in=parse_ids(list(versions))).defer(*SLOTS, "search").order_by("id"))
    return [(memory, versions.get(str(memory.id), "")) for memory in rows]


def _reason(data: QueryDict) -> dict[str, str]:
    """Return the reason why memories are archived, if that is the action. Raises Invalid."""
    if data.get("action") != "archive":
        return {}
    try:
        return {"retired_because": RetireForm.base_fields["reason"].clean(data.get("reason", ""))}
    except ValidationError as error:
        raise Invalid("reason", _("Reason: %(error)s") % {"error": error.messages[0]}) from None


@transaction.atomic
def _change(
    action: MemoryAction, found: Iterable[tuple[Memory, str]], changes: Mapping[str, Any], principal: Principal
) -> list[Memory]:
    """Change the memories that the action concerns, all or none, and return them. Raises Invalid."""
    changed = []
    for memory, version in found:
        if action.concerns(memory) and version == str(memory.version):
            try:
                changed.append(
                    memory_update(
                        memory=memory,
                        expected_version=memory.version,
                        facts=facts_of(memory),
                        superseded_by=memory.superseded_by,
                        principal=principal,
                        **changes,
                    )
                )
            except StaleVersion:
                continue  # changed since it was read: counted with those of another version
    return changed


def _tell_missing(request: HttpRequest, missing: int) -> None:
    said = ngettext(
        "The text of %(n)s memory cannot be read now, so nothing was done with it. Try again later.",
        "The texts of %(n)s memories cannot be read now, so nothing was done with them. Try again later.",
        missing,
    )
    messages.error(request, said % {"n": missing})


def _tell(
    request: HttpRequest,
    owner: Owner,
    action: MemoryAction,
    changed: Sequence[Memory],
    found: Sequence[tuple[Memory, str]],
) -> None:
    """Say what was done, and let the list offer to undo it once."""
    stale = sum(version != str(memory.version) for memory, version in found if memory not in changed)
    if stale:
        said = ngettext(
            "%(n)s memory was changed meanwhile, so nothing was done with it. Read it first.",
            "%(n)s memories were changed meanwhile, so nothing was done with them. Read them first.",
            stale,
        )
        messages.error(request, said % {"n": stale})
    if changed:
        messages.success(request, action.done % {"n": len(changed)})
        if action.undo:
            picks = " ".join(f"{memory.id}:{memory.version}" for memory in changed)
            show_once(request, undo_page(owner), action=action.undo, picks=picks)
    elif not stale:
        messages.info(request, _("Nothing to change: the selected memories have this status already."))


def _csv(owner: Owner, memories: Sequence[Memory], missing: int, principal: Principal) -> HttpResponse:
    """Return the file. Raises Invalid where texts would be missing in it."""
    if missing:
        said = ngettext(
            "Nothing was exported: the text of %(n)s of the selected memories cannot be read now. Deselect what is"
            " marked so, or try again later.",
            "Nothing was exported: the texts of %(n)s of the selected memories cannot be read now. Deselect what is"
            " marked so, or try again later.",
            missing,
        )
        raise Invalid(FIELD, said % {"n": missing})
    of = owner.teams.values_list("id", flat=True) if isinstance(owner, Agent) else [owner.id]
    export_record(principal, "memories.csv", rows=len(memories), team_ids=of)
    rows = ([getattr(memory, name) for name in CSV_COLUMNS] for memory in memories)
    return csv_response("memories.csv", CSV_COLUMNS, rows)
