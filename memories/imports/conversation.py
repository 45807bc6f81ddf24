"""This module imports a conversation, dated sessions of turns, as daily logs (one per day) and memories (one per turn).

The whole JSON file is read and checked before anything is stored. Its format is that of the LoCoMo data set (Maharana
et al., ACL 2024): `session_1` is a list of turns with `speaker`, `dia_id`, `text` and perhaps `blip_caption`;
`session_1_date_time` reads "1:56 pm on 8 May, 2023". Its annotations (qa, observations, summaries, events) are ignored.
"""

import datetime
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from agents.models import Agent, DailyLog
from agents.services import daily_log_append
from config.invisible_characters import clean_text, is_blank
from memories.imports.base import Advance, ImportRefused, get_or_create_agent, memories_store, read_text
from memories.models.memory import MAX_TEXT_CHARACTERS
from memories.services import MemoryFacts
from teams.origin import Origin
from teams.principal import Principal

KIND = "message"
"""The kind of imported memories: statements of a speaker, which nobody has judged or agreed on."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: what one speaker said, with a description of a picture that was shown, if any."""

    id: str
    speaker: str
    text: str
    caption: str = ""

    @property
    def said(self) -> str:
        return f"{self.text} (Picture: {self.caption})" if self.caption else self.text


@dataclass(frozen=True, slots=True)
class ConversationSession:
    """A session of a conversation: its turns in order, and its start, in UTC because the file has no time zone."""

    at: datetime.datetime
    turns: tuple[Turn, ...]

    @property
    def to_log(self) -> str:
        """The session as Markdown: a heading with time and speakers, then one paragraph per turn."""
        speakers = " and ".join(dict.fromkeys(turn.speaker for turn in self.turns))
        paragraphs = [f"**{turn.speaker}:** {' '.join(turn.said.split())}" for turn in self.turns]
        return "\n\n".join([f"#### {self.at:%H:%M} {speakers}", *paragraphs])

    def to_memories(self) -> list[MemoryFacts]:
        """Return one memory per turn, each dated a second after the previous one, so that the last turn is the most
        recent.
        """
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
        # The id is a hash of the turn and its time, not of the file's name: if a file is moved or extended, only new
        # turns are added, and the same dia_id in another conversation does not collide.
        said = json.dumps([self.at.isoformat(), turn.id, turn.speaker, turn.said])
        return f"conversation:{turn.id}:{hashlib.sha256(said.encode()).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class ConversationImport:
    """The numbers of daily logs that were created or extended, and of new memories."""

    logs: int
    memories: int


@transaction.atomic
def conversation_import(
    *, sessions: Sequence[ConversationSession], agent: str, principal: Principal, advance: Advance
) -> ConversationImport:
    """Store a conversation for the agent with that slug, which is created if necessary; all or nothing.

    Sessions that a day's log does not contain word for word are appended to it. Nobody knows who the speakers are, so
    all of it is trusted as little as what an agent writes. Returns the numbers of changes.
    """
    principal = principal.relaying(Origin.AGENT)
    owner = get_or_create_agent(agent)
    days: dict[datetime.date, list[str]] = {}
    for session in sessions:
        days.setdefault(session.at.date(), []).append(session.to_log)
    logs = sum(_store_log(owner, date, entries, principal) for date, entries in days.items())
    facts = [fact for session in sessions for fact in session.to_memories()]
    memories = memories_store(owner=owner, facts=facts, principal=principal, advance=advance)
    return ConversationImport(logs, memories)


def _store_log(agent: Agent, date: datetime.date, entries: list[str], principal: Principal) -> bool:
    log = DailyLog.objects.filter(agent=agent, date=date).first()
    missing = [entry for entry in entries if log is None or entry not in log.content]
    if missing:
        daily_log_append(agent=agent, date=date, text="\n\n".join(missing), principal=principal)
    return bool(missing)


MAX_CHARACTERS = 50_000_000
MAX_ID_CHARACTERS = 100
LEVEL = "sensitivity"
SESSION = re.compile(r"session_([0-9]{1,6})")
DATE_FORMAT = "%I:%M %p on %d %B, %Y"


def load_conversation(path: Path) -> list[ConversationSession]:
    """Return the sessions that have turns, in order of time. Raises ImportRefused where one cannot be stored."""
    name = path.name
    try:
        data = json.loads(read_text(path, name, MAX_CHARACTERS))
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}"
        raise ImportRefused(f"{where} is not JSON ({error.msg}); correct it and import again.") from None
    except (ValueError, RecursionError):
        raise ImportRefused(f"{name} is JSON that no conversation needs; check that it is the right file.") from None
    if not isinstance(data, dict):
        raise ImportRefused(f"{name} is not an object with session_1, session_2 …; check that it is the right file.")
    _refuse_level(data, name)
    numbers = sorted(int(match[1]) for key in data if (match := SESSION.fullmatch(key)))
    sessions = [_parse_session(data, number, name) for number in numbers if data[f"session_{number}"]]
    _check_ids(sessions, name)
    if not sessions:
        raise ImportRefused(f"{name} has no session with turns; check that it is the right file.")
    return sorted(sessions, key=lambda session: session.at)


def _parse_session(data: Mapping[str, Any], number: int, name: str) -> ConversationSession:
    key = f"session_{number}"
    turns, moment = data[key], data.get(f"{key}_date_time")
    if not isinstance(turns, list):
        raise ImportRefused(f"{name}: {key} is not a list of turns; correct it and import again.")
    try:
        at = datetime.datetime.strptime(str(moment), DATE_FORMAT).replace(tzinfo=datetime.UTC)
    except ValueError:
        raise ImportRefused(
            f"{name}: {key}_date_time is {moment!r}; write it like 1:56 pm on 8 May, 2023 and import again."
        ) from None
    return ConversationSession(
        at, tuple(_parse_turn(turn, f"{name}: turn {place} of {key}") for place, turn in enumerate(turns, 1))
    )


def _parse_turn(turn: Any, where: str) -> Turn:
    if not isinstance(turn, dict):
        raise ImportRefused(f"{where} is not an object; correct it and import again.")
    _refuse_level(turn, where)
    words = {key: _text_field(turn, key, where) for key in ("dia_id", "speaker", "text")}
    caption = _text_field(turn, "blip_caption", where) if turn.get("blip_caption") else ""
    made = Turn(words["dia_id"], words["speaker"], words["text"], caption)
    if len(made.id) > MAX_ID_CHARACTERS:
        raise ImportRefused(f"{where}: its dia_id has more than {MAX_ID_CHARACTERS} characters; shorten it.")
    if len(made.speaker) + len(made.said) + 2 > MAX_TEXT_CHARACTERS:
        raise ImportRefused(f"{where} has more than {MAX_TEXT_CHARACTERS:,} characters; split it in two.")
    return made


def _refuse_level(said: Mapping[str, Any], where: str) -> None:
    """Raise ImportRefused where the file says how sensitive it is, rather than store it as internal."""
    if LEVEL in said:
        raise ImportRefused(
            f"{where} has a {LEVEL}, and conversations are imported as internal. Nothing was stored. Remove it, and "
            "raise what is confidential on its page afterwards; or import records, whose lines can have one."
        )


def _text_field(turn: Mapping[str, Any], key: str, where: str) -> str:
    value = turn.get(key)
    if not isinstance(value, str) or is_blank(value):
        raise ImportRefused(f"{where} has no {key}; add it and import again.")
    if re.search("[\0\ud800-\udfff]", value):
        raise ImportRefused(f"{where}: its {key} has a character that cannot be stored; remove it.")
    return clean_text(value)


def _check_ids(sessions: list[ConversationSession], name: str) -> None:
    seen = set()
    for turn in (turn for session in sessions for turn in session.turns):
        if turn.id in seen:
            raise ImportRefused(f"{name}: two turns have the dia_id {turn.id}; give each one of its own.")
        seen.add(turn.id)
