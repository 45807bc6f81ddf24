"""This module finds the lines of the log of readings that a principal may read, and describes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from teams.models import Reading, Team
from teams.principal import Action, Principal

OWN_PAGES = {"context": "context", "conflict": "conflict_page", "proposal": "proposal", "recall_test": "recall_test"}
"""The pages of things that have no page of their sensitivity, by kind."""
WITHOUT_PAGE = frozenset({"alert"})


def readable_readings(principal: Principal) -> QuerySet[Reading]:
    """Return the lines that the principal may read: all for admins, else those of the teams that it manages."""
    if principal.is_admin:
        return Reading.objects.all()
    managed = Team.objects.permitting(Action.MANAGE, principal).values_list("id", flat=True)
    return Reading.objects.filter(team_ids__overlap=list(managed))


def counts_phrase(counts: Mapping[str, int]) -> str:
    """Return how many things of which kind a line is about, such as “memory: 2, agent file: 1”."""
    return ", ".join(f"{_kind_name(kind)}: {number}" for kind, number in counts.items())


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A line as its page shows it: what was read, the address of its page if there is one, and whose it is."""

    reading: Reading
    what: str
    address: str
    owner: str


def reading_rows(readings: Sequence[Reading]) -> list[ReadingRow]:
    """Return the lines as their page shows them; two queries name the owners that still exist."""
    agents = _names("agents", "Agent", {one.agent_id for one in readings})
    teams = _names("teams", "Team", {one.team_id for one in readings})
    return [
        ReadingRow(
            one,
            what=_what(one),
            address=_address(one),
            owner=_owner(one, agents, teams),
        )
        for one in readings
    ]


def _what(reading: Reading) -> str:
    if len(reading.things) == 1:
        return capfirst(_kind_name(next(iter(reading.counts))))
    return counts_phrase(reading.counts)


def _address(reading: Reading) -> str:
    """Return the address of the thing's page; empty for several things, and for one without a page."""
    kind = next(iter(reading.counts))
    if len(reading.things) != 1 or kind in WITHOUT_PAGE:
        return ""
    if page := OWN_PAGES.get(kind):
        return reverse(page, args=[reading.things[0]])
    return reverse("sensitivity", args=[kind, reading.things[0]])


def _owner(reading: Reading, agents: Mapping[UUID, str], teams: Mapping[UUID, str]) -> str:
    if not reading.agent_id and not reading.team_id:
        return _("Organisation")
    gone = _("deleted")
    named = [agents.get(reading.agent_id, gone)] if reading.agent_id else []
    named += [teams.get(reading.team_id, gone)] if reading.team_id else []
    return " · ".join(named)


def _names(app: str, model: str, ids: Iterable[UUID | None]) -> dict[UUID, str]:
    wanted = [id_ for id_ in ids if id_]
    rows: Any = apps.get_model(app, model)  # by name, because agents are a room above this one
    return dict(rows.objects.filter(id__in=wanted).values_list("id", "name")) if wanted else {}


def _kind_name(kind: str) -> str:
    return kind.replace("_", " ")
