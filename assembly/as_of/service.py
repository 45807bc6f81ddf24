"""What an agent would have been told at a moment: the same reading and the same engine, on what there was then.

Nothing is recorded, nothing is cached, no model is asked for a summary, and no agent notices.
"""

import datetime
from dataclasses import dataclass, replace
from time import monotonic

from agents.models import Agent
from assembly.as_of.limits import Facts, Limit, limits_of
from assembly.as_of.meanings import meanings_restored
from assembly.as_of.moments import refuse_moment
from assembly.as_of.past import past
from assembly.as_of.told import Told
from assembly.asked import Asked, session_named
from assembly.external import SOURCE as EXTERNAL
from assembly.gather import gather
from assembly.gathered import Gathered
from assembly.preparation import Prepared, prepare
from assembly.settling import settle
from assembly.time_budget import TimeBudget
from config.http.errors import Invalid, NotFound
from config.http.tracing import span
from memories.embedders import waiting_at_most
from teams.models import Team
from teams.principal import Principal

SECONDS = 20.0
"""For a look into the past, which finds fewer indexes and is nobody's conversation."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """What would have been told at the moment, and what could not be taken as of then."""

    moment: datetime.datetime
    told: Told
    limits: tuple[Limit, ...]


def assemble_as_of(
    *, agent: Agent, team: Team | None = None, asked: Asked, moment: datetime.datetime, principal: Principal
) -> AsOf:
    """The context that the agent would have got at the moment, whatever `now` the wishes name.

    Raises Invalid for a moment that cannot be looked back to, and as `assembly.service.assemble` does. Whether the
    principal may do this is for the caller to decide; what others deleted is counted for admins alone.
    """
    refuse_moment(agent, moment)
    time = TimeBudget(monotonic(), SECONDS)
    with span("as of"):
        with past(moment, [agent.id, *([team.id] if team else [])]):
            begun = _in_session(agent, asked)
            prepared = prepare(agent, team, begun, moment)
            meaningless = _meaningless(prepared, time)
            gathered = _gathered(prepared, time)
        told = _told(prepared, gathered, time)
    facts = Facts(told=told, meaningless=meaningless, out_of_session=begun != asked, counts=principal.is_admin)
    return AsOf(moment, told, limits_of(agent, team, moment, facts))


def assemble_unrecorded(*, agent: Agent, team: Team | None = None, asked: Asked, now: datetime.datetime) -> Told:
    """The context that the agent would get at this moment, made in the same way: to be laid beside one of the past.

    Raises as `assemble_as_of` does.
    """
    time = TimeBudget(monotonic(), SECONDS)
    prepared = prepare(agent, team, asked, now)
    return _told(prepared, _gathered(prepared, time), time)


def _in_session(agent: Agent, asked: Asked) -> Asked:
    """The wishes; outside any session, where theirs was not begun yet, or is gone."""
    try:
        session_named(agent, asked.session)
    except NotFound:
        return replace(asked, session="")
    return asked


def _meaningless(prepared: Prepared, time: TimeBudget) -> int:
    """How many memories of then cannot be found by meaning. An embedder on a server has the time of one source."""
    if not _asks_by_meaning(prepared):
        return 0
    with waiting_at_most(time.left_for_one_source):
        return meanings_restored()


def _asks_by_meaning(prepared: Prepared) -> bool:
    """Whether something is searched for: where there is no topic, a task may give one."""
    sources = {section.source for section in prepared.profile.sections}
    return bool(prepared.situation.topic.strip()) or "task_stack" in sources


def _gathered(prepared: Prepared, time: TimeBudget) -> Gathered:
    """What the sources have; those elsewhere know nothing of the past and are not asked."""
    agent, team = prepared.situation.agent, prepared.situation.team
    at_hand = tuple(section for section in prepared.profile.sections if section.source != EXTERNAL)
    gathered = gather(replace(prepared.profile, sections=at_hand), prepared.situation, time)
    if team is not None and not gathered.opening.in_team:
        raise Invalid("team", f"{agent.name} does not work in {team.name}. Choose one of its teams.", "not_in_team")
    return gathered


def _told(prepared: Prepared, gathered: Gathered, time: TimeBudget) -> Told:
    ruled = prepared.under_rules(gathered.situation)
    settled = settle(ruled.request, ruled.profile, gathered.candidates, ruled.tokenizer, time, ask_model=False)
    return Told(
        request=ruled.request,
        profile=ruled.profile,
        assembled=settled.assembled,
        candidates=settled.candidates,
        reports=gathered.reports,
        extracted=sum(one.fell_back for one in settled.rounds),
    )
