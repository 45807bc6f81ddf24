"""A second round reads the sources of its plan in a snapshot of its own, within what is left of the request's time.

What the first round has stays as it is, also if it has changed since: of an item, only one version is a candidate. Only
what the request says itself leaves the house: the names that are added to the query are those that it names.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from assembly.engine.profile import Profile
from assembly.engine.query_signals import name_forms, parse_signals
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate
from assembly.pipeline.gather import GatherRun
from assembly.pipeline.query_embedding import embed_topic
from assembly.pipeline.read_plan import GatherResult, ReadStep
from assembly.pipeline.second_round import AROUND_ENTITIES, SecondPlan, SecondRound
from assembly.pipeline.telemetry import log_late_sources
from assembly.sources.base import EMBEDDER, GatherContext
from assembly.sources.entities import find_nearby
from assembly.sources.external.questions import EXTERNAL_SOURCE
from assembly.sources.time_budget import TimeBudget
from memories.embeddings.base import embedder_deadline
from teams.sensitivity import reading_as

LIMIT_FACTOR = 2
"""The factor of the sources' limits (seed "Memory Layer")."""


def read_second_round(profile: Profile, plan: SecondPlan, first: GatherResult, time: TimeBudget) -> GatherResult:
    """Return the first round's result with the candidates that the second round adds, and with its account.

    A source that fails or is late adds nothing, and its report says so. Raises django.db's errors only if no
    transaction can begin any more; TooCostly and TookTooLong.
    """
    begun = time.elapsed_ms
    with reading_as(first.gather_context.clearances):
        run = _SecondRun(replace(profile, sections=plan.sections), _wider_context(plan, first, time), time)
        run.read(plan)
    added = _added(first.candidates, run.candidates)
    account = SecondRound(
        shortfall=plan.shortfall,
        outcome="added" if added else "nothing_new",
        first=len(first.candidates),
        started_ms=begun,
        ms=time.elapsed_ms - begun,
        query=plan.query if plan.is_wider else "",
        nearby=len(run.gather_context.nearby),
        added=_by_report(plan, added),
        reports=tuple(run.reports.values()),
    )
    cost = first.cost + run.statements.cost
    return replace(first, candidates=[*first.candidates, *added], cost=cost, second_round=account)


def _wider_context(plan: SecondPlan, first: GatherResult, time: TimeBudget) -> GatherContext:
    """Return the context for the sources with the wider query and doubled limits.

    The intent of the query stays: it is that of the request's own words.
    """
    wider = replace(first.gather_context, limit_factor=LIMIT_FACTOR)
    if not plan.is_wider:
        return wider
    keywords = parse_signals(plan.query).keywords
    wider = replace(wider, topic=plan.query, vector=None, signals=replace(wider.signals, keywords=keywords))
    if any(report.name == EMBEDDER for report in first.reports):  # it failed, and would take the time to fail again
        return wider
    return replace(wider, vector=embed_topic(plan.query, time, level=wider.topic_sensitivity).direction)


@dataclass(slots=True)
class _SecondRun(GatherRun):
    """The state of a second round: the sources are read one by one, each within its deadline."""

    def read(self, plan: SecondPlan) -> None:
        """Read the sources of the plan, and wait for the external ones while there is time."""
        around = tuple(sorted({one.source for one in plan.sections if one.source in AROUND_ENTITIES}))
        if around and plan.shortfall.names:
            self.parts.append(ReadStep(around, partial(self._find_nearby, plan.shortfall.names)))
        self.parts.append(ReadStep((), self._plan_remaining))
        with embedder_deadline(self.time.seconds_for_sources):
            self._read_parts()
        self._collect_external()
        log_late_sources(self.reports.values(), self.time.elapsed_ms)

    def _find_nearby(self, names: Sequence[str]) -> None:
        forms = [form for name in names for form in name_forms(" ".join(name.lower().split()))]
        found = find_nearby(self.gather_context, [*dict.fromkeys(filter(None, forms))])
        self.gather_context = replace(self.gather_context, nearby=found)


def _added(first: Sequence[Candidate], second: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates of the second round that the first does not have, in any version, each once."""
    known = {(one.section, one.ref) for one in first}
    versions: dict[str, str] = {}
    for one in first:
        ref = Ref.parse(one.ref)
        versions[ref.item] = ref.version
    added: dict[tuple[str, str], Candidate] = {}
    for one in second:
        ref, place = Ref.parse(one.ref), (one.section, one.ref)
        if place not in known and versions.get(ref.item, ref.version) == ref.version:
            added.setdefault(place, one)
            versions[ref.item] = ref.version
    return [*added.values()]


def _by_report(plan: SecondPlan, added: Sequence[Candidate]) -> dict[str, int]:
    names = {
        one.key: f"{EXTERNAL_SOURCE}:{one.key}" if one.source == EXTERNAL_SOURCE else one.source
        for one in plan.sections
    }
    return dict(Counter(names[one.section] for one in added))
