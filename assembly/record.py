"""Recording: one atomic write of an assembly, its decisions and the texts that were considered."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.models import Agent
from assembly.engine.profile import Profile
from assembly.engine.types import ENGINE_VERSION, Assembled, Candidate, Request
from assembly.gather import SourceReport
from assembly.models import Assembly, Decision, StoredText
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


@transaction.atomic
def record(
    *,
    request: Request,
    profile: Profile,
    candidates: Sequence[Candidate],
    reports: Sequence[SourceReport],
    assembled: Assembled,
    wishes: Mapping[str, Any],
    assembly_ms: int,
    owners: Owners,
    principal: Principal,
    parent: UUID | None = None,
) -> Assembly:
    """Store everything that a replay needs, by value. Texts are stored once, by their SHA-256.

    `wishes` is what the record keeps of the request beside its columns, JSON-safe.
    """
    _store_texts(candidates)
    assembly = Assembly.objects.create(
        **asdict(owners),
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
        warnings=list(assembled.warnings),
        sha256=bytes.fromhex(assembled.sha256),
        engine_version=ENGINE_VERSION,
        request=dict(wishes),
        profile=profile.to_dict(),
        sections=[asdict(section) for section in assembled.sections],
        sources=[asdict(report) for report in reports],
        assembly_ms=assembly_ms,
    )
    Decision.objects.bulk_create(_decisions(assembly, profile, candidates, assembled))
    return assembly


def text_hash(text: str) -> bytes:
    """The key under which a text is stored: 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


def _store_texts(candidates: Sequence[Candidate]) -> None:
    texts = {text_hash(candidate.text): candidate.text for candidate in candidates}
    # In one order for everybody, so that two assemblies that share texts cannot wait for each other in a circle.
    rows = [StoredText(sha256=key, text=texts[key]) for key in sorted(texts)]
    StoredText.objects.bulk_create(rows, ignore_conflicts=True)


def _decisions(
    assembly: Assembly, profile: Profile, candidates: Sequence[Candidate], assembled: Assembled
) -> list[Decision]:
    offered = {(candidate.section, candidate.ref): candidate for candidate in candidates}
    source_of = {section.key: section.source for section in profile.sections}
    return [
        Decision(
            assembly=assembly,
            position=position,
            section=decision.section,
            source=source_of[decision.section],
            ref=decision.ref,
            candidate=offered[decision.section, decision.ref].to_dict(),
            text_sha256=text_hash(offered[decision.section, decision.ref].text),
            code=decision.code,
            included=decision.included,
            rank=decision.rank,
            score=decision.score,
            signals=dict(decision.signals),
            tokens=decision.tokens,
            tokens_full=decision.tokens_full,
            start=decision.start,
            end=decision.end,
            detail=dict(decision.detail),
        )
        for position, decision in enumerate(assembled.decisions)
    ]
