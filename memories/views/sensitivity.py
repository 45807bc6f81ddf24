"""This page shows and changes the sensitivity of one text, whatever its kind: an item, a memory, a file or a log."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.access import agent_for
from agents.access import is_permitted as may_with_agent
from agents.models import DailyLog
from config.http.errors import Forbidden, Invalid, NotFound
from memories.models import Document, Entity, Event, Memory, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.models.file_passage import FILE_MODELS
from memories.services import memory_level_set
from teams.access import is_permitted as may_in_team
from teams.access import principal_of, team_for
from teams.level_changes import level_set, offered_levels
from teams.models import OrganisationFile
from teams.principal import Action, Principal
from teams.sensitivity import Sensitivity
from teams.versioned_text.presentation import Crumb
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS, VersionedFile

NAME_CHARACTERS = 60
ITEM_MODELS = (Document, Entity, Event, Pattern, Relation, Session, TaskFrame, Thread, Tool)
MODELS: Mapping[str, type[Any]] = {"memory": Memory, **{model.ref_kind: model for model in ITEM_MODELS}, **FILE_MODELS}
"""The models whose rows have a level of their own, by the prefix of their refs."""
EXPLANATIONS: Mapping[Sensitivity, Any] = {
    Sensitivity.PUBLIC: gettext_lazy(
        "Everybody who can see the agent or team may read it, and contexts of every agent may include it."
    ),
    Sensitivity.INTERNAL: gettext_lazy("All members of the team may read it, and agents and keys with this clearance."),
    Sensitivity.CONFIDENTIAL: gettext_lazy(
        "Editors and admins of the team may read it, and agents and keys with this clearance."
    ),
    Sensitivity.RESTRICTED: gettext_lazy("Admins of the team may read it, and agents and keys with this clearance."),
    Sensitivity.WITHHELD: gettext_lazy(
        "It is about a subject whose data is restricted: admins of the organisation alone may read it, and no context "
        "includes it, until the restriction is lifted on the page of the subject."
    ),
}


NOT_ENCRYPTED: Mapping[str, Any] = {
    "memory": gettext_lazy("Its kind is not encrypted."),
    "entity": gettext_lazy("Its type is not encrypted."),
    "event": gettext_lazy("Its type, tool and outcome are not encrypted."),
    "pattern": gettext_lazy("Its keywords are not encrypted, because it is found by them."),
    "organisation_file": gettext_lazy(
        "Its address is not encrypted. It was made of the title that the file was created with, and stays."
    ),
}
"""These parts of a thing, by the prefix of its ref, lie in plain at every level: see test_sealed_columns.py."""


class SensitivityForm(forms.Form):
    """The form of the level of a text, with a note on why it is changed."""

    sensitivity = forms.TypedChoiceField(label=gettext_lazy("Sensitivity"), coerce=int, widget=forms.RadioSelect)
    note = forms.CharField(
        label=gettext_lazy("Change summary"),
        help_text=gettext_lazy("A few words for the version history."),
        max_length=MAX_NOTE_CHARACTERS,
        required=False,
    )

    def __init__(self, *args: Any, levels: list[Sensitivity], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(level.value, f"{level.label}: {EXPLANATIONS[level]}") for level in levels]
        self.fields["sensitivity"].choices = choices  # type: ignore[attr-defined]


def sensitivity(request: HttpRequest, kind: str, id_: UUID) -> HttpResponse:
    """Show the level of a text and what it means, and save another one."""
    principal = principal_of(request)
    row = row_for(principal, kind, id_)
    may_change = is_permitted(principal, row)
    if request.method == "POST" and not may_change:
        raise Forbidden("Your role does not allow this. Ask an admin of the team.")
    levels = offered_levels(principal, row) if may_change else []
    form = SensitivityForm(request.POST or None, levels=levels, initial={"sensitivity": row.sensitivity})
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["sensitivity"]
        said = {"level": chosen, "principal": principal, "note": form.cleaned_data["note"]}
        try:
            saved = memory_level_set(memory=row, **said) if isinstance(row, Memory) else level_set(row=row, **said)
        except Invalid as refused:  # of the note
            form.add_error("note", refused.detail)
        else:
            messages.success(request, _("Sensitivity: %(level)s.") % {"level": saved.level.label})
            return redirect("sensitivity", kind=kind, id_=id_)
    facts = {
        "row": row,
        "name": name_of_row(row),
        "crumbs": [Crumb(Truncator(name_of_row(row)).chars(NAME_CHARACTERS), page_of_row(row))],
        "form": form if len(levels) > 1 else None,
        "meaning": EXPLANATIONS[row.level],
        "not_encrypted": NOT_ENCRYPTED.get(kind, ""),
    }
    return render(request, "memories/sensitivity/sensitivity.html", facts, status=422 if form.errors else 200)


def row_for(principal: Principal, kind: str, id_: UUID) -> Any:
    """Return the row with its owner, if the principal may read it. Raises NotFound."""
    model = MODELS.get(kind)
    row = model.objects.filter(id=id_).first() if model else None
    if row is None:
        raise NotFound("This text")
    try:
        if agent := getattr(row, "agent", None):
            agent_for(principal, agent.slug)
        elif team := getattr(row, "team", None):
            team_for(principal, team.slug)
    except NotFound:
        raise NotFound("This text") from None  # whoever may not see the owner must not learn that the text exists
    return row


def is_permitted(principal: Principal, row: Any) -> bool:
    """Return whether a principal who may read the row may change texts of its owner."""
    is_file = isinstance(row, VersionedFile) and not isinstance(row, DailyLog)
    action = Action.EDIT if is_file else Action.WRITE
    if agent := getattr(row, "agent", None):
        return may_with_agent(principal, agent, action)
    team = getattr(row, "team", None)
    return may_in_team(principal, team, action) if team else principal.is_admin


def page_of_row(row: Any) -> str:
    """Return the address of the page where the text is read."""
    if isinstance(row, Memory):
        return reverse("memory", args=[row.pk])
    if isinstance(row, DailyLog):
        return reverse("daily_log", args=[row.agent.slug, row.date])
    if isinstance(row, OrganisationFile):
        return reverse("organisation_file", args=[row.file_key])
    if isinstance(row, VersionedFile):
        owner, kind = (row.agent, "agent") if hasattr(row, "agent") else (row.team, "team")  # type: ignore[attr-defined]
        return reverse(f"{kind}_file", args=[owner.slug, row.file_key])  # type: ignore[attr-defined]
    if isinstance(row, Relation):
        return reverse("entity", args=[row.agent.slug, row.source_id])
    if isinstance(row, TaskFrame):
        return reverse("tasks", args=[row.agent.slug])
    return reverse(row.ref_kind, args=[row.agent.slug, row.pk])


def name_of_row(row: Any) -> str:
    """Return how the page names the text."""
    if isinstance(row, DailyLog):
        return f"{row.date:%Y-%m-%d}"
    if isinstance(row, VersionedFile):
        return getattr(row, "title", "") or getattr(row, "file_key", "")
    return Truncator(
        getattr(row, "text", "") or getattr(row, "goal", "") or getattr(row, "type", "") or str(row)
    ).chars(80)
