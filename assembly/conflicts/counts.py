"""The number of conflicts that a person may decide, which the menu shows on every page.

It is stored with the person, so that no page counts. It is counted anew where the person sees or decides conflicts, and
when a job finds conflicts; what colleagues decide shows at the next visit.
"""

from collections.abc import Iterable
from time import monotonic
from uuid import UUID

from django.db.models import Q

from agents.models import AgentTeam
from assembly.models import Conflict, ConflictKind
from assembly.models.conflict import ConflictQuerySet
from teams.models import Membership, User
from teams.principal import Principal
from teams.sensitivity import reading_as

RECOUNT_SECONDS = 5


def conflicts_to_decide(principal: Principal) -> ConflictQuerySet:
    """Return the open conflicts that the principal may decide, without duplicates, which need no decision."""
    with reading_as(principal):  # jobs count for everybody
        return Conflict.objects.resolvable_by(principal).waiting().exclude(kind=ConflictKind.DUPLICATE)


def recount_open_conflicts(person: User) -> int:
    """Store the number of conflicts that the person may decide, and return it."""
    number = conflicts_to_decide(person.principal).count()
    if number != person.open_conflicts:
        person.open_conflicts = number
        User.objects.filter(id=person.id).update(open_conflicts=number)
    return number


def recount_for_owners(items: Iterable[UUID]) -> None:
    """Count anew for everybody who may be able to decide a conflict about one of the items: a query per person."""
    owners = set(Conflict.objects.about(items).order_by().values_list("agent_id", "team_id"))
    agents = {agent for agent, _ in owners if agent}
    teams: set[UUID] = {team for _, team in owners if team}
    teams |= set(AgentTeam.objects.filter(agent_id__in=agents).values_list("team_id", flat=True))
    members = Membership.objects.filter(team_id__in=teams)
    concerned = Q(is_admin=True) | Q(id__in=members.values("user_id"))
    for person in User.objects.filter(concerned, is_active=True).order_by("id") if owners else ():
        recount_open_conflicts(person)


class OwnerCounts:
    """This counts anew for the owners of what a job compares, every few seconds and at the end."""

    def __init__(self) -> None:
        self._items = set[UUID]()
        self._next = 0.0

    def add(self, item: UUID) -> None:
        """Note that conflicts about the item may have changed."""
        self._items.add(item)
        if monotonic() >= self._next:
            self.finish()

    def finish(self) -> None:
        """Count anew for the owners of all conflicts that may have changed since the last time."""
        if self._items:
            recount_for_owners(self._items)
            self._items.clear()
            self._next = monotonic() + RECOUNT_SECONDS
