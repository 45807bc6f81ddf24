"""Time travel assembles a context from the data of an earlier moment, by the same sources and the same engine.

Nothing is recorded or cached, and no language model is called. `find_nearest_contexts` returns the recorded contexts
that are nearest to the moment.
"""

import datetime
from dataclasses import dataclass, replace
from time import monotonic
from zoneinfo import ZoneInfo

from django.utils import timezone

from agents.models import Agent
from assembly.comparison.side_by_side import ComparedContext
from assembly.models import Assembly
from assembly.pipeline.gather import gather
from assembly.pipeline.prepare import PreparedAssembly, prepare
from assembly.pipeline.request import AssemblyRequest
from assembly.simulation.basis import ContextOwners, SimulationBasis, prepare_without_lost_session
from assembly.simulation.simulate import simulate
from assembly.simulation.time_travel.limitations import Limitation, PastContextFacts, limitations_of
from assembly.simulation.time_travel.shadow_tables import database_as_of, restore_embeddings
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from assembly.sources.file_passages import unsplit_files
from assembly.sources.time_budget import TimeBudget
from config.http.errors import Invalid
from config.observability.tracing import span
from memories.embeddings.active_model import read_active_model
from memories.embeddings.base import embedder_deadline
from memories.embeddings.registry import is_bundled
from teams.models import Team
from teams.principal import Principal

COLUMNS = (
    *("id", "created", "agent_id", "agent_name", "team_id", "team_name", "topic", "profile_name", "tokens", "budget"),
    "sensitivity",
)


@dataclass(frozen=True, slots=True)
class NearestContexts:
    """The last context up to the moment, and the first one after it; None if there is none that the
    principal may read.
    """

    before: Assembly | None
    after: Assembly | None


def find_nearest_contexts(
    *, agent: Agent, team: Team | None, moment: datetime.datetime, principal: Principal
) -> NearestContexts:
    """Return the nearest contexts for the agent in the team; without a team, in any team or none."""
    contexts = Assembly.objects.for_agents().visible_to(principal).filter(agent_id=agent.id).only(*COLUMNS)
    if team:
        contexts = contexts.filter(team_id=team.id)
    return NearestContexts(
        before=contexts.filter(created__lte=moment).order_by("-created", "-id").first(),
        after=contexts.filter(created__gt=moment).order_by("created", "id").first(),
    )


def require_valid_moment(agent: Agent, moment: datetime.datetime) -> None:
    """Raise Invalid for a moment in the future, or before the agent was created."""
    if moment > timezone.now():
        raise Invalid("at", "This time is in the future. Choose an earlier one.", "future")
    if moment < agent.created:
        began = f"{agent.created.astimezone(ZoneInfo(agent.timezone)):%Y-%m-%d %H:%M:%S}"
        detail = f"{agent.name} was created on {began} ({agent.timezone}). Choose a later time."
        raise Invalid("at", detail, "before_agent")


def last_noon(agent: Agent) -> datetime.datetime:
    """Return the last noon in the agent's time zone; for a younger agent, the current minute."""
    now = timezone.now().astimezone(ZoneInfo(agent.timezone))
    noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
    noon = noon if noon <= now else noon - datetime.timedelta(days=1)
    return noon if noon >= agent.created else now.replace(second=0, microsecond=0)


SECONDS = 20.0
"""The time limit in seconds: it is generous, because fewer indexes can be used and no agent waits."""


@dataclass(frozen=True, slots=True)
class PastContext:
    """The context as of the moment, with its limitations."""

    moment: datetime.datetime
    context: ComparedContext
    limits: tuple[Limitation, ...]


def assemble_as_of(
    *, agent: Agent, team: Team | None = None, asked: AssemblyRequest, moment: datetime.datetime, principal: Principal
) -> PastContext:
    """Assemble the context that the agent would have got at the moment, whatever `now` the request has.

    Raises Invalid for an invalid moment, and as `assembly.pipeline.services.assemble` does. The caller checks
    permissions.
    """
    require_valid_moment(agent, moment)
    owners, time = ContextOwners(agent, team), TimeBudget(monotonic(), SECONDS)
    with span("as of"):
        with database_as_of(moment, [agent.id, *([team.id] if team else [])]):
            prepared, session_gone = prepare_without_lost_session(owners, asked, moment)
            unsearchable_count = _count_unsearchable(prepared, time)
            former_texts = unsplit_files(prepared.gather_context, prepared.profile.sections)
            basis = _gather_past(prepared, time)
        context = simulate(basis)
    by_words = _uses_similarity(prepared) and not is_bundled(read_active_model().model)
    facts = PastContextFacts(
        context=context,
        unsearchable_count=unsearchable_count,
        worded_count=len(former_texts) if by_words else 0,
        cut_count=sum(text.is_cut for text in former_texts),
        session_ignored=session_gone,
        counts=principal.is_admin,
    )
    return PastContext(moment, context, limitations_of(agent, team, moment, facts))


def assemble_unrecorded(
    *, agent: Agent, team: Team | None = None, asked: AssemblyRequest, now: datetime.datetime
) -> ComparedContext:
    """Assemble the context that the agent would get now, in the same way, to be compared with one of the past.

    Raises as `assemble_as_of` does.
    """
    return simulate(_gather_past(prepare(agent, team, asked, now), TimeBudget(monotonic(), SECONDS)))


def _count_unsearchable(prepared: PreparedAssembly, time: TimeBudget) -> int:
    """Return how many memories of that time cannot be found by similarity.

    A remote embedder has the time of one source.
    """
    if not _uses_similarity(prepared):
        return 0
    with embedder_deadline(time.seconds_for_one_source):
        return restore_embeddings()


def _uses_similarity(prepared: PreparedAssembly) -> bool:
    """Return whether there is a text to search for: without a topic, a task may have one."""
    sources = {section.source for section in prepared.profile.sections}
    return bool(prepared.gather_context.topic.strip()) or "task_stack" in sources


def _gather_past(prepared: PreparedAssembly, time: TimeBudget) -> SimulationBasis:
    """Return what the sources return; external sources know nothing of the past and are not read."""
    agent, team = prepared.gather_context.agent, prepared.gather_context.team
    at_hand = tuple(section for section in prepared.profile.sections if section.source != EXTERNAL)
    gathered = gather(replace(prepared.profile, sections=at_hand), prepared.gather_context, time)
    if team is not None and not gathered.preconditions.in_team:
        raise Invalid("team", f"{agent.name} does not work in {team.name}. Choose one of its teams.", "not_in_team")
    return SimulationBasis.of(prepared, gathered, time)
