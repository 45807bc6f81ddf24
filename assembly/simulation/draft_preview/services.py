"""A draft preview assembles a context twice: with the published texts, and with drafts in their place.

Both contexts use the same gathered candidates, so every difference is caused by the texts. Nothing is recorded and no
language model is called.
"""

import datetime
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic

from agents.models import Agent, AgentFile, DailyLog
from assembly.comparison.side_by_side import SideBySide
from assembly.pipeline.answer_cache import AssemblyCache, cache_key
from assembly.pipeline.prepare import prepare, request_clearances
from assembly.pipeline.read_plan import load_preconditions
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.rounds import gather_in_rounds
from assembly.simulation.basis import SimulationBasis
from assembly.simulation.simulate import Overrides, simulate
from assembly.sources.time_budget import TimeBudget
from config.http.errors import Invalid
from config.invisible_characters import remove_invisible
from config.observability.tracing import span
from teams.models import OrganisationFile, Team, TeamFile
from teams.sensitivity import may_cache

MAX_BYTES = 8_000_000
MAX_AGENTS = 20
"""The maximum number of agents that are previewed together."""
SECONDS = 3.0
"""Seconds after which no further agent is started."""

kept = AssemblyCache[SideBySide](MAX_BYTES, name="draft_previews")
"""The cache of previews of the last 30 seconds, for repeated requests without changes in between."""


def preview_drafts(
    *, agent: Agent, team: Team | None = None, asked: AssemblyRequest, texts: Mapping[str, str]
) -> SideBySide:
    """Return the agent's context with the published texts and with the drafts in `texts`, side by side.

    `texts` are drafts by the ref of their file or log (`VersionedFile.about`); drafts of texts outside this context
    change nothing. Raises as `assembly.pipeline.services.assemble` does. The caller checks permissions.
    """
    asked = asked.for_agent(agent)
    texts = {about: remove_invisible(text) for about, text in texts.items()}  # as publishing does
    facts = {**asked.facts(), "texts": {about: _hash(text) for about, text in texts.items()}}
    clearances = request_clearances(agent, team)
    wanted = cache_key(agent=agent, team=team, now=asked.now, asked=facts, clearances=clearances)
    known = kept.recall(wanted, load_preconditions(agent, team).changes) if kept.knows(wanted) else None
    if known:
        return known
    time = TimeBudget.starting_now(asked.budgets.time_ms)
    with span("try texts"):
        prepared = prepare(agent, team, asked, wanted.now, clearances=clearances)
        gathered = gather_in_rounds(prepared, time)
        basis = SimulationBasis.of(prepared, gathered, time)
        found = SideBySide.of(simulate(basis), simulate(basis, Overrides(texts=texts)))
    level = max((one.sensitivity for one in found.before.inputs.candidates), default=asked.sensitivity)
    if gathered.is_cacheable and may_cache(max(level, asked.sensitivity)):
        kept.remember(wanted, gathered.preconditions.changes, found)
    return found


def preview_drafts_by_agent(
    *,
    agents: Sequence[Agent],
    team_of: Callable[[Agent], Team | None],
    asked: AssemblyRequest,
    texts: Mapping[str, str],
) -> Iterator[tuple[Agent, SideBySide]]:
    """Yield the preview of each agent in its team, of at most 20 agents and for three seconds; at least one is always
    previewed.
    """
    begun = monotonic()
    for place, agent in enumerate(agents[:MAX_AGENTS]):
        if place and monotonic() - begun > SECONDS:
            return
        yield agent, preview_drafts(agent=agent, team=team_of(agent), asked=asked, texts=texts)


def texts_by_subject(
    agent: Agent,
    team: Team | None,
    *,
    files: Mapping[str, str],
    logs: Mapping[datetime.date, str],
    organisation_files: Mapping[str, str],
) -> dict[str, str]:
    """Return the texts of files, by key, and of logs, by day, by their subject.

    A file that does not exist yet is omitted; Invalid is raised for an unknown file of the organisation.
    """
    of_organisation = {file.file_key: file for file in OrganisationFile.objects.filter(file_key__in=organisation_files)}
    for key in organisation_files:
        if key not in of_organisation:
            raise Invalid(f"organisation_files.{key}", f"The organisation has no file “{key[:60]}”.", "unknown")
    of_agent = AgentFile.objects.filter(agent=agent, file_key__in=files)
    of_team = TeamFile.objects.filter(team=team, file_key__in=files)
    return {
        **{file.about: files[file.file_key] for file in of_agent},
        **{file.about: files[file.file_key] for file in of_team},
        **{file.about: organisation_files[key] for key, file in of_organisation.items()},
        **{DailyLog(agent=agent, date=day).about: text for day, text in logs.items()},
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
