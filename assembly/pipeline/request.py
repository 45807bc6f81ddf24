"""`AssemblyRequest` holds everything that a caller asks for, but not who asks and for whom."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from agents.models import Agent
from assembly.engine.types import EngineRequest, field_values
from assembly.models import Purpose
from assembly.sources.base import ConversationTurn, GatherContext, RequestFilters
from config.db.statements import Statement, run_statement
from config.http.errors import NotFound
from memories.models import Session

DEFAULT_PROFILE = "conversation"
DEFAULT_TOKENIZER = "cl100k_base"
MAX_TOKENS = 200_000
MAX_TOPIC_CHARACTERS = 4_000
MAX_ADDITIONAL_CHARACTERS = 100_000
MAX_TURNS = 1_000
MAX_REQUEST_CHARACTERS = 400_000
"""Of the turns and the additional text together: about 100,000 tokens of prose, each counted and recorded."""
MAX_EXCLUDED = 200

MIN_TIME_MS = 10
MAX_TIME_MS = 60_000

AnswerFormat = Literal["markdown", "messages"]
"""markdown: one text; messages: besides, a list of messages, the context first and then the recent turns."""


@dataclass(frozen=True, slots=True)
class RequestBudgets:
    """What a request may cost beside its tokens, and what it must be worth (seed "Memory Layer": MemoryRequest).

    None: as the installation gives everybody, and as the profile asks.
    """

    time_ms: int | None = None
    quality_min: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyRequest:
    """The wishes of one request. `max_tokens` None: the profile's budget; `now` None: the present moment.

    `session` is the id of one of the agent's sessions, or the external id that it came with.
    """

    topic: str = ""
    profile: str = DEFAULT_PROFILE
    max_tokens: int | None = None
    tokenizer: str = DEFAULT_TOKENIZER
    now: datetime.datetime | None = None
    session: str = ""
    history: tuple[ConversationTurn, ...] = ()
    filters: RequestFilters = field(default_factory=RequestFilters)
    budgets: RequestBudgets = RequestBudgets()
    strategy: Mapping[str, Any] = field(default_factory=dict)
    additional_context: str = ""
    format: AnswerFormat = "markdown"
    purpose: Purpose | None = None
    """None: what is usual for who asks. It changes nothing in the context, so it is not among the facts."""

    def facts(self) -> dict[str, Any]:
        """JSON-safe, in one order: equal facts ask for the same."""
        return {
            "topic": self.topic,
            "profile": self.profile,
            "max_tokens": self.max_tokens,
            "tokenizer": self.tokenizer,
            "history": [[turn.role, turn.content] for turn in self.history],
            "additional_context": self.additional_context,
            **self.wishes(),
        }

    def wishes(self) -> dict[str, Any]:
        """What the record keeps beside its columns; the texts of the request are among its candidates."""
        return {
            "format": self.format,
            "session": self.session,
            "turns": len(self.history),
            "filters": {
                "since": self.filters.since.isoformat() if self.filters.since else None,
                "event_types": _sorted_words(self.filters.event_types),
                "entity_types": _sorted_words(self.filters.entity_types),
                "exclude": list(self.filters.exclude),
            },
            "strategy": dict(self.strategy),
            "budgets": field_values(self.budgets),
        }


def request_document(asked: AssemblyRequest, request: EngineRequest, gather_context: GatherContext) -> dict[str, Any]:
    """What the record keeps of a request beside its columns: its wishes, and what was read from its words."""
    signals = gather_context.signals
    return {
        **asked.wishes(),
        "exclude": list(request.exclude),
        "query": gather_context.topic,
        "signals": {
            "keywords": list(signals.keywords),
            "intent": signals.intent,
            "event_types": list(signals.event_types),
            "mentioned": [
                {"id": str(named.id), "type": named.type, "name": named.name} for named in gather_context.mentioned
            ],
        },
    }


def find_session(agent: Agent, name: str) -> Session | None:
    """The agent's session with that id or external id; None where no name is given. Raises NotFound."""
    if not name:
        return None
    found = run_statement(Statement(_session_sql(), {"agent": agent.id, "name": name, "id": _uuid_of(name)}))
    if not found:
        raise NotFound(f"The session “{name}”")
    return Session.from_db(DEFAULT_DB_ALIAS, _session_columns(), found[0])


@cache
def _session_sql() -> str:
    """One prepared statement: each request of an agent at work names its session."""
    columns = ", ".join(_session_columns())
    return (
        f"SELECT {columns} FROM sessions WHERE agent_id = %(agent)s"  # noqa: S608 - names of columns
        " AND (external_id = %(name)s OR id = %(id)s::uuid) ORDER BY external_id = %(name)s DESC LIMIT 1"
    )


@cache
def _session_columns() -> list[str]:
    return [field.attname for field in Session._meta.concrete_fields]  # noqa: SLF001 - Django's documented introspection


def _uuid_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _sorted_words(words: frozenset[str] | None) -> list[str] | None:
    return None if words is None else sorted(words)
