"""The sections teams/ and agents/ of archives have this common base: one unit per owner, with texts, memories,
settings.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.db.models.functions import Collate

from config.http.serializers import StrictSerializer
from memories.archive.contents import MAX_ENTRIES
from memories.archive.digests import ImportState
from memories.archive.memory_import import memories_import, memory_changes, memory_import
from memories.archive.owner_entries import OwnerSettings, load_settings, settings_change
from memories.archive.sections import ImportChange, ImportContext, ImportUnit, SkippedChange
from memories.archive.text_section import attempt_all, text_change, with_refusal
from memories.imports.base import MAX_SLUG_CHARACTERS
from memories.imports.workspace import MEMORY_FILE
from teams.models import valid_slug
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import VersionedFile

OwnerType = TypeVar("OwnerType", bound=Any)
TEXTS_AT_A_TIME = 10
"""The number of texts that are in memory at a time while owners are compared; a text can have a megabyte."""


@dataclass(frozen=True, slots=True)
class PresentOwners(Generic[OwnerType]):
    """The existing owners that an archive names, by their slugs, with the principal's permissions.

    `facts` are the stored settings of each owner by its id; `team_slugs` are the slugs of teams that the principal can
    see.
    """

    by_slug: Mapping[str, OwnerType]
    permitted: Mapping[Action, AbstractSet[UUID]]
    facts: Mapping[UUID, Mapping[str, Any]]
    team_slugs: AbstractSet[str]
    texts: "OrderedTexts"

    def may(self, owner: OwnerType, action: Action) -> bool:
        """Return whether the principal may do this action with the owner."""
        return owner.id in self.permitted[action]


class OrderedTexts:
    """The texts of many owners, read by one query while the owners are visited in the order of their slugs."""

    def __init__(self, texts: "QuerySet[Any]", owner: str) -> None:
        """Prepare the query. `owner` is the name of the column that refers to a text's owner."""
        self._slug = f"{owner}__slug"
        # Units are sorted like Python's strings, which matches the collation "C" only.
        ordered = texts.annotate(owner_slug=Collate(self._slug, "C")).order_by("owner_slug", "file_key")
        rows = ordered.iterator(chunk_size=TEXTS_AT_A_TIME)
        self._groups: Iterator[tuple[str, Iterator[Any]]] = groupby(rows, key=lambda row: row.owner_slug)
        self._ahead: tuple[str, dict[str, VersionedFile]] | None = None

    def of(self, slug: str) -> Mapping[str, VersionedFile]:
        """Return the owner's texts by their keys. Owners must be requested in the order of slugs, maybe not all."""
        while self._ahead is None or self._ahead[0] < slug:
            group = next(self._groups, None)
            if group is None:
                return {}
            self._ahead = (group[0], {row.file_key: row for row in group[1]})
        return self._ahead[1] if self._ahead[0] == slug else {}


def permitted_ids(
    owners: "QuerySet[Any]", principal: Principal, actions: Iterable[Action]
) -> dict[Action, AbstractSet[UUID]]:
    """Return for each action the ids of the owners with which the principal may do it."""
    manager = owners.model._default_manager  # noqa: SLF001 - Django's documented introspection
    ids = owners.values("id")
    return {
        action: set(manager.permitting(action, principal).filter(id__in=ids).values_list("id", flat=True))
        for action in actions
    }


NOT_ALLOWED = "You may read this, but not change it. Ask an admin of the team."


class OwnerSection(Generic[OwnerType]):
    """An archive section with a folder per owner. `owner_word` is "agent" or "team"; `texts` maps names to keys."""

    folder: str
    owner_word: str
    texts: Mapping[str, str]
    serializer: type[StrictSerializer]
    has_units = True
    max_files = MAX_ENTRIES

    def visible(self, principal: Principal) -> "QuerySet[OwnerType]":
        """Return the owners that the principal can see."""
        raise NotImplementedError

    def files(self) -> "QuerySet[Any]":
        """Return the files of all owners, such as IDENTITY.md, without daily logs."""
        raise NotImplementedError

    def facts(self, owners: Collection[OwnerType], principal: Principal) -> Mapping[UUID, dict[str, Any]]:
        """Return the stored settings of each owner by its id."""
        raise NotImplementedError

    def team_slugs(self, principal: Principal) -> AbstractSet[str]:
        """Return the slugs of the teams that settings may name and that the principal can see."""
        return frozenset()

    def make(self, slug: str, said: Mapping[str, Any], principal: Principal) -> OwnerType:
        """Create an owner with these settings, and return it."""
        raise NotImplementedError

    def ready(self, owner: OwnerType) -> None:
        """Create the files that the owner lacks."""
        raise NotImplementedError

    def change_facts(self, owner: OwnerType, change: ImportChange, principal: Principal) -> None:
        """Save the changed settings of the owner. Raises DossierError."""
        raise NotImplementedError

    def take(self, owner: OwnerType, change: ImportChange, context: ImportContext) -> None:
        """Save a changed text of the owner. Raises DossierError."""
        raise NotImplementedError

    @property
    def settings_name(self) -> str:
        return f"{self.owner_word}.json"

    def accepts_file(self, within: str) -> bool:
        return within in {*self.texts, MEMORY_FILE, self.settings_name}

    def changes(self, units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
        present = self._present([slug_of(unit) for unit in units], principal)
        for unit in sorted(units, key=slug_of):
            for change in self._unit_changes(unit, present, principal):
                yield unit, change

    def _present(self, slugs: Sequence[str], principal: Principal) -> PresentOwners[OwnerType]:
        """Return the owners with these slugs that the principal can see; the number of queries does not grow with
        slugs.
        """
        visible = self.visible(principal).filter(slug__in=slugs)
        owners = {owner.slug: owner for owner in visible}
        ids = [owner.id for owner in owners.values()]
        return PresentOwners(
            by_slug=owners,
            permitted=permitted_ids(visible, principal, (Action.WRITE, Action.EDIT, Action.MANAGE)),
            facts=self.facts(list(owners.values()), principal),
            team_slugs=self.team_slugs(principal),
            texts=OrderedTexts(self.files().filter(**{f"{self.owner_word}__in": ids}), self.owner_word),
        )

    def _unit_changes(
        self, unit: ImportUnit, present: PresentOwners[OwnerType], principal: Principal
    ) -> Iterator[ImportChange]:
        slug = slug_of(unit)
        owner, settings = present.by_slug.get(slug), load_settings(unit, self.settings_name, self.serializer)
        if owner is None:
            if reason := self._reason_against(slug, principal):
                yield ImportChange(name=unit.name, what=self.owner_word, state=ImportState.REFUSED, reason=reason)
                return
            yield ImportChange(name=unit.name, what=self.owner_word, state=ImportState.NEW, item=settings.values)
        texts = present.texts.of(slug) if owner else {}
        yield from self._settings_changes(unit, owner, settings, present, principal)
        yield from _refuse_forbidden(present, owner, Action.EDIT, self._text_changes(unit, texts, settings))
        yield from _refuse_forbidden(present, owner, Action.WRITE, self._written_changes(unit, owner, settings))

    def _reason_against(self, slug: str, principal: Principal) -> str:
        """Return why the owner cannot be created; "" where it can."""
        if not principal.is_admin:
            return (
                f"There is no {self.owner_word} “{slug}” that you may change. "
                "Ask an admin of the organisation to import it."
            )
        try:
            valid_slug(slug)
        except ValidationError as error:
            return f"“{slug}” cannot be a short name for addresses. {error.message}"
        return "" if len(slug) <= MAX_SLUG_CHARACTERS else f"“{slug}” is too long for a short name for addresses."

    def _settings_changes(
        self,
        unit: ImportUnit,
        owner: OwnerType | None,
        settings: OwnerSettings,
        present: PresentOwners[OwnerType],
        principal: Principal,
    ) -> Iterator[ImportChange]:
        here = present.facts[owner.id] if owner else None
        wanted = self.wanted(here or {}, settings.values, unit, present.team_slugs, principal)
        version = owner.version if owner else 0
        changes = settings_change(
            unit=unit, within=self.settings_name, settings=settings, here=here, version=version, wanted=wanted
        )
        yield from _refuse_forbidden(present, owner, Action.MANAGE, changes)

    def wanted(
        self,
        here: Mapping[str, Any],
        said: Mapping[str, Any],
        unit: ImportUnit,
        team_slugs: AbstractSet[str],
        principal: Principal,
    ) -> dict[str, Any]:
        """Return the settings that an import leads to: values of the archive, otherwise the stored ones."""
        return {**here, **said}

    def _text_changes(
        self, unit: ImportUnit, here: Mapping[str, VersionedFile], settings: OwnerSettings
    ) -> Iterator[ImportChange]:
        for within, key in self.texts.items():
            if within in unit.files:
                yield owner_text_change(unit, within, here.get(key), settings)

    def _written_changes(
        self, unit: ImportUnit, owner: OwnerType | None, settings: OwnerSettings
    ) -> Iterator[ImportChange]:
        yield from memory_changes(unit, owner)

    def store(
        self, unit: ImportUnit, changes: Sequence[ImportChange], import_context: ImportContext
    ) -> list[SkippedChange]:
        slug = slug_of(unit)
        making = [change for change in changes if change.what == self.owner_word]
        principal = import_context.principal
        here = self.visible(principal).filter(slug=slug)
        owner = self.make(slug, making[0].item, principal) if making else here.first()
        if owner is None:
            return [SkippedChange(change.name, f"The {self.owner_word} “{slug}” is gone.") for change in changes]
        self.ready(owner)
        import_context.advance(len(making))
        new = [change for change in changes if change.what == "memory" and change.state is ImportState.NEW]
        left = self._memories_taken(owner, new, import_context)
        done = {change.name for change in (*making, *new)}
        others = [change for change in changes if change.name not in done]
        return left + attempt_all(
            {change.name: self._step(owner, change, import_context) for change in others}, import_context.advance
        )

    def _memories_taken(
        self, owner: OwnerType, new: Sequence[ImportChange], import_context: ImportContext
    ) -> list[SkippedChange]:
        """Store new memories, all or none, before other changes; return the refusal where that failed."""
        name = f"{self.folder}/{owner.slug}/{MEMORY_FILE}"
        if not new:
            return []
        left = attempt_all({name: partial(memories_import, owner=owner, changes=new, import_context=import_context)})
        return [replace(one, count=len(new)) for one in left]

    def _step(self, owner: OwnerType, change: ImportChange, import_context: ImportContext) -> Callable[[], object]:
        if change.what == "settings":
            return partial(self.change_facts, owner, change, import_context.principal)
        if change.what == "memory":
            return partial(memory_import, change=change, principal=import_context.principal, note=import_context.note)
        return partial(self.take, owner, change, import_context)


def slug_of(unit: ImportUnit) -> str:
    """Return the slug of the unit's owner."""
    return unit.name.partition("/")[2]


def _refuse_forbidden(
    present: PresentOwners[OwnerType], owner: OwnerType | None, action: Action, changes: Iterator[ImportChange]
) -> Iterator[ImportChange]:
    """Yield the changes, refused where the principal may not do this action with an existing owner."""
    permitted = owner is None or present.may(owner, action)
    return changes if permitted else (with_refusal(change, NOT_ALLOWED) for change in changes)


def owner_text_change(
    unit: ImportUnit, within: str, here: VersionedFile | None, settings: OwnerSettings
) -> ImportChange:
    """Return the change of a file that each owner has from the start; an empty first version counts as missing."""
    untouched = here is None or (here.version == 1 and not here.content)
    change = text_change(unit, within, "file", here, "" if untouched else settings.marks.get(within, ""))
    if untouched and change.state in {ImportState.NEW, ImportState.CHANGED}:
        change = replace(change, state=ImportState.NEW if change.after else ImportState.SAME)
    change, facts = settings.facts_of(within).planned(change, here, is_untouched=untouched)
    return replace(change, item=facts)
