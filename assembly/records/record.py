"""Recording composes the row of an assembly with its decisions and pieces, and stores all or nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from itertools import compress, count
from math import inf
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from agents.quotas.limits import subjects_of
from agents.quotas.uses import uses
from assembly.engine.codes import WarningCode
from assembly.engine.profile import Profile
from assembly.engine.quality import completeness, named_entities
from assembly.engine.types import Candidate, EngineRequest, EngineResult, ShorterLevel, field_values
from assembly.models import Assembly, Purpose, text_hash
from assembly.models.assembly import cache_profile, encrypted, packed
from assembly.models.encryption import begin_record_keys
from assembly.records.change_counters import NO_OWNERS, ChangeCounts
from assembly.records.encoding import (
    Columns,
    NewPiece,
    columns_of,
    piece_of,
    piece_of_profile,
    piece_of_summary,
    pieces_of_levels,
)
from assembly.records.insert_sql import insert_assembly, new_texts
from assembly.records.item_vectors import mean_coherence
from assembly.records.summaries import EXTRACTIVE, store_summaries
from assembly.sources.base import SourceReport
from assembly.sources.time_budget import TimeBudget
from config.http.cpu_budget import wall_limit
from teams.models import Team
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL


@dataclass(frozen=True, slots=True)
class RecordOwners:
    """The agent and the team of an assembly, by value, because the record outlives both."""

    agent_id: UUID
    agent_slug: str
    agent_name: str
    team_id: UUID | None = None
    team_slug: str = ""
    team_name: str = ""

    @classmethod
    def of(cls, agent: Agent, team: Team | None) -> "RecordOwners":
        """Return the owners with their present slugs and names."""
        mine = agent.id, agent.slug, agent.name
        return cls(*mine, team.id, team.slug, team.name) if team else cls(*mine)

    @classmethod
    def recorded(cls, assembly: Assembly) -> "RecordOwners":
        """Return the owners as the assembly's record names them."""
        return cls(**{field.name: getattr(assembly, field.name) for field in fields(cls)})


def record(
    *,
    request: EngineRequest,
    profile: Profile,
    candidates: Sequence[Candidate],
    reports: Sequence[SourceReport],
    assembled: EngineResult,
    warnings: Sequence[str],
    wishes: Mapping[str, Any],
    assembly_ms: int,
    owners: RecordOwners,
    principal: Principal,
    purpose: Purpose,
    parent: UUID | None = None,
    expected_counts: ChangeCounts = NO_OWNERS,
    least_sensitivity: int = DEFAULT_LEVEL,
    seconds_left: float = inf,
) -> Assembly:
    """Store everything that a replay needs, by value. Texts are stored once, by their SHA-256.

    `warnings` are codes of the whole context and of its sources. `wishes` holds the recorded fields of the request that
    have no column; JSON-safe. The record is as sensitive as its most sensitive candidate, included or not, because its
    page tells all of them. Within `seconds_left`, its items are compared for its coherence, else it
    is recorded without. Raises StaleRead, and stores no assembly, if the expected change counters have moved.
    """
    id_ = uuid7()
    composed = _compose_pieces(profile, candidates, assembled)
    obtained = begin_record_keys(id_, new_texts((*composed.told, *composed.omitted)))
    assembly = Assembly(
        id=id_,
        **field_values(owners),
        created=timezone.now(),
        parent=parent,
        requested_by=principal.ref,
        requester_name=principal.name,
        purpose=purpose,
        topic=request.topic,
        profile_name=profile.name,
        profile_version=profile.version,
        tokenizer=request.tokenizer,
        now=request.now,
        budget=assembled.budget,
        tokens=assembled.tokens,
        truncated=assembled.truncated,
        left_out=sum(not decision.included for decision in assembled.decisions),
        warnings=list(warnings),
        codes=sorted(map(str, {decision.code for decision in assembled.decisions})),
        sha256=bytes.fromhex(assembled.sha256),
        engine_version=request.engine_version,
        assembly_ms=assembly_ms,
        sensitivity=max((one.sensitivity for one in candidates), default=0),
    )
    assembly.sensitivity = max(assembly.sensitivity, least_sensitivity)
    with wall_limit(seconds_left):
        coherence = mean_coherence(request.topic, profile, candidates, assembled.decisions, least_sensitivity)
    contents = {
        # Whoever follows the record would otherwise have to replay it for its text.
        "request": {
            **wishes,
            "completeness": completeness(named_entities(wishes), assembled.content),
            **({} if coherence is None else {"coherence": coherence}),
        },
        "profile": composed.profile,
        "sections": [field_values(section) for section in assembled.sections],
        "sources": [_report_document(report) for report in reports],
        "decisions": composed.columns,
    }
    assembly.body, assembly.contents = packed(contents), contents
    keys = obtained()
    if key := keys.get(id_.bytes):
        assembly.body = encrypted(assembly.body, id_, key)
    summaries = _summary_rows(candidates)
    with transaction.atomic() if summaries else nullcontext():
        size = insert_assembly(
            assembly, composed.told, composed.omitted, expected_counts, _above_internal(candidates), keys=keys
        )
        store_summaries(summaries)
    uses.add(subjects_of(principal), record_bytes=size)
    return assembly


def _above_internal(candidates: Sequence[Candidate]) -> frozenset[bytes]:
    """Return the hashes of the pieces of candidates that are above internal."""
    return frozenset(piece_of(one).sha256 for one in candidates if one.sensitivity > DEFAULT_LEVEL)


def _report_document(report: SourceReport) -> dict[str, Any]:
    """Return the report as it is recorded: with the number of withheld items, if there are any."""
    facts = field_values(report)
    del facts["may_have_more"]
    if not report.withheld:
        del facts["withheld"]
    return facts


@dataclass(frozen=True, slots=True)
class _RecordPieces:
    """The pieces of a record, included (`told`) and excluded (`omitted`), its profile's hash and its decisions."""

    told: list[NewPiece]
    omitted: list[NewPiece]
    profile: str
    columns: Columns


def _compose_pieces(profile: Profile, candidates: Sequence[Candidate], assembled: EngineResult) -> _RecordPieces:
    offered = {(candidate.section, candidate.ref): candidate for candidate in candidates}
    decided = [offered[decision.section, decision.ref] for decision in assembled.decisions]
    pieces = [piece_of(candidate) for candidate in decided]
    summaries = [piece_of_summary(candidate) for candidate in decided]
    levels = [pieces_of_levels(candidate) for candidate in decided]
    used = piece_of_profile(profile)
    cache_profile(used.text_sha256.hex(), used.text)
    included = [decision.code.included for decision in assembled.decisions]
    told = _unique_pieces(
        [*compress(pieces, included), *filter(None, summaries), used, *_level_pieces(compress(levels, included))]
    )
    excluded = [not is_in for is_in in included]
    omitted = _unique_pieces([*compress(pieces, excluded), *_level_pieces(compress(levels, excluded))])
    inside = dict(zip(told, count(), strict=False))
    outside = dict(zip(omitted, count(len(told)), strict=False))
    places = [(inside if is_in else outside)[piece.sha256] for piece, is_in in zip(pieces, included, strict=True)]
    shorter = [inside[piece.sha256] if piece else None for piece in summaries]
    level_places = [
        {level: (inside if is_in else outside)[piece.sha256] for level, piece in one.items()}
        for one, is_in in zip(levels, included, strict=True)
    ]
    columns = columns_of(assembled.decisions, decided, places, shorter, profile, levels=level_places)
    return _RecordPieces([*told.values()], [*omitted.values()], used.text_sha256.hex(), columns)


def _level_pieces(levels: Iterable[Mapping[ShorterLevel, NewPiece]]) -> Iterator[NewPiece]:
    return (piece for one in levels for piece in one.values())


def _unique_pieces(pieces: Iterable[NewPiece]) -> dict[bytes, NewPiece]:
    return {piece.sha256: piece for piece in pieces}


def _summary_rows(candidates: Sequence[Candidate]) -> list[tuple[bytes, str, bytes]]:
    """Return the rows of new summaries: the hash of the text, the model's name, the hash of the summary.

    Extractive summaries are not stored, because making one is faster than finding it.
    """
    said = [(candidate.text, candidate.summary) for candidate in candidates if candidate.summary]
    return [
        (text_hash(text), summary.model, text_hash(summary.text))
        for text, summary in said
        if summary.text and summary.model != EXTRACTIVE
    ]


def warning_codes(assembled: EngineResult, reports: Sequence[SourceReport], time: TimeBudget) -> list[str]:
    """Return the warning codes for the record, each once: of the engine, then of sources, then of time."""
    codes = [*assembled.warnings, *(report.code for report in reports if report.code)]
    codes += [WarningCode.TIME_EXCEEDED] if time.is_over else []
    return list(dict.fromkeys(map(str, codes)))
