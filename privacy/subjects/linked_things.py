"""The rows that mentions are about, with their titles, owners and addresses, as pages and files show them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from assembly.models import Assembly
from memories.embeddings.active_model import SLOTS
from memories.lifecycle.listed_texts import listed
from memories.models import Entity, Relation
from memories.views.sensitivity import name_of_row, page_of_row
from privacy.models import SubjectMention
from privacy.subjects.stored_texts import THING_KINDS, ThingKind, texts_in
from teams.models import Draft, TextSetAside

TITLE_CHARACTERS = 80
UNREAD = frozenset({*SLOTS, "search", "body", "told", "omitted", "codes"})
"""Large columns that say nothing of a person."""


@dataclass(frozen=True, slots=True)
class LinkedThing:
    """A mention with the row that it is about; `row` is None if it was deleted since the last scan."""

    mention: SubjectMention
    kind: ThingKind
    row: Any

    @property
    def title(self) -> str:
        """The name of the thing, or the beginning of its text."""
        if self.row is None:
            return _("Deleted since the last search")
        if isinstance(self.row, Draft | TextSetAside):
            return _("Unpublished text of %(person)s") % {"person": self.row.person}
        if isinstance(self.row, Assembly):
            return Truncator(self.row.topic).chars(TITLE_CHARACTERS) or _("Context without a topic")
        if isinstance(self.row, Relation):
            return f"{self.row.source} {self.row.type} {self.row.target}"
        return str(self.row) if isinstance(self.row, Entity) else str(name_of_row(self.row))

    @property
    def owner(self) -> str:
        """The name of the agent or team; empty for the organisation's."""
        if isinstance(self.row, Assembly):
            return self.row.agent_name
        owner = getattr(self.row, "agent", None) or getattr(self.row, "team", None)
        return str(owner) if owner else ""

    @property
    def address(self) -> str:
        """The address of its page; empty if there is none for anybody but its author."""
        if self.row is None or isinstance(self.row, Draft | TextSetAside):
            return ""
        return reverse("context", args=[self.row.pk]) if isinstance(self.row, Assembly) else page_of_row(self.row)

    @property
    def texts(self) -> list[str]:
        """The texts as they are now."""
        if self.row is None:
            return []
        return [text for column in self.kind.columns for text in texts_in(getattr(self.row, column))]


def linked_things(mentions: Iterable[SubjectMention], *, notices: bool = False) -> list[LinkedThing]:
    """Return the mentions with their rows, one query per kind of things; rows of other readers are None.

    With `notices`, for lists, rows have notices for texts that cannot be read now. Else raises FrozenTextUnreachable.
    """
    known = list(mentions)
    ids = defaultdict[str, list[UUID]](list)
    for mention in known:
        ids[mention.ref_kind].append(mention.thing)
    rows = {kind: _rows(THING_KINDS[kind], things, notices=notices) for kind, things in ids.items()}
    return [
        LinkedThing(mention, THING_KINDS[mention.ref_kind], rows[mention.ref_kind].get(mention.thing))
        for mention in known
    ]


def _rows(kind: ThingKind, ids: Iterable[UUID], *, notices: bool) -> Mapping[UUID, Any]:
    names = {field.name for field in kind.model._meta.concrete_fields}  # noqa: SLF001 - Django's documented name
    related = [name for name in ("agent", "team", "person", "source", "target") if name in names]
    found = kind.model._default_manager.defer(*UNREAD & names)  # noqa: SLF001 - as above
    found = found.select_related(*related) if related else found
    rows: Mapping[UUID, Any] = (listed(found) if notices else found).in_bulk(list(ids))
    return rows
