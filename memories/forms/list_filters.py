"""These forms filter lists: the timeline of events, and lists of agents' items."""

from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from memories.models import Entity, Event, Session, ThreadStatus
from teams.sealing.names import stored_forms

MAX_SESSIONS = 100


class EventFilter(forms.Form):
    """A form that filters an agent's events by type and session: one of the latest 100, or the one in the URL."""

    type = forms.ChoiceField(label=_("Type"), required=False)
    session = forms.ChoiceField(label=_("Session"), required=False)

    def __init__(self, *args: Any, agent: Agent, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = Event.objects.filter(agent=agent).order_by("type").values_list("type", flat=True).distinct()
        sessions = [(str(session.id), str(session)) for session in self._sessions(agent)]
        self.fields["type"].choices = [("", _("Everything")), *((type_, type_) for type_ in types)]  # type: ignore[attr-defined]
        self.fields["session"].choices = [("", _("All sessions")), *sessions]  # type: ignore[attr-defined]

    def _sessions(self, agent: Agent) -> list[Session]:
        rows = Session.objects.filter(agent=agent)
        latest = list(rows.order_by("-started_at", "-id")[:MAX_SESSIONS])
        named = _parse_uuid(self.data.get("session"))
        if named is not None and named not in {session.id for session in latest}:
            latest += rows.filter(id=named)
        return latest

    def narrowed(self, rows: QuerySet[Event]) -> QuerySet[Event]:
        """Return the events that match the filter."""
        self.full_clean()
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        return rows.filter(**chosen)


def _parse_uuid(text: Any) -> UUID | None:
    try:
        return UUID(text)
    except (ValueError, TypeError, AttributeError):
        return None


class SearchForm(forms.Form):
    """A form with a single field, for a search by meaning."""

    q = forms.CharField(
        label=_("Semantic search"),
        max_length=1000,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )


class ItemSearch(forms.Form):
    """A form for a search by words: each word must occur in one of the columns `search_columns`."""

    q = forms.CharField(
        label=_("Search"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )
    search_columns: tuple[str, ...]
    whole_name: str = ""
    """The column with a name that is found as a whole where it is sealed, or with a list of names in lower case."""

    def __init__(self, *args: Any, agent: Agent, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agent = agent

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows that match the search; all rows for an empty or invalid search."""
        self.full_clean()
        text, wanted = " ".join(self.cleaned_data.get("q", "").split()), Q()
        for word in text.split():
            wanted &= reduce(or_, (Q(**{f"{column}__icontains": word}) for column in self.search_columns))
        if text and self.whole_name:
            lookup, name = ("overlap", text.lower()) if self.whole_name == "names" else ("in", text)
            if sealed := stored_forms(rows, self.agent.pk, [name])[1:]:
                wanted |= Q(**{f"{self.whole_name}__{lookup}": sealed})
        return rows.filter(wanted)

    @property
    def narrows(self) -> bool:
        """Whether any filter is set."""
        return any(self.cleaned_data.values())


class PatternSearch(ItemSearch):
    search_columns = ("name", "guidance", "keywords")
    whole_name = "name"


class ToolSearch(ItemSearch):
    search_columns = ("name", "description")
    whole_name = "name"


class ThreadSearch(ItemSearch):
    search_columns = ("title", "summary")

    status = forms.ChoiceField(label=_("Value"), choices=[("", _("All")), *ThreadStatus.choices], required=False)

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrowed(rows)
        status = self.cleaned_data.get("status")
        return rows.filter(status=status) if status else rows


class DocumentSearch(ItemSearch):
    search_columns = ("path", "language")
    whole_name = "path"

    open = forms.ChoiceField(label=_("Value"), choices=[("", _("All")), ("yes", _("Open in editor"))], required=False)

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrowed(rows)
        return rows.filter(is_open=True) if self.cleaned_data.get("open") else rows


class EntitySearch(ItemSearch):
    search_columns = ("name", "aliases")
    whole_name = "names"

    type = forms.ChoiceField(label=_("Type"), required=False)

    def __init__(self, *args: Any, agent: Agent, **kwargs: Any) -> None:
        super().__init__(*args, agent=agent, **kwargs)
        types = Entity.objects.filter(agent=agent).order_by("type").values_list("type", flat=True).distinct()
        self.fields["type"].choices = [("", _("All")), *((type_, type_) for type_ in types)]  # type: ignore[attr-defined]

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrowed(rows)
        type_ = self.cleaned_data.get("type")
        return rows.filter(type=type_) if type_ else rows
