"""A draft preview assembles a context twice: with the published texts, and with others in their place.

Both come from one gathering, so that every difference is due to the texts. Nothing is recorded and no model is asked.
"""

import hashlib
from collections.abc import Mapping

from agents.models import Agent
from assembly.comparison.side_by_side import SideBySide
from assembly.pipeline.answer_cache import AssemblyCache, cache_key
from assembly.pipeline.prepare import gather_candidates, prepare
from assembly.pipeline.read_plan import load_preconditions
from assembly.pipeline.request import AssemblyRequest
from assembly.simulation.basis import SimulationBasis
from assembly.simulation.simulate import Overrides, simulate
from assembly.sources.time_budget import TimeBudget
from config.observability.tracing import span
from teams.models import Team

MAX_BYTES = 8_000_000

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


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
