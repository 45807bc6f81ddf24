"""Sensitivity says how confidential a stored text is; clearance says up to which level somebody may read.

Every table of texts has a column `sensitivity`. Models read it through `SensitiveManager`, whose rows are those that
the current reader may read, so all reads by the ORM are filtered in this one place. Statements that are not the ORM's
have READABLE_SQL among their conditions, and `owner_clearance` as its parameter.

The reader is the caller of the current request, or whoever `reading_as` names. Without either, as in background work
and commands, everything is read.

The clearance of a person depends on the role: a viewer reads up to internal, an editor up to confidential, an admin up
to restricted. The role counts in the team that owns a text; of an agent's texts, the highest role in one of the agent's
teams; of files of the organisation, the highest role anywhere. Admins of the organisation read everything.
A key reads up to internal, unless its scopes say more, and never more than its agent; admin keys read everything.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any, ClassVar, Literal, Self, TypeVar
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q

from config.db.migration_helpers import ORGANISATION
from config.db.statements import fetch_rows
from config.observability.request_context import CURRENT_REQUEST
from teams.principal import Principal, Role
from teams.readings.collector import note_loaded


class Sensitivity(models.IntegerChoices):
    """How confidential a text is, the least confidential first.

    Nobody chooses WITHHELD: texts about a subject whose data is restricted have it. No agent and no role in a team has
    the clearance for it, so it is in no context and no search; admins of the organisation see it on pages.
    """

    PUBLIC = 0, "Public"
    INTERNAL = 1, "Internal"
    CONFIDENTIAL = 2, "Confidential"
    RESTRICTED = 3, "Restricted"
    WITHHELD = 4, "Withheld"

    @property
    def word(self) -> str:
        """The level as REST names it."""
        return self.name.lower()

    @property
    def export_word(self) -> str:
        """The level as exports name it: what is withheld here is restricted where it is imported."""
        return min(self, Sensitivity.RESTRICTED).name.lower()


SETTABLE_LEVELS = tuple(level for level in Sensitivity if level != Sensitivity.WITHHELD)
"""The levels that people and programs give to texts and clearances."""
LEVEL_CHOICES = [(level.value, level.label) for level in SETTABLE_LEVELS]
LEVEL_WORDS: Mapping[str, Sensitivity] = {level.word: level for level in SETTABLE_LEVELS}
"""The levels that can be set by their names in REST, imports and exports."""
LEVEL_NAMES = tuple(level.word for level in Sensitivity)
"""The names of all levels in answers."""
DEFAULT_LEVEL = Sensitivity.INTERNAL
READABLE_SQL = "sensitivity <= %(clearance)s"
"""SQL condition that a row is not above the reader's clearance, whose parameter is `owner_clearance`."""


def may_cache(level: int) -> bool:
    """Return whether a process may keep what was made of a text of this level in its memory, for later requests."""
    return level <= LEVEL_WORDS[settings.CACHE_SENSITIVITY]


CLEARANCE_OF_ROLE: Mapping[Role, Sensitivity] = {
    Role.VIEWER: Sensitivity.INTERNAL,
    Role.EDITOR: Sensitivity.CONFIDENTIAL,
    Role.ADMIN: Sensitivity.RESTRICTED,
}
READ_CONFIDENTIAL = "read:confidential"
READ_RESTRICTED = "read:restricted"
CLEARANCE_OF_SCOPE: Mapping[str, Sensitivity] = {
    READ_CONFIDENTIAL: Sensitivity.CONFIDENTIAL,
    READ_RESTRICTED: Sensitivity.RESTRICTED,
}

OwnerKind = Literal["agent", "team", "organisation"]


@dataclass(frozen=True, slots=True)
class Clearances:
    """The levels up to which the texts of an agent, of one of its teams and of the organisation are read."""

    agent: int = Sensitivity.WITHHELD
    team: int = Sensitivity.WITHHELD
    organisation: int = Sensitivity.WITHHELD

    def limited_to(self, level: int) -> "Clearances":
        """Return the clearances, none of which is above the level."""
        return Clearances(min(self.agent, level), min(self.team, level), min(self.organisation, level))

    def of(self, kind: OwnerKind) -> int:
        """Return the level for texts of this kind of owner."""
        level: int = getattr(self, kind)
        return level

    def covers(self, level: int, *, team: bool) -> bool:
        """Return whether texts of this level of the agent, and with `team` of the team, may be read."""
        return self.agent >= level and (not team or self.team >= level)

    @property
    def highest(self) -> int:
        """The highest of the levels."""
        return max(self.agent, self.team, self.organisation)

    @property
    def lowest(self) -> int:
        """The lowest of the levels."""
        return min(self.agent, self.team, self.organisation)


FULL = Clearances()

_reader: ContextVar[Principal | Clearances | None] = ContextVar("reader", default=None)


@contextmanager
def reading_as(reader: Principal | Clearances) -> Iterator[None]:
    """Read as this principal, or up to these clearances, instead of as the caller of the current request."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


@contextmanager
def reading_everything() -> Iterator[None]:
    """Read whatever the sensitivity is, for work of the program itself that tells nobody what it reads."""
    with reading_as(FULL):
        yield


def current_reader() -> Principal | Clearances:
    """Return who reads now: FULL outside of requests; a request without a known caller reads public texts only."""
    if reader := _reader.get():
        return reader
    request = CURRENT_REQUEST.get()
    if request is None:
        return FULL
    user = getattr(request, "user", None)
    principal = user if isinstance(user, Principal) else getattr(user, "principal", None)
    return principal if principal is not None else FULL.limited_to(Sensitivity.PUBLIC)


def fixed_clearances(reader: Principal | Clearances) -> Clearances | None:
    """Return the clearances of a reader whose clearance does not depend on roles in teams; None for a person."""
    if isinstance(reader, Clearances):
        return reader
    if reader.is_admin:
        return FULL
    if reader.kind == "person":
        return None
    granted = [level for scope, level in CLEARANCE_OF_SCOPE.items() if scope in reader.scopes]
    return FULL.limited_to(min(max([DEFAULT_LEVEL, *granted]), reader.agent_clearance))


# The role of the person in the team, the roles in teams of the agent, and the roles anywhere.
ROLES_SQL = """
SELECT role, team_id = %(team)s::uuid,
    team_id IN (SELECT team_id FROM agent_teams WHERE agent_id = %(agent)s::uuid)
FROM memberships WHERE user_id = %(person)s
"""


def clearances_for(
    agent: UUID | None = None, team: UUID | None = None, reader: Principal | Clearances | None = None
) -> Clearances:
    """Return the clearances of the reader, or else of the current one, for texts of these owners.

    Without a role, a person reads up to internal; whether a text's owner is visible at all is decided elsewhere.
    """
    reader = reader or current_reader()
    fixed = fixed_clearances(reader)
    if fixed is not None:
        return fixed
    assert isinstance(reader, Principal)  # noqa: S101 - all others are fixed
    rows = fetch_rows(ROLES_SQL, {"person": reader.id, "team": team, "agent": agent})
    levels = [(CLEARANCE_OF_ROLE[Role(role)], of_team, of_agent) for role, of_team, of_agent in rows]
    return Clearances(
        agent=max((level for level, _, of_agent in levels if of_agent), default=DEFAULT_LEVEL),
        team=max((level for level, of_team, _ in levels if of_team), default=DEFAULT_LEVEL),
        organisation=max((level for level, *_ in levels), default=DEFAULT_LEVEL),
    )


def owner_clearance(column: str, owner: UUID) -> int:
    """Return the level up to which the current reader may read rows that have the owner's id in the column.

    The column `owner` may hold the id of an agent, of a team, or ORGANISATION.
    """
    if column == "agent_id":
        return clearances_for(agent=owner).agent
    if column == "team_id":
        return clearances_for(team=owner).team
    clearances = clearances_for(agent=owner, team=owner)
    return clearances.organisation if owner == ORGANISATION else min(clearances.agent, clearances.team)


Row = TypeVar("Row", bound=models.Model)


class SensitiveManager(models.Manager[Row]):
    """The manager of rows that the current reader may read."""

    def get_queryset(self) -> models.QuerySet[Row]:
        rows = super().get_queryset()
        condition = readable_rows(self.model)
        return rows if condition is None else rows.filter(condition)


def readable_rows(model: Any) -> Q | None:
    """Return the condition of the rows of a model that the current reader may read; None for all.

    The roles of a person are read within the query, for rows above internal alone.
    """
    reader = current_reader()
    fixed = fixed_clearances(reader)
    if fixed == FULL:
        return None
    return reduce(and_, (_readable(model, column, reader, fixed) for column in model.level_columns))


def _readable(model: Any, level: str, reader: Principal | Clearances, fixed: Clearances | None) -> Q:
    """Return the condition of the rows whose level in this column the reader may read."""
    owners: Mapping[OwnerKind, str] = model.owner_columns
    if fixed is not None:
        return _up_to_levels(owners, level, fixed, together=model.owners_together)
    assert isinstance(reader, Principal)  # noqa: S101 - all others are fixed
    condition = Q(**{f"{level}__lte": DEFAULT_LEVEL})
    for role in (Role.EDITOR, Role.ADMIN):
        parts = [_owned_by_teams(kind, column, reader.id, role) for kind, column in owners.items()]
        if model.owners_together:
            absent = [_absent(column) for column in owners.values()]
            owned = reduce(and_, (part | none for part, none in zip(parts, absent, strict=True)))
        else:
            owned = reduce(or_, parts)
        condition |= Q(**{f"{level}__lte": CLEARANCE_OF_ROLE[role]}) & owned
    return condition


NOTHING = Q(pk__in=())


def _absent(column: str) -> Q:
    """Return the condition of rows without an owner in the column; none for the organisation, which has no column."""
    return Q(**{f"{column}__isnull": True}) if column else NOTHING


def _up_to_levels(owners: Mapping[OwnerKind, str], level: str, clearances: Clearances, *, together: bool) -> Q:
    """Return the condition of rows up to the clearance for their owner, or for all of their owners together."""
    levels = {kind: clearances.of(kind) for kind in owners}
    if together or len(set(levels.values())) == 1:
        return Q(**{f"{level}__lte": min(levels.values())})
    columns = [column for column in owners.values() if column]
    condition = NOTHING
    for kind, highest in levels.items():
        if column := owners[kind]:
            condition |= Q(**{f"{level}__lte": highest, f"{column}__isnull": False})
        else:
            condition |= Q(**{f"{level}__lte": highest, **{f"{one}__isnull": True for one in columns}})
    return condition


def _owned_by_teams(kind: OwnerKind, column: str, person: UUID, role: Role) -> Q:
    """Return the condition of rows whose owner is a team in which the person has the role or a higher one, or an agent
    of such a team; of the organisation, all rows if the person has such a role anywhere.
    """
    # By name, because the model of memberships has texts of this module, and agents are a room above this one.
    memberships: Any = apps.get_model("teams", "Membership")
    higher = [one for one in CLEARANCE_OF_ROLE if CLEARANCE_OF_ROLE[one] >= CLEARANCE_OF_ROLE[role]]
    teams = memberships.objects.filter(user_id=person, role__in=higher).values("team_id")
    if kind == "team":
        return Q(**{f"{column}__in": teams})
    if kind == "agent":
        links: Any = apps.get_model("agents", "AgentTeam")
        return Q(**{f"{column}__in": links.objects.filter(team_id__in=teams).values("agent_id")})
    return Q(models.Exists(teams))


OF_VERSION = ("sensitivity", "file__sensitivity")
"""The levels of a version: the one that it was saved with, and that of the text as it is now."""


class Sensitive(models.Model):
    """The abstract base of rows with a sensitivity. `objects` has those that the current reader may read.

    A row that belongs to another one, such as a passage of a file or an event of a session, is at least as sensitive
    as that one: triggers of the database see to it.
    """

    owner_columns: ClassVar[Mapping[OwnerKind, str]]
    """The columns that hold the ids of the row's owners; the organisation has none."""
    level_columns: ClassVar[tuple[str, ...]] = ("sensitivity",)
    """The columns with the levels that a reader needs: of a version, its own level and that of the text now."""
    owners_together: ClassVar[bool] = False
    """Whether a row has texts of all its owners, so that a reader needs the clearance for each of them."""
    outlives_agent: ClassVar[bool] = False
    """Whether a row stays when its agent is deleted, so that its texts are not sealed under the agent's key."""

    sensitivity = models.SmallIntegerField(choices=LEVEL_CHOICES, default=DEFAULT_LEVEL, db_default=DEFAULT_LEVEL)

    objects = SensitiveManager()
    everything = models.Manager()  # noqa: DJ012 - the type of the manager above is not known to the linter
    """All rows, whoever reads; only for work that tells nobody what it reads."""

    stored_level: int = Sensitivity.PUBLIC
    """The sensitivity with which the row was read, or saved last."""

    class Meta:
        abstract = True

    @property
    def level(self) -> Sensitivity:
        """The sensitivity of the row."""
        return Sensitivity(self.sensitivity)

    @classmethod
    def from_db(cls, *loaded: Any, **how: Any) -> Self:
        row = super().from_db(*loaded, **how)
        row.stored_level = row.__dict__.get("sensitivity", Sensitivity.PUBLIC)
        # What the program reads for itself, or weighs for a context, is told to nobody yet.
        if row.__dict__.get("sensitivity", 0) > DEFAULT_LEVEL and not isinstance(_reader.get(), Clearances):
            note_loaded(row)
        return row
