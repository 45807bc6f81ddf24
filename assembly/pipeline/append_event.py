"""An event is added to a finished context by making a new assembly that is linked to the old one.

Source: "Incremental Updates" of the seed "Context Assembly Specification".
"""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from msgspec import structs

from agents.models import Agent
from assembly.engine import assemble
from assembly.engine.assemble import LATEST_SECTION
from assembly.engine.item_formats import format_event
from assembly.engine.profile import Profile
from assembly.engine.rendering import render_item
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, EngineRequest
from assembly.masking.placeholders import Masker
from assembly.models import Assembly, Purpose
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.telemetry import traced_assembly
from assembly.records.reader import StoredAssembly, content_of, load_record
from assembly.records.record import RecordOwners, record
from assembly.rules.evaluation import rules_from_record
from assembly.sources.base import SourceReport, origin_of
from config.http.errors import Conflict, NotFound
from memories.models import Event
from memories.services import events_create
from teams.principal import Principal


@traced_assembly
def append_event(*, assembly: Assembly, event: Event, principal: Principal) -> AssemblyResult:
    """Record a new assembly: the context with the event as its newest item; the weakest items are excluded to fit.

    The included items have the text that they had in the context, whatever was changed since. Raises RecordDamaged.
    """
    started = perf_counter()
    told = load_record(assembly)
    # The context's items were returned already, so none of them is shortened or filled in now.
    fixed_profile = replace(told.inputs.profile, over_budget=(), fill=False)
    profile = _with_latest_section(fixed_profile)
    kept = _included_candidates(told, profile)
    newest = _event_candidate(event)
    masker = Masker((candidate.text for candidate in kept), assembly.request.get("placeholders"))
    if profile.privacy_mode != "off":
        newest = masker.masked_candidate(newest)
    candidates = [newest, *(_moved_down(candidate) for candidate in kept if candidate.ref != newest.ref)]
    request = EngineRequest(
        assembly.budget,
        assembly.topic,
        assembly.tokenizer,
        max(assembly.now, timezone.now()),
        appended=newest.ref,
        rules=rules_from_record(assembly.request),
    )
    assembled = assemble.assemble(request, profile, candidates, get_tokenizer(assembly.tokenizer))
    appended = record(
        request=request,
        profile=profile,
        candidates=candidates,
        reports=[SourceReport("recent_events", 1, 1, 0)],
        assembled=assembled,
        warnings=assembled.warnings,
        wishes={**_request_details(assembly), **_placeholders_of(masker), "appended": newest.ref},
        assembly_ms=round((perf_counter() - started) * 1000),
        owners=RecordOwners.recorded(assembly),
        principal=principal,
        purpose=Purpose.default_for(principal),
        parent=assembly.id,
        least_sensitivity=assembly.sensitivity,
    )
    return AssemblyResult(appended, assembled.content, assembled.decisions)


@transaction.atomic
def assembly_append(
    *, assembly: Assembly, agent: Agent, facts: Mapping[str, Any] | None, event_id: UUID | None, principal: Principal
) -> AssemblyResult:
    """Append to an assembly a new event of the agent, or the event with this id; all or nothing.

    Raises Conflict if a new event's external id is taken, NotFound for an unknown id, and RecordDamaged.
    """
    event = _create_event(agent, facts, principal) if facts is not None else _find_event(agent, event_id)
    return append_event(assembly=assembly, event=event, principal=principal)


def _create_event(agent: Agent, facts: Mapping[str, Any], principal: Principal) -> Event:
    made = events_create(agent=agent, facts=[facts], principal=principal)
    if not made:
        raise Conflict("An event with this external id exists. Refer to it by its id.")
    return made[0]


def _find_event(agent: Agent, id_: UUID | None) -> Event:
    found = Event.objects.filter(agent=agent, id=id_).first() if id_ else None
    if found is None:
        raise NotFound(f"The event “{id_}”")
    return found


def _with_latest_section(profile: Profile) -> Profile:
    if LATEST_SECTION.key in {section.key for section in profile.sections}:
        return profile
    required = [section for section in profile.sections if section.required]
    others = [section for section in profile.sections if not section.required]
    return replace(profile, sections=(*required, LATEST_SECTION, *others))


def _included_candidates(recorded: StoredAssembly, profile: Profile) -> list[Candidate]:
    """Return the context's included items as candidates with the texts as included: cut if they were cut."""
    content = content_of(recorded)
    # The lead of an item depends on the version of the engine that rendered it.
    rendered = assemble.profile_for_version(profile, recorded.assembly.engine_version)
    sections = {section.key: section for section in rendered.sections}
    told = []
    for decision, candidate in recorded.decided:
        if decision.included:
            lead = render_item(sections[decision.section], candidate).lead
            told.append(
                structs.replace(
                    candidate, summary=None, levels={}, text=content[decision.start : decision.end].removeprefix(lead)
                )
            )
    return told


def _event_candidate(event: Event) -> Candidate:
    text = format_event(kind=event.type, content=event.content, outcome=event.outcome, occurred_at=event.occurred_at)
    return Candidate(
        ref=event.ref,
        section=LATEST_SECTION.key,
        text=text,
        kind=event.type,
        occurred_at=event.occurred_at,
        position=0,
        origin=origin_of(event),
        sensitivity=event.sensitivity,
    )


def _moved_down(candidate: Candidate) -> Candidate:
    if candidate.section != LATEST_SECTION.key:
        return candidate
    return structs.replace(candidate, position=(candidate.position or 0) + 1)


def _placeholders_of(masker: Masker) -> dict[str, object]:
    """Return what a next event needs to get the same placeholders for the same values."""
    return {"placeholders": masker.fingerprints} if masker.fingerprints else {}


def _request_details(assembly: Assembly) -> dict[str, object]:
    # The included items have their marks in their texts, what lost a conflict is no candidate any more, and no source
    # was read, so there is neither a second round nor a cost. The coherence is that of other items.
    omitted = {"repeats", "exclude", "reconciliations", "second_round", "cost", "coherence"}
    return {name: value for name, value in assembly.request.items() if name not in omitted}
