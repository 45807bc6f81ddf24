"""A recorded context that considered very much, with scores of all kinds; the same each time."""

import datetime as dt
import random
from collections.abc import Sequence

from agents.models import Agent
from assembly.engine.linear_ranker import BREVITY_FEATURE, Ranker
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, EngineRequest
from assembly.models import Assembly, Purpose
from assembly.profiles.shipped import CONVERSATION
from assembly.records.reader import EngineInput
from assembly.records.record import RecordOwners, record
from assembly.sources.base import SourceReport
from teams.models import Team
from teams.principal import Principal

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
WORDS = (
    "harbour walk opens lantern keeper ledger ferry slipway chapter bell mast tar rope signal stage quay".split()  # noqa: SIM905 - as one reads them
)
SECTIONS = (
    Section("identity", "Identity", "L1", "agent_files", "text", required=True),
    Section("knows", "Team Knowledge", "L4", "team_memories", "lines", cap=3_000, top_k=60),
    Section("events", "Recent Activity", "L6", "recent_events", "blocks", cap=4_000),
    Section("tools", "Tools", "L6", "tools", "blocks", share=10),
)


def context_of_many(agent: Agent, team: Team, principal: Principal, *, candidates: int = 2_000) -> Assembly:
    """So many candidates for memories and events, of which few have room in 20,000 tokens."""
    random_ = random.Random(7)
    half = (candidates - 1) // 2
    offered = [Candidate("agent_file:01a1fc7c-0f9e-7116-8647-000000000001@1", "identity", "Be kind.", kind="IDENTITY")]
    offered += [_memory(number, random_) for number in range(candidates - 1 - half)]
    offered += [_event(number, random_) for number in range(half)]
    return recorded_context(agent, team, principal, SECTIONS, offered, budget=20_000, topic="When opens the walk?")


def context_of_text(agent: Agent, team: Team, principal: Principal, text: str) -> Assembly:
    """A context that is one required text, whatever its length."""
    file = Candidate("agent_file:01a1fc7c-0f9e-7116-8647-000000000001@1", "identity", text, kind="IDENTITY")
    return recorded_context(agent, team, principal, SECTIONS[:1], [file], budget=200_000)


def recorded_context(
    agent: Agent,
    team: Team,
    principal: Principal,
    sections: Sequence[Section],
    candidates: Sequence[Candidate],
    *,
    budget: int,
    topic: str = "",
    ranker: Ranker | None = CONVERSATION.ranker,
) -> Assembly:
    """What the engine makes of these candidates, on record."""
    profile = Profile("many", 1, tuple(sections), budget=budget, ranker=ranker)
    inputs = EngineInput(EngineRequest(budget, topic, "cl100k_base", NOW), profile, tuple(candidates))
    sources = sorted({section.source for section in sections})
    return record(
        request=inputs.request,
        profile=profile,
        candidates=candidates,
        reports=[SourceReport(name, 20, 20, 4, started_ms=3, deadline_ms=900) for name in sources],
        assembled=inputs.assembled(),
        warnings=[],
        wishes={},
        assembly_ms=12,
        owners=RecordOwners.of(agent, team),
        purpose=Purpose.AGENT,
        principal=principal,
    )


def _memory(number: int, random_: random.Random) -> Candidate:
    ranker = CONVERSATION.ranker
    assert ranker
    measures = {name: round(random_.random(), 4) for name in (BREVITY_FEATURE, *dict(ranker.weights))}
    text = f"Memory {number}: " + " ".join(random_.choices(WORDS, k=24))
    ref = f"memory:01a1fc7c-0f9e-7116-8647-{number:012d}@1"
    return Candidate(ref, "knows", text, kind="fact", similarity=round(random_.random(), 4), measures=measures)


def _event(number: int, random_: random.Random) -> Candidate:
    measures = {name: round(random_.random(), 4) for name in ("recency", "relevance", "salience", "credibility")}
    text = f"Event {number}: " + " ".join(random_.choices(WORDS, k=40))
    ref = f"event:01a1fc7c-0f9e-7116-8647-{number:012d}"
    return Candidate(ref, "events", text, kind="message", score=measures["relevance"], measures=measures)
