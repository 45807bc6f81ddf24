"""Recording: one atomic write of an assembly, its decisions and the texts that were considered."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from agents.models import Agent
from assembly.engine.profile import Profile
from assembly.engine.types import Assembled, Candidate, Request
from assembly.gather import SourceReport
from assembly.models import Assembly, text_hash
from assembly.summarising import store_summaries
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
        warnings=list(warnings),
        sha256=bytes.fromhex(assembled.sha256),
        engine_version=request.engine_version,
        request=dict(wishes),
        profile=profile.to_dict(),
        sections=[asdict(section) for section in assembled.sections],
        sources=[asdict(report) for report in reports],
        assembly_ms=assembly_ms,
    )
    _store_decisions(assembly, profile, candidates, assembled)
    store_summaries(_summaries_of(candidates))
    return assembly


STORE_TEXTS = """
INSERT INTO stored_texts (sha256, text) SELECT * FROM unnest(%s::bytea[], %s::text[]) ON CONFLICT DO NOTHING
"""


def _store_texts(candidates: Sequence[Candidate]) -> None:
    written = {candidate.text for candidate in candidates}
    written |= {candidate.summary.text for candidate in candidates if candidate.summary}
    texts = {text_hash(text): text for text in written}
    # In one order for everybody, so that two assemblies that share texts cannot wait for each other in a circle.
    hashes = sorted(texts)
    with connection.cursor() as cursor:
        cursor.execute(STORE_TEXTS, [hashes, [texts[key] for key in hashes]])


def _summaries_of(candidates: Sequence[Candidate]) -> list[tuple[bytes, str, bytes]]:
    """What was said shorter, by what, and how: two hashes and the name of a model."""
    said = [(candidate.text, candidate.summary) for candidate in candidates]
    return [
        (text_hash(text), summary.model, text_hash(summary.text)) for text, summary in said if summary and summary.text
    ]


# By COPY: a context of the librarian has hundreds of decisions, and the ORM would take longer than all else together.
STORE_DECISIONS = """
COPY decisions (assembly_id, position, section, source, ref, candidate, text_sha256, code, included, rank, score,
    signals, tokens, tokens_full, start, "end", detail) FROM STDIN
"""


def _store_decisions(
    assembly: Assembly, profile: Profile, candidates: Sequence[Candidate], assembled: Assembled
) -> None:
    offered = {(candidate.section, candidate.ref): candidate for candidate in candidates}
    source_of = {section.key: section.source for section in profile.sections}
    with connection.cursor() as cursor, cursor.copy(STORE_DECISIONS) as copy:
        for position, decision in enumerate(assembled.decisions):
            candidate = offered[decision.section, decision.ref]
            copy.write_row(
                (
                    assembly.id,
                    position,
                    decision.section,
                    source_of[decision.section],
                    decision.ref,
                    Jsonb(candidate.to_dict()),
                    text_hash(candidate.text),
                    decision.code.value,
                    decision.included,
                    decision.rank,
                    decision.score,
                    Jsonb(dict(decision.signals)),
                    decision.tokens,
                    decision.tokens_full,
                    decision.start,
                    decision.end,
                    Jsonb(dict(decision.detail)),
                )
            )
