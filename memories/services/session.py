"""Sessions: when they begin and end."""

from collections.abc import Iterator, Mapping

from django.utils import timezone

from memories.models import Session
from memories.services.flaws import Flaw
from memories.services.preparation import prepares


@prepares(Session)
def prepare_sessions(sessions: Mapping[int, Session]) -> Iterator[Flaw]:
    """A session begins now unless it says when, and ends no earlier than it began."""
    now = timezone.now()
    for place, session in sessions.items():
        session.started_at = session.started_at or now
        if session.ended_at is not None and session.ended_at < session.started_at:
            yield Flaw(place, "ended_at", "A session ends no earlier than it began. Use a later time.")
