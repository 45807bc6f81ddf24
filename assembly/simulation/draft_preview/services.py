"""A draft preview assembles a context twice: with the published texts, and with others in their place.

Both come from one gathering, so that every difference is due to the texts. Nothing is recorded and no model is asked.
"""

import datetime
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

from agents.models import Agent, AgentFile, DailyLog
from assembly.comparison.side_by_side import SideBySide
from assembly.pipeline.answer_cache import AssemblyCache, cache_key
from assembly.pipeline.prepare import gather_candidates, prepare
from assembly.pipeline.read_plan import load_preconditions
from assembly.pipeline.request import AssemblyRequest
from assembly.simulation.basis import SimulationBasis
from assembly.simulation.simulate import Overrides, simulate
from assembly.sources.time_budget import TimeBudget
from config.observability.tracing import span
from teams.models import Team, TeamFile

MAX_BYTES = 8_000_000
MAX_AGENTS = 20
"""Of a team that are looked at together."""
SECONDS = 3.0
"""After this time no further agent is begun."""

kept = AssemblyCache[SideBySide](MAX_BYTES)
"""Previews of the last half minute: whoever asks for the same, with nothing changed since, gets the same."""


def preview_drafts(
    *, agent: Agent, team: Team | None = None, asked: AssemblyRequest, texts: Mapping[str, str]
) -> SideBySide:
    """Return the context as it is and with the texts, each by what it is about (`VersionedFile.about`).

    Texts that this context is not made of change nothing. Raises as `assembly.pipeline.services.assemble` does; whether
    somebody may do this is for the caller to decide.
    """
    facts = {**asked.facts(), "texts": {about: _hash(text) for about, text in texts.items()}}
    wanted = cache_key(agent=agent, team=team, now=asked.now, asked=facts)
    known = kept.recall(wanted, load_preconditions(agent, team).changes) if kept.knows(wanted) else None
    if known:
        return known
    time = TimeBudget.starting_now(asked.budgets.time_ms)
    with span("try texts"):
        prepared = prepare(agent, team, asked, wanted.now)
        gathered = gather_candidates(prepared, time)
        basis = SimulationBasis.of(prepared, gathered, time)
        found = SideBySide.of(simulate(basis), simulate(basis, Overrides(texts=texts)))
    if gathered.is_cacheable:
        kept.remember(wanted, gathered.preconditions.changes, found)
    return found


def preview_drafts_by_agent(
    *, agents: Sequence[Agent], team: Team | None, asked: AssemblyRequest, texts: Mapping[str, str]
) -> Iterator[tuple[Agent, SideBySide]]:
    """Yield the preview of each agent, of at most 20 and for three seconds; of one, however little time there is."""
    begun = monotonic()
    for place, agent in enumerate(agents[:MAX_AGENTS]):
        if place and monotonic() - begun > SECONDS:
            return
        yield agent, preview_drafts(agent=agent, team=team, asked=asked, texts=texts)


def texts_by_subject(
    agent: Agent, team: Team | None, *, files: Mapping[str, str], logs: Mapping[datetime.date, str]
) -> dict[str, str]:
    """Return the texts of files, by key, and of logs, by day, by what they are about. A file that is not there yet is
    left out.
    """
    of_agent = AgentFile.objects.filter(agent=agent, file_key__in=files)
    of_team = TeamFile.objects.filter(team=team, file_key__in=files)
    return {
        **{file.about: files[file.file_key] for file in of_agent},
        **{file.about: files[file.file_key] for file in of_team},
        **{DailyLog(agent=agent, date=day).about: text for day, text in logs.items()},
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
