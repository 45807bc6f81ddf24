"""Owners that an archive names and that are here: looked up at once, however many the archive names."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Collate

from teams.access import Action
from teams.files import VersionedFile
from teams.principal import Principal

Owned = TypeVar("Owned", bound=Any)
TEXTS_AT_A_TIME = 10
"""Texts that are held in memory while owners are gone through: one may have a megabyte."""


@dataclass(frozen=True, slots=True)
class PresentOwners(Generic[Owned]):
    """Owners by their slugs, and what the principal may do with each of them.

    `facts` are what settings say of each owner, by its id. `team_slugs` name the teams that the principal sees.
    """

    by_slug: Mapping[str, Owned]
    permitted: Mapping[Action, AbstractSet[UUID]]
    facts: Mapping[UUID, Mapping[str, Any]]
    team_slugs: AbstractSet[str]
    texts: "TextsInOrder"

    def may(self, owner: Owned, action: Action) -> bool:
        """Whether the principal may do this with the owner."""
        return owner.id in self.permitted[action]


class TextsInOrder:
    """Texts of many owners, read by one statement while the owners are gone through in the order of their slugs."""

    def __init__(self, texts: "QuerySet[Any]", owner: str) -> None:
        """`owner` is the name of the column by which texts belong to their owners."""
        self._slug = f"{owner}__slug"
        # Units stand in the order of Python's strings, which no other collation has.
        ordered = texts.annotate(owner_slug=Collate(self._slug, "C")).order_by("owner_slug", "file_key")
        rows = ordered.iterator(chunk_size=TEXTS_AT_A_TIME)
        self._groups: Iterator[tuple[str, Iterator[Any]]] = groupby(rows, key=lambda row: row.owner_slug)
        self._ahead: tuple[str, dict[str, VersionedFile]] | None = None

    def of(self, slug: str) -> Mapping[str, VersionedFile]:
        """Return the owner's texts by their keys. Owners must be asked for in order; one may be passed over."""
        while self._ahead is None or self._ahead[0] < slug:
            group = next(self._groups, None)
            if group is None:
                return {}
            self._ahead = (group[0], {row.file_key: row for row in group[1]})
        return self._ahead[1] if self._ahead[0] == slug else {}


def permitted_ids(
    owners: "QuerySet[Any]", principal: Principal, actions: Iterable[Action]
) -> dict[Action, AbstractSet[UUID]]:
    """Return the ids of those among the owners with which the principal may do each of the actions."""
    manager = owners.model._default_manager  # noqa: SLF001 - Django's documented introspection
    ids = owners.values("id")
    return {
        action: set(manager.permitting(action, principal).filter(id__in=ids).values_list("id", flat=True))
        for action in actions
    }
