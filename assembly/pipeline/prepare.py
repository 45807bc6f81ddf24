"""Preparation turns a request into the input of the engine and the sources."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.models import Agent
from agents.services import agent_files_provision
from assembly.engine.assemble import FAILURE_NOTE
from assembly.engine.codes import SourceCode
from assembly.engine.profile import Profile, stricter_mode
from assembly.engine.query_signals import NO_SIGNALS, parse_signals
from assembly.engine.tokenizers import Tokenizer, UnknownTokenizer, get_tokenizer
from assembly.engine.types import Candidate, EngineRequest
from assembly.masking.placeholders import Masker
from assembly.pipeline.gather import gather
from assembly.pipeline.read_plan import GatherResult
from assembly.pipeline.reconciliations import conflicts_of_candidates, match_conflicts
from assembly.pipeline.request import AssemblyRequest, find_session
from assembly.pipeline.request_sections import add_request_sections
from assembly.profiles.catalogue import find_profile
from assembly.profiles.learned_weights import apply_learned_weights
from assembly.profiles.request_overrides import apply_strategy
from assembly.profiles.shipped import CONVERSATION
from assembly.profiles.tuning_versions import apply_tuning
from assembly.rules.evaluation import add_inclusion_section
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, SourceReport
from assembly.sources.external.questions import EXTERNAL_SOURCE
from assembly.sources.readings import Readings
from assembly.sources.time_budget import TimeBudget
from config.http.errors import Forbidden, Invalid
from teams.models import Team
from teams.sensitivity import DEFAULT_LEVEL, Clearances, Sensitivity, clearances_for, reading_as

FAILURE_NOTE_REF = "note:unavailable_sources"


@dataclass(frozen=True, slots=True)
class PreparedAssembly:
    """A prepared request: the engine's request, the profile, the tokenizer, and the context for the sources."""

    request: EngineRequest
    profile: Profile
    tokenizer: Tokenizer
    gather_context: GatherContext
    readings: Readings | None = None
    """Readings that were made before the request came, because it was expected."""
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """Keyed hashes of the values that are masked, by placeholder: see `Masker`."""

    def with_gathered(self, gathered: GatherResult) -> "tuple[PreparedAssembly, Sequence[Candidate]]":
        """Return a copy with the rules that fired, the known conflicts of the candidates, and all candidates, in whose
        texts placeholders stand for personal data if the profile masks it.

        Rules add a section for what they always include, failed sources one for a line at the end of the context.
        """
        request, profile, candidates = self.request, self.profile, gathered.candidates
        fingerprints: Mapping[str, str] = {}
        if profile.privacy_mode != "off":
            masker = Masker()
            candidates = [masker.masked_candidate(candidate) for candidate in candidates]
            fingerprints = masker.fingerprints
        if rules := gathered.gather_context.rules:
            request, profile = replace(request, rules=rules), add_inclusion_section(profile, rules)
        if profile.report_failures and (note := failure_note(profile, gathered.reports)):
            profile = replace(profile, sections=(*profile.sections, FAILURE_NOTE))
            candidates = [*candidates, note]
        if gathered.conflicts:
            known = conflicts_of_candidates(gathered.conflicts, gathered.gather_context, candidates)
            request = replace(request, reconciliations=match_conflicts(known, candidates))
        ruled = replace(
            self,
            request=request,
            profile=profile,
            gather_context=gathered.gather_context,
            fingerprints=fingerprints,
        )
        return ruled, candidates


def prepare(
    agent: Agent,
    team: Team | None,
    asked: AssemblyRequest,
    now: datetime.datetime,
    draft: Profile | None = None,
    *,
    clearances: Clearances | None = None,
) -> PreparedAssembly:
    """Return the prepared request for the moment `now`; a draft takes the place of the profile of the same name.

    The sources read up to the clearances of who asks, by default the current reader, and never above the agent's.

    Raises Invalid for an unknown profile or tokenizer, or a strategy that the profile cannot follow; NotFound for a
    session that is not the agent's.
    """
    asked = asked.for_agent(agent)
    profile, counter = _requested_profile(asked, draft), find_tokenizer(asked.tokenizer)
    request = _engine_request(asked, profile, now)
    if clearances is None:
        clearances = request_clearances(agent, team)
    if profile.privacy_mode == "strict":
        clearances = clearances.limited_to(DEFAULT_LEVEL)
    with reading_as(clearances):
        gather_context = _gather_context(agent, team, asked, profile, request)
    gather_context = replace(gather_context, clearances=clearances, tokenizer=counter)
    return PreparedAssembly(request, profile, counter, gather_context)


def request_clearances(agent: Agent, team: Team | None) -> Clearances:
    """Return the clearances of a request by the current reader for the agent, in the team: the lower of both."""
    return clearances_for(agent=agent.id, team=team.id if team else None).limited_to(agent.clearance)


def require_clearance(asked: AssemblyRequest, clearances: Clearances, team: Team | None) -> None:
    """Check that the clearances of a request cover the sensitivity of its own texts. Raises Forbidden."""
    if asked.sensitivity > DEFAULT_LEVEL and not clearances.covers(asked.sensitivity, team=team is not None):
        level = min(clearances.agent, clearances.team if team else clearances.agent)
        raise Forbidden(
            f"Contexts of this agent are at most {Sensitivity(level).word} for you, so the texts of your request "
            f"cannot be {Sensitivity(asked.sensitivity).word}. Nothing was recorded. An admin can raise the clearance "
            "of the agent, or give your key a scope."
        )


def gather_candidates(prepared: PreparedAssembly, time: TimeBudget, *, trust_cache: bool = False) -> GatherResult:
    """Gather the candidates; if the agent's files are missing, create these and gather again.

    With `trust_cache`, cached rows are used without checking them; the INSERT of the record checks them later. Raises
    Invalid for a team in which the agent does not work.
    """
    agent, team = prepared.gather_context.agent, prepared.gather_context.team
    gathered = gather(
        prepared.profile, prepared.gather_context, time, trust_cache=trust_cache, readings=prepared.readings
    )
    is_outside_team = team is not None and not gathered.preconditions.in_team
    if gathered.preconditions.has_files and not is_outside_team:
        return gathered
    if trust_cache:  # the cached preconditions may be out of date
        return gather_candidates(prepared, time)
    if team is not None and is_outside_team:
        raise Invalid("team", f"{agent.name} does not work in {team.name}. Choose one of its teams.", "not_in_team")
    agent_files_provision([agent])
    return gather(prepared.profile, prepared.gather_context, time)


def find_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer with this name. Raises Invalid, which lists the known names."""
    try:
        return get_tokenizer(name)
    except UnknownTokenizer as error:
        raise Invalid("tokenizer", str(error), "unknown") from None


def _engine_request(asked: AssemblyRequest, profile: Profile, now: datetime.datetime) -> EngineRequest:
    budget = profile.budget if asked.max_tokens is None else asked.max_tokens
    exclude = tuple(sorted(set(asked.filters.exclude)))
    return EngineRequest(budget, asked.topic, asked.tokenizer, now, exclude)


def _requested_profile(asked: AssemblyRequest, draft: Profile | None) -> Profile:
    is_draft = draft is not None and draft.name == asked.profile
    profile = draft if draft and is_draft else find_profile(asked.profile)
    is_tunable = profile.name != CONVERSATION.name  # otherwise it never changes, so nothing has to be read
    if is_tunable and not is_draft:  # weights were learned for the published version
        profile = apply_learned_weights(profile)
    if asked.strategy:
        profile = apply_strategy(profile, asked.strategy)
    if is_tunable:
        profile = apply_tuning(profile)
    if asked.budgets.quality_min is not None:
        profile = replace(profile, quality_min=asked.budgets.quality_min)
    profile = replace(profile, privacy_mode=stricter_mode(profile.privacy_mode, asked.privacy_mode))
    return add_request_sections(profile, asked) if asked.history or asked.additional_context else profile


def _gather_context(
    agent: Agent, team: Team | None, asked: AssemblyRequest, profile: Profile, request: EngineRequest
) -> GatherContext:
    return GatherContext(
        agent=agent,
        team=team,
        now=request.now,
        topic=asked.topic,
        signals=parse_signals(asked.topic) if asked.topic.strip() else NO_SIGNALS,
        entities=asked.entities,
        session=find_session(agent, asked.session),
        history=asked.history,
        filters=asked.filters,
        additional_context=asked.additional_context,
        sender_origin=asked.sender_origin,
        sensitivity=asked.sensitivity,
        budget=request.budget,
        depth_limit=profile.depth_limit,
        ranker=profile.ranker,
        scope_limits=profile.scope_limits,
    )


def failure_note(profile: Profile, reports: Sequence[SourceReport]) -> Candidate | None:
    """Return the line that tells the reader of a context which sources failed or were late.

    It is an item of a section of its own, after everything else, so that nothing before it moves. Returns None if no
    source failed, or only servers of models did, or sources were not asked because of the sensitivity.
    """
    failed = [one for one in reports if one.code and one.code is not SourceCode.SOURCE_NOT_ASKED]
    labels = [label for report in failed if (label := _source_label(report.name, profile))]
    if not labels:
        return None
    text = f"Not available at the moment: {', '.join(labels)}. What is known there may be missing above."
    return Candidate(FAILURE_NOTE_REF, FAILURE_NOTE.key, text, kind="note")


def _source_label(name: str, profile: Profile) -> str:
    """Return the name of a source for readers of contexts; empty for an embedder or a summariser."""
    if name in SOURCES:
        return SOURCES[name].label
    source, _, key = name.partition(":")
    labels = {section.key: section.label for section in profile.sections}
    return labels.get(key, "") if source == EXTERNAL_SOURCE else ""
