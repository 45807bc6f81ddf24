"""Assembling a context: the one function that REST, pages and commands call."""

import datetime
from time import perf_counter

from django.utils import timezone

from agents.models import Agent, AgentTeam
from agents.services import agent_files_ensure
from assembly.engine import pipeline
from assembly.engine.types import Request
from assembly.gather import gather
from assembly.models import Assembly
from assembly.profiles import profile_named
from assembly.record import record
from assembly.sources import Situation
from config.http.errors import Invalid
from config.tokens import UnknownTokenizer, get_tokenizer
from memories.search import topic_vector
from teams.models import Team
from teams.principal import Principal

DEFAULT_TOKENIZER = "cl100k_base"
MAX_TOKENS = 200_000
MAX_TOPIC_CHARACTERS = 4_000


def assemble(
    *,
    agent: Agent,
    team: Team | None = None,
    topic: str = "",
    profile: str = "conversation",
    max_tokens: int | None = None,
    tokenizer: str = DEFAULT_TOKENIZER,
    now: datetime.datetime | None = None,
    principal: Principal,
) -> tuple[Assembly, str]:
    """Assemble and record the context of an agent, in one of its teams or in none. Returns the record and the text.

    `max_tokens` is the profile's budget unless given. Raises Invalid for an unknown profile or tokenizer, or a team
    that the agent does not work in. Whether the principal may do this is for the caller to decide.
    """
    started = perf_counter()
    chosen = profile_named(profile)
    try:
        counter = get_tokenizer(tokenizer)
    except UnknownTokenizer as error:
        raise Invalid("tokenizer", str(error), "unknown") from None
    if team is not None and not AgentTeam.objects.filter(agent=agent, team=team).exists():
        raise Invalid("team", f"{agent.name} does not work in {team.name}. Choose one of its teams.", "not_in_team")
    agent_files_ensure(agent)
    budget = chosen.budget if max_tokens is None else max_tokens
    request = Request(budget=budget, topic=topic, tokenizer=tokenizer, now=now or timezone.now())
    situation = Situation(agent=agent, team=team, vector=topic_vector(topic), now=request.now)
    candidates, reports = gather(chosen, situation)
    assembled = pipeline.assemble(request, chosen, candidates, counter)
    assembly = record(
        request=request,
        profile=chosen,
        situation=situation,
        candidates=candidates,
        reports=reports,
        assembled=assembled,
        assembly_ms=round((perf_counter() - started) * 1000),
        principal=principal,
    )
    return assembly, assembled.content
