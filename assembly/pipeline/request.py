"""`AssemblyRequest` holds everything that a caller requests, except the caller, the agent and the team."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from agents.models import Agent
from assembly.engine.profile import PrivacyMode
from assembly.engine.types import EngineRequest, Origin, field_values
from assembly.models import Purpose
from assembly.sources.base import ConversationTurn, GatherContext, RequestFilters
from config.db.statements import find_rows
from config.http.errors import NotFound
from memories.models import Session
from teams.sealing.names import stored_forms
from teams.sensitivity import DEFAULT_LEVEL, READABLE_SQL, Sensitivity, owner_clearance

DEFAULT_PROFILE = "conversation"
DEFAULT_TOKENIZER = "cl100k_base"
MAX_TOKENS = 200_000
MAX_TOPIC_CHARACTERS = 4_000
MAX_ADDITIONAL_CHARACTERS = 100_000
MAX_TURNS = 1_000
MAX_REQUEST_CHARACTERS = 400_000
"""Most characters of turns and additional text together: about 100,000 tokens of prose, all counted and recorded."""
MAX_EXCLUDED = 200

MIN_TIME_MS = 10
MAX_TIME_MS = 60_000

AnswerFormat = Literal["markdown", "messages"]
"""Format of an answer. markdown: one text; messages: also a list of messages, first the context, then the turns."""


@dataclass(frozen=True, slots=True)
class RequestBudgets:
    """Limits of a request apart from tokens: milliseconds and least quality (seed "Memory Layer": MemoryRequest).

    None means the installation's time limit and the profile's quality.
    """

    time_ms: int | None = None
    quality_min: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyRequest:
    """A request for a context. `max_tokens` None: the profile's budget; `now` None: the present moment.

    `session` is the id of one of the agent's sessions, or its external id.
    """

    topic: str = ""
    profile: str = ""
    """The name of the profile; empty for the agent's own, or else the default."""
    max_tokens: int | None = None
    tokenizer: str = DEFAULT_TOKENIZER
    now: datetime.datetime | None = None
    session: str = ""
    history: tuple[ConversationTurn, ...] = ()
    filters: RequestFilters = field(default_factory=RequestFilters)
    budgets: RequestBudgets = RequestBudgets()
    strategy: Mapping[str, Any] = field(default_factory=dict)
    additional_context: str = ""
    sender_origin: Origin = "agent"
    """The origin of the sender and of the additional context; turns are trusted no more. `assemble` sets it."""
    format: AnswerFormat = "markdown"
    entities: tuple[str, ...] = ()
    """Names of entities that the request is about, in addition to those that the topic names."""
    kv_policy: Mapping[str, Any] | None = None
    """Narrows the storage policies of the agent's own items that are included (seed "Memory Layer": KVPolicy)."""
    privacy_mode: PrivacyMode = "off"
    """What happens to personal data in the texts of the context; the stricter one of this and the profile's."""
    sensitivity: int = DEFAULT_LEVEL
    """The sensitivity of the request's own texts (topic, turns, additional context); the record is as sensitive."""
    purpose: Purpose | None = None
    """Purpose of the context; None for the caller's default. Not among the facts, because it changes no content."""

    def for_agent(self, agent: Agent) -> "AssemblyRequest":
        """Return the request with the profile that it gets for this agent."""
        return self if self.profile else replace(self, profile=agent.profile or DEFAULT_PROFILE)

    def facts(self) -> dict[str, Any]:
        """Return the request as JSON-safe values in a fixed order; equal requests have equal facts."""
        return {
            "topic": self.topic,
            "profile": self.profile,
            "max_tokens": self.max_tokens,
            "tokenizer": self.tokenizer,
            "history": [[turn.role, turn.content] for turn in self.history],
            "additional_context": self.additional_context,
            **({"sender_origin": self.sender_origin} if self.additional_context or self.history else {}),
            **self.wishes(),
        }

    def wishes(self) -> dict[str, Any]:
        """Return the request's recorded fields that have no column; its texts are recorded as candidates."""
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
            # Only if given, so that the cache keys and records of all other requests remain as they were.
            **({"entities": list(self.entities)} if self.entities else {}),
            **({"privacy_mode": self.privacy_mode} if self.privacy_mode != "off" else {}),
            **({"sensitivity": Sensitivity(self.sensitivity).word} if self.sensitivity != DEFAULT_LEVEL else {}),
            **({"kv_policy": dict(self.kv_policy)} if self.kv_policy is not None else {}),
        }


def request_document(asked: AssemblyRequest, request: EngineRequest, gather_context: GatherContext) -> dict[str, Any]:
    """Return the recorded fields of a request that have no column, with the signals read from its words."""
    signals = gather_context.signals
    return {
        **asked.wishes(),
        "exclude": list(request.exclude),
        **({"reconciliations": [one.to_dict() for one in request.reconciliations]} if request.reconciliations else {}),
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
    """Return the agent's session with this id or external id; None for an empty name. Raises NotFound."""
    if not name:
        return None
    clearance = owner_clearance("agent_id", agent.id)
    parameters = {"agent": agent.id, "clearance": clearance, "name": name, "id": _uuid_of(name)}
    found = find_rows(Session, SESSION_CLAUSES, parameters)
    if not found and clearance > DEFAULT_LEVEL:
        rows = Session.everything.filter(agent=agent, sensitivity__lte=clearance)
        for sealed in stored_forms(rows, agent.id, [name])[1:]:
            found = find_rows(Session, SESSION_CLAUSES, {**parameters, "name": sealed})
    if not found:
        raise NotFound(f"The session “{name}”")
    return found[0]


SESSION_CLAUSES = (
    f"WHERE agent_id = %(agent)s AND {READABLE_SQL}"
    " AND (external_id = %(name)s OR id = %(id)s::uuid) ORDER BY external_id = %(name)s DESC LIMIT 1"
)


def _uuid_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _sorted_words(words: frozenset[str] | None) -> list[str] | None:
    return None if words is None else sorted(words)
