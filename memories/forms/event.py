"""Which events of a timeline are asked for."""

from typing import Any
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from memories.models import Event, Session

LATEST = 100


class EventFilter(forms.Form):
    """A type that the agent's events have, and one of its latest sessions, or the one that the address names."""

    type = forms.ChoiceField(label=_("Show"), required=False)
    session = forms.ChoiceField(label=_("Of"), required=False)

    def __init__(self, *args: Any, agent: Agent, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = Event.objects.filter(agent=agent).order_by("type").values_list("type", flat=True).distinct()
        sessions = [(str(session.id), str(session)) for session in self._sessions(agent)]
        self.fields["type"].choices = [("", _("Everything")), *((type_, type_) for type_ in types)]  # type: ignore[attr-defined]
        self.fields["session"].choices = [("", _("All sessions")), *sessions]  # type: ignore[attr-defined]

    def _sessions(self, agent: Agent) -> list[Session]:
        rows = Session.objects.filter(agent=agent)
        latest = list(rows.order_by("-started_at", "-id")[:LATEST])
        named = _uuid(self.data.get("session"))
        if named is not None and named not in {session.id for session in latest}:
            latest += rows.filter(id=named)
        return latest

    def narrowed(self, rows: QuerySet[Event]) -> QuerySet[Event]:
        """The events that are asked for."""
        self.full_clean()
        chosen = {name: value for name, value in self.cleaned_data.items() if value}
        return rows.filter(**chosen)


def _uuid(text: Any) -> UUID | None:
    try:
        return UUID(text)
    except (ValueError, TypeError, AttributeError):
        return None
