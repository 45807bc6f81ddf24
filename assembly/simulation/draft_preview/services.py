"""A draft preview assembles a context twice: with the published texts, and with others in their place.

Both come from one gathering, so that every difference is due to the texts. Nothing is recorded and no model is asked.
"""

import datetime
import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.models import Agent, DailyLog
from assembly.engine.codes import WarningCode
from assembly.engine.diff import ContextDiff, diff_contexts, named
from assembly.engine.profile import Profile
from assembly.engine.types import Candidate, EngineRequest, EngineResult, candidate_text_bytes
from assembly.pipeline.answer_cache import AssemblyCache, cache_key
from assembly.pipeline.prepare import PreparedAssembly, gather_candidates, prepare
from assembly.pipeline.read_plan import GatherResult, load_preconditions
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.summaries.resolve import SummarisedResult, assemble_with_summaries
from assembly.sources.base import GatherContext, SourceReport
from assembly.sources.files import log_days
from assembly.sources.time_budget import TimeBudget
from config.observability.tracing import span
from teams.models import Team

DRAFT = "draft"
"""Stands for the version in the ref of a text that is tried."""
DAILY_LOGS = "daily_logs"
MAX_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class DraftPreview:
    """A context now, and as it would be. `request` and `profile` are those of both."""

    request: EngineRequest
    profile: Profile
    before: EngineResult
    after: EngineResult
    candidates: Mapping[str, Candidate] = field(repr=False)
    """What was considered for either, by ref."""
    reports: Sequence[SourceReport]
    comparison: ContextDiff
    extracted: int
    """Summaries that a model would be asked for; here they are extracts."""

    @property
    def new_warnings(self) -> list[WarningCode]:
        """What the reader would have to know besides."""
        return [code for code in self.after.warnings if code not in self.before.warnings]

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        texts = sum(candidate_text_bytes(candidate.text) for candidate in self.candidates.values())
        return texts + sys.getsizeof(self.before.content) + sys.getsizeof(self.after.content)


kept = AssemblyCache[DraftPreview](MAX_BYTES)
"""Trials of the last half minute: whoever asks for the same, with nothing changed since, gets the same."""


def preview_drafts(
    *, agent: Agent, team: Team | None = None, asked: AssemblyRequest, texts: Mapping[str, str]
) -> DraftPreview:
    """What the texts would change in the context, each by what it is about (`VersionedFile.about`).

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
        tried = _preview_gathered(prepared.with_fired_rules(gathered.gather_context), gathered, texts, time)
    if gathered.is_cacheable:
        kept.remember(wanted, gathered.preconditions.changes, tried)
    return tried


def _preview_gathered(
    prepared: PreparedAssembly, gathered: GatherResult, texts: Mapping[str, str], time: TimeBudget
) -> DraftPreview:
    now = _assemble_candidates(prepared, gathered.candidates, time)
    would = _assemble_candidates(prepared, _with_texts(prepared, gathered, texts), time)
    return DraftPreview(
        request=prepared.request,
        profile=prepared.profile,
        before=now.assembled,
        after=would.assembled,
        candidates={one.ref: one for settled in (now, would) for one in settled.candidates},
        reports=gathered.reports,
        comparison=diff_contexts(now.assembled, would.assembled),
        extracted=sum(one.fell_back for one in would.rounds),
    )


def _assemble_candidates(
    prepared: PreparedAssembly, candidates: Sequence[Candidate], time: TimeBudget
) -> SummarisedResult:
    request, profile, tokenizer = prepared.request, prepared.profile, prepared.tokenizer
    return assemble_with_summaries(request, profile, candidates, tokenizer, time, ask_model=False)


def _with_texts(prepared: PreparedAssembly, gathered: GatherResult, texts: Mapping[str, str]) -> list[Candidate]:
    """The candidates as they would be; where a day has no log yet, the one that it would have is among them."""
    agent = prepared.gather_context.agent
    placed = [_with_text(one, texts.get(_draft_subject(one, agent))) for one in gathered.candidates]
    return placed + _new_log_candidates(prepared, gathered, texts)


def _with_text(candidate: Candidate, text: str | None) -> Candidate:
    if text is None or text == candidate.text:
        return candidate
    return replace(candidate, text=text, ref=f"{named(candidate.ref)}@{DRAFT}")


def _draft_subject(candidate: Candidate, agent: Agent) -> str:
    """What the candidate is about, as drafts say it."""
    if candidate.ref.startswith("daily_log:") and candidate.date:
        return DailyLog(agent=agent, date=candidate.date).about
    return named(candidate.ref)


def _new_log_candidates(
    prepared: PreparedAssembly, gathered: GatherResult, texts: Mapping[str, str]
) -> list[Candidate]:
    """The logs that would be begun on days which are told of; none where the logs could not be read."""
    if any(report.name == DAILY_LOGS and report.code for report in gathered.reports):
        return []
    known = {one.date for one in gathered.candidates if one.ref.startswith("daily_log:")}
    days = [day for day in _days(prepared.gather_context) if day not in known]
    logs = [DailyLog(agent=prepared.gather_context.agent, date=day) for day in days]
    return [
        Candidate(ref=f"{log.about}@{DRAFT}", section=section.key, text=texts[log.about], date=log.date)
        for section in prepared.profile.sections
        if section.source == DAILY_LOGS
        for log in logs
        if log.about in texts
    ]


def _days(gather_context: GatherContext) -> list[datetime.date]:
    first, last = log_days(gather_context)
    return [datetime.date.fromordinal(day) for day in range(first.toordinal(), last.toordinal() + 1)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
