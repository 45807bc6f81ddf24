"""Recording: one atomic write of an assembly, its decisions and the texts that were considered."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.models import Agent
from assembly.engine.flat import flat
from assembly.engine.profile import Profile
from assembly.engine.types import Assembled, Candidate, Request
from assembly.gathered import SourceReport
from assembly.models import Assembly, text_hash
from assembly.summarising import EXTRACTIVE, store_summaries
from assembly.writing import write
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class Owners:
    """Whom an assembly is for, by value: the record survives its agent and its team."""

    agent_id: UUID
    agent_slug: str
    agent_name: str
    team_id: UUID | None = None
    team_slug: str = ""
    team_name: str = ""

    @classmethod
    def of(cls, agent: Agent, team: Team | None) -> "Owners":
        """As they are now."""
        mine = cls(agent.id, agent.slug, agent.name)
        return replace(mine, team_id=team.id, team_slug=team.slug, team_name=team.name) if team else mine

    @classmethod
    def recorded(cls, assembly: Assembly) -> "Owners":
        """As an assembly names them."""
        return cls(**{field.name: getattr(assembly, field.name) for field in fields(cls)})


def record(
    *,
    request: Request,
    profile: Profile,
    candidates: Sequence[Candidate],
    reports: Sequence[SourceReport],
    assembled: Assembled,
    warnings: Sequence[str],
    wishes: Mapping[str, Any],
    assembly_ms: int,
    owners: Owners,
    principal: Principal,
    parent: UUID | None = None,
) -> Assembly:
    """Store everything that a replay needs, by value. Texts are stored once, by their SHA-256.

    `warnings` are codes of the whole and of its sources. `wishes` is what the record keeps of the request beside its
    columns, JSON-safe.
    """
    assembly = Assembly(
        **flat(owners),
        created=timezone.now(),
        parent=parent,
        requested_by=principal.ref,
        requester_name=principal.name,
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
        sha256=bytes.fromhex(assembled.sha256),
        engine_version=request.engine_version,
        request=dict(wishes),
        profile=profile.to_dict(),
        sections=[flat(section) for section in assembled.sections],
        sources=[flat(report) for report in reports],
        assembly_ms=assembly_ms,
    )
    hashes = {text: text_hash(text) for text in _texts_of(candidates)}
    rows = _decisions(assembly, profile, candidates, assembled, hashes)
    summaries = _summaries_of(candidates, hashes)
    with transaction.atomic() if summaries else nullcontext():
        write(assembly, {key: text for text, key in hashes.items()}, rows)
        store_summaries(summaries)
    return assembly


def _texts_of(candidates: Sequence[Candidate]) -> set[str]:
    written = {candidate.text for candidate in candidates}
    return written | {candidate.summary.text for candidate in candidates if candidate.summary}


def _summaries_of(candidates: Sequence[Candidate], hashes: Mapping[str, bytes]) -> list[tuple[bytes, str, bytes]]:
    """What a model said shorter, which one, and how: two hashes and a name.

    What the extractive summariser said is not kept for others: it is made faster than it is found.
    """
    said = [(candidate.text, candidate.summary) for candidate in candidates if candidate.summary]
    return [
        (hashes[text], summary.model, hashes[summary.text])
        for text, summary in said
        if summary.text and summary.model != EXTRACTIVE
    ]


def _decisions(
    assembly: Assembly,
    profile: Profile,
    candidates: Sequence[Candidate],
    assembled: Assembled,
    hashes: Mapping[str, bytes],
) -> list[dict[str, Any]]:
    """The rows of the decisions, by column."""
    offered = {(candidate.section, candidate.ref): candidate for candidate in candidates}
    source_of = {section.key: section.source for section in profile.sections}
    rows = []
    for position, decision in enumerate(assembled.decisions):
        candidate = offered[decision.section, decision.ref]
        rows.append(
            {
                "assembly_id": assembly.id,
                "position": position,
                "section": decision.section,
                "source": source_of[decision.section],
                "ref": decision.ref,
                "candidate": candidate.to_dict(),
                "text_sha256": hashes[candidate.text],
                "code": decision.code.value,
                "included": decision.included,
                "rank": decision.rank,
                "score": decision.score,
                "signals": dict(decision.signals),
                "tokens": decision.tokens,
                "tokens_full": decision.tokens_full,
                "start": decision.start,
                "end": decision.end,
                "detail": dict(decision.detail),
            }
        )
    return rows
