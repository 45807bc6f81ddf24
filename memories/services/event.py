"""This module creates events, and the sessions that new events name and that do not exist yet."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents.models import Agent
from memories.models import Event, EventType, Session
from memories.services.agent_item import Facts, agent_items_create, before_save
from memories.services.batch_errors import BatchError
from memories.services.json_values import compact_json
from teams.principal import Principal
from teams.sealing.names import stored_forms
from teams.versioned_text.versioned_file import lock_row


@before_save(Event)
def prepare_events(events: Mapping[int, Event]) -> Iterator[BatchError]:
    """Set the default time (now) and the size of new events. Yields an error for a tool result that names no tool."""
    now = timezone.now()
    for place, event in events.items():
        event.occurred_at = event.occurred_at or now
        event.size = len(compact_json(event.content))
        if event.type == EventType.TOOL_RESULT and not event.tool:
            yield BatchError(place, "tool", "Name the tool that this is a result of.")


@transaction.atomic
def events_create(*, agent: Agent, facts: Sequence[Facts], principal: Principal) -> list[Event]:
    """Create events of an agent, all or none, and return them; those whose external id the agent has are skipped.

    A fact may name its session by `session_key`, the session's external id. A session that does not exist is created;
    it starts with the first of its events. Raises InvalidBatch and DuplicateInBatch.
    """
    lock_row(agent)  # concurrent requests could otherwise create the same session twice
    sessions = _sessions_by_key(agent, facts, principal)
    placed = [_in_session(fact, sessions) for fact in facts]
    return agent_items_create(model=Event, agent=agent, facts=placed, principal=principal)


def _sessions_by_key(agent: Agent, facts: Sequence[Facts], principal: Principal) -> dict[str, Session]:
    now, started = timezone.now(), dict[str, datetime.datetime]()
    for fact in facts:
        if key := fact.get("session_key", ""):
            started[key] = min(
                started.get(key, datetime.datetime.max.replace(tzinfo=datetime.UTC)), _occurred_at(fact, now)
            )
    rows = Session.everything.filter(agent=agent)
    found = {session.external_id: session for session in rows.filter(external_id__in=started)}
    missing = [{"external_id": key, "started_at": at} for key, at in started.items() if key not in found]
    made = agent_items_create(model=Session, agent=agent, facts=missing, principal=principal) if missing else []
    found |= {session.external_id: session for session in made}
    if sealed := started.keys() - found.keys():  # they are there, and their ids are sealed
        forms = stored_forms(rows, agent.id, sealed)
        found |= {session.external_id: session for session in rows.filter(external_id__in=forms)}
    return found


def _occurred_at(fact: Facts, now: datetime.datetime) -> datetime.datetime:
    at: datetime.datetime | None = fact.get("occurred_at")
    return at or now


def _in_session(fact: Facts, sessions: Mapping[str, Session]) -> dict[str, Any]:
    placed = dict(fact)
    if key := placed.pop("session_key", ""):
        placed["session"] = sessions[key]
    return placed
