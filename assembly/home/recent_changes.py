"""This module finds recent changes: by day and person, with the versions of one text together."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from agents.models import Agent, AgentFile, AgentFileVersion, DailyLogVersion
from teams.models import OrganisationFileVersion, Team, TeamFile, TeamFileVersion
from teams.principal import Principal

LOOKED_AT, SHOWN, PER_DAY = 60, 6, 5


@dataclass(frozen=True, slots=True)
class SavedVersion:
    """A version of a text that a person saved. `history` is the address of all versions."""

    what: str
    owner: str
    history: str
    editor: str
    note: str
    version: int
    created: datetime.datetime


@dataclass(frozen=True, slots=True)
class TextChange:
    """The changes of one person to one text on one day: its versions from `first` to `last`, with their notes, newest
    first.
    """

    what: str
    owner: str
    history: str
    first: int
    last: int
    notes: tuple[str, ...]
    latest: datetime.datetime

    @property
    def address(self) -> str:
        """The address of the page that shows the changes; for a new text, that of its newest version."""
        if self.first == 1:
            return f"{self.history}{self.last}/"
        return f"{self.history}compare/?from={self.first - 1}&to={self.last}"


@dataclass(frozen=True, slots=True)
class PersonDayChanges:
    """The changes of one person on one day."""

    editor: str
    date: datetime.date
    changes: tuple[TextChange, ...]

    @property
    def shown(self) -> tuple[TextChange, ...]:
        """The changes that are shown, newest first."""
        return self.changes[:PER_DAY]

    @property
    def more(self) -> int:
        """The number of changes that are not shown."""
        return len(self.changes) - len(self.shown)


def find_recent_changes(principal: Principal) -> list[PersonDayChanges]:
    """Return the latest changes to texts that the person may read, newest first, without those of the system."""
    days: dict[tuple[datetime.date, str], dict[str, list[SavedVersion]]] = {}
    for save in sorted(_saved_versions(principal), key=attrgetter("created"), reverse=True):
        texts = days.setdefault((save.created.astimezone(datetime.UTC).date(), save.editor), {})
        texts.setdefault(save.history, []).append(save)
    found = [
        PersonDayChanges(editor, date, tuple(map(_change, texts.values()))) for (date, editor), texts in days.items()
    ]
    return found[:SHOWN]


def _change(saves: list[SavedVersion]) -> TextChange:
    newest, oldest = saves[0], saves[-1]
    notes = tuple(note for note, _same in groupby(save.note for save in saves) if note)
    return TextChange(
        newest.what, newest.owner, newest.history, oldest.version, newest.version, notes, newest.created
    )  # fmt: skip


def _saved_versions(principal: Principal) -> Iterable[SavedVersion]:
    agents = Agent.objects.visible_to(principal).values("id")
    teams = Team.objects.visible_to(principal).values("id")
    yield from map(_from_agent_file, _latest(AgentFileVersion, "file__agent", file__agent_id__in=agents))
    yield from map(_from_team_file, _latest(TeamFileVersion, "file__team", file__team_id__in=teams))
    yield from map(_from_organisation_file, _latest(OrganisationFileVersion))
    for version in _latest(DailyLogVersion, "file__agent", file__agent_id__in=agents):
        # Agents write their logs all day long: that is no news, but that somebody corrected one is.
        if version.editor_ref.startswith("person:"):
            yield _from_log(version)


def _latest(model: Any, *owner: str, **mine: Any) -> Any:
    # Ids are UUIDv7 and so in the order of time, and indexed.
    rows = model.objects.filter(**mine).exclude(updated_by="system").select_related("file", *owner)
    return rows.defer("content", "file__content").order_by("-id")[:LOOKED_AT]


def _from_agent_file(version: AgentFileVersion) -> SavedVersion:
    file = version.file
    history = reverse("agent_file_history", args=[file.agent.slug, file.file_key])
    return _save(version, AgentFile.Key(file.file_key).label, file.agent.name, history)


def _from_team_file(version: TeamFileVersion) -> SavedVersion:
    file = version.file
    history = reverse("team_file_history", args=[file.team.slug, file.file_key])
    return _save(version, TeamFile.Key(file.file_key).label, file.team.name, history)


def _from_organisation_file(version: OrganisationFileVersion) -> SavedVersion:
    history = reverse("organisation_file_history", args=[version.file.file_key])
    return _save(version, version.file.title, _("the organisation"), history)


def _from_log(version: DailyLogVersion) -> SavedVersion:
    log = version.file
    history = reverse("daily_log_history", args=[log.agent.slug, log.date])
    return _save(version, _("Log of %(day)s") % {"day": date_format(log.date, "j F")}, log.agent.name, history)


def _save(version: Any, what: str, owner: str, history: str) -> SavedVersion:
    editor = version.editor_name or "Dossier"
    return SavedVersion(what, owner, history, editor, version.note, version.version, version.created)
