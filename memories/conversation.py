"""Conversations: dated sessions of turns, stored as daily logs (one page per day) and memories (one per turn)."""

import datetime
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from agents.models import Agent, DailyLog
from agents.services import daily_log_append
from memories.importing import Advance, agent_to_fill, memories_store
from memories.services import MemoryFacts
from teams.principal import Principal

KIND = "message"
"""What somebody said; nothing in it was weighed or agreed on, as in a fact or a decision."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said, with a description of the picture that was shown, if any."""

    id: str
    speaker: str
    text: str
    caption: str = ""

    @property
    def said(self) -> str:
        return f"{self.text} (Picture: {self.caption})" if self.caption else self.text


@dataclass(frozen=True, slots=True)
class Session:
    """Turns that followed one another, begun at a time that is taken for UTC, as the file names no zone."""

    at: datetime.datetime
    turns: tuple[Turn, ...]

    @property
    def as_log(self) -> str:
        """Markdown: a heading with time and speakers, then one paragraph per turn."""
        speakers = " and ".join(dict.fromkeys(turn.speaker for turn in self.turns))
        paragraphs = [f"**{turn.speaker}:** {' '.join(turn.said.split())}" for turn in self.turns]
        return "\n\n".join([f"#### {self.at:%H:%M} {speakers}", *paragraphs])

    def as_memories(self) -> list[MemoryFacts]:
        """One memory per turn, each a second after the one before, so that the most recent is the last one said."""
        return [
            MemoryFacts(
                kind=KIND,
                text=f"{turn.speaker}: {turn.said}",
                occurred_at=self.at + datetime.timedelta(seconds=number),
                external_id=self._external_id(turn),
            )
            for number, turn in enumerate(self.turns)
        ]

    def _external_id(self, turn: Turn) -> str:
        # Made of what was said and when, never of the file's name: a moved or grown file adds only new turns, and
        # another conversation, in which the same dia_ids stand for other words, collides with nothing.
        said = json.dumps([self.at.isoformat(), turn.id, turn.speaker, turn.said])
        return f"conversation:{turn.id}:{hashlib.sha256(said.encode()).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class Imported:
    """How many daily logs were started or added to, and how many memories were new."""

    logs: int
    memories: int


@transaction.atomic
def conversation_import(*, sessions: Sequence[Session], agent: str, principal: Principal, advance: Advance) -> Imported:
    """Store a conversation for the agent with that slug, made when missing. All or nothing.

    A day's log keeps what it has: a session that it does not hold yet, word for word, is added at its end.
    """
    owner = agent_to_fill(agent)
    days: dict[datetime.date, list[str]] = {}
    for session in sessions:
        days.setdefault(session.at.date(), []).append(session.as_log)
    logs = sum(_log(owner, date, entries, principal) for date, entries in days.items())
    facts = [fact for session in sessions for fact in session.as_memories()]
    memories = memories_store(owner=owner, facts=facts, principal=principal, advance=advance)
    return Imported(logs, memories)


def _log(agent: Agent, date: datetime.date, entries: list[str], principal: Principal) -> bool:
    log = DailyLog.objects.filter(agent=agent, date=date).first()
    missing = [entry for entry in entries if log is None or entry not in log.content]
    if missing:
        daily_log_append(agent=agent, date=date, text="\n\n".join(missing), principal=principal)
    return bool(missing)
