"""Assembling a context: the one function that REST, pages and commands call."""

import datetime
from dataclasses import replace

from agents.models import Agent
from agents.services import agent_files_provision
from assembly.asked import Asked, recorded, session_named
from assembly.cache import Answer, cache, question
from assembly.engine.profile import Profile
from assembly.engine.signals import parse_signals
from assembly.engine.types import Request
from assembly.gather import Gathered, gather
from assembly.metrics import cache_lookups
from assembly.opening import opening
from assembly.profiles import profile_named
from assembly.profiles.strategy import strategy_applied
from assembly.record import Owners, record
from assembly.repetition import record_again
from assembly.rules.firing import rules_recorded, with_room
from assembly.settling import settle, summaries_recorded
from assembly.sources import Situation
from assembly.time_budget import TimeBudget
from assembly.warnings import codes_of
from assembly.watching import ranked, watched
from config.http.errors import Invalid
from config.http.tracing import span
from config.tokens import Tokenizer, UnknownTokenizer, get_tokenizer
from memories.search import topic_vector
from teams.models import Team
from teams.principal import Principal


@watched
def assemble(*, agent: Agent, team: Team | None = None, asked: Asked, principal: Principal) -> Answer:
    """Assemble and record the context of an agent, in one of its teams or in none.

    What was asked within the last half minute, with nothing changed since, is answered from the cache, under a record
    of its own. Raises Invalid for an unknown profile or tokenizer, a strategy that the profile cannot follow, turns
    that it has no place for, or a team that the agent does not work in; NotFound for a session that is not the
    agent's. Whether the principal may do this is for the caller to decide.
    """
    time = TimeBudget.running(asked.budgets.time_ms)
    wanted = question(agent=agent, team=team, now=asked.now, asked=asked.facts())
    known = cache.recall(wanted, opening(agent, team).changes) if cache.knows(wanted) else None
    if known and (again := record_again(of=known.assembly, principal=principal, assembly_ms=time.elapsed_ms)):
        cache_lookups.count(hit=True)
        return Answer(again, known.content, known.decisions)
    cache_lookups.count(hit=False)
    profile, counter = _profile(asked), tokenizer_named(asked.tokenizer)
    request = _request(asked, profile, wanted.now)
    with span("query"):
        gathered = _gathered(profile, _situation(agent, team, asked, profile, request), time)
    situation = gathered.situation
    profile, request = with_room(profile, situation.rules), replace(request, rules=situation.rules)
    with span("rank") as ranking:
        settled = settle(request, profile, gathered.candidates, counter, time)
        ranking.set_attributes(ranked(settled.assembled))
    assembled, reports = settled.assembled, [*gathered.reports, *([settled.report] if settled.report else [])]
    with span("record"):
        assembly = record(
            request=request,
            profile=profile,
            candidates=settled.candidates,
            reports=reports,
            assembled=assembled,
            warnings=codes_of(assembled, reports, time),
            wishes={
                **recorded(asked, request, situation),
                **rules_recorded(situation, assembled.decisions),
                **summaries_recorded(settled.rounds),
                "quality": assembled.quality,
            },
            assembly_ms=time.elapsed_ms,
            owners=Owners.of(agent, team),
            principal=principal,
        )
    answer = Answer(assembly, assembled.content, assembled.decisions)
    if gathered.may_be_kept and not settled.report and not time.is_over:
        cache.remember(wanted, gathered.opening.changes, answer)
    return answer


def _gathered(profile: Profile, situation: Situation, time: TimeBudget) -> Gathered:
    """What the sources have, once the agent has its files. Raises Invalid for a team that it does not work in."""
    agent, team = situation.agent, situation.team
    gathered = gather(profile, situation, time)
    if team is not None and not gathered.opening.in_team:
        raise Invalid("team", f"{agent.name} does not work in {team.name}. Choose one of its teams.", "not_in_team")
    if gathered.opening.has_files:
        return gathered
    agent_files_provision([agent])
    return gather(profile, situation, time)


def _request(asked: Asked, profile: Profile, now: datetime.datetime) -> Request:
    budget = profile.budget if asked.max_tokens is None else asked.max_tokens
    exclude = tuple(sorted(set(asked.filters.exclude)))
    return Request(budget, asked.topic, asked.tokenizer, now, exclude)


def _profile(asked: Asked) -> Profile:
    profile = strategy_applied(profile_named(asked.profile), asked.strategy)
    if asked.budgets.quality_min is not None:
        profile = replace(profile, quality_min=asked.budgets.quality_min)
    if asked.history and "turns" not in {section.source for section in profile.sections}:
        raise Invalid(
            "history",
            f"The profile “{profile.name}” has no section for turns. Choose another profile, or leave the history out.",
            "no_place",
        )
    if asked.additional_context and "additional_context" not in {section.source for section in profile.sections}:
        raise Invalid(
            "additional_context",
            f"The profile “{profile.name}” has no section for it. Choose another profile, or leave it out.",
            "no_place",
        )
    return profile


def tokenizer_named(name: str) -> Tokenizer:
    """The tokenizer with that name. Raises Invalid, which says which there are."""
    try:
        return get_tokenizer(name)
    except UnknownTokenizer as error:
        raise Invalid("tokenizer", str(error), "unknown") from None


def _situation(agent: Agent, team: Team | None, asked: Asked, profile: Profile, request: Request) -> Situation:
    return Situation(
        agent=agent,
        team=team,
        vector=topic_vector(asked.topic),
        now=request.now,
        topic=asked.topic,
        signals=parse_signals(asked.topic),
        session=session_named(agent, asked.session),
        history=asked.history,
        filters=asked.filters,
        additional_context=asked.additional_context,
        depth_limit=profile.depth_limit,
        ranker=profile.ranker,
    )
