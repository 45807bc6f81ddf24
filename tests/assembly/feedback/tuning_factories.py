"""Windows of contexts with given measures."""

from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.models import Assembly, AssemblyQuality
from assembly.monitoring.tuning_windows import WINDOW, profiles_tune
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team
from teams.principal import SYSTEM

GOOD: dict[str, float | None] = {
    "source_coverage": 1.0, "completeness": 1.0, "contradiction_rate": 0.0, "coherence_score": 0.9,
    "quality_achieved": 0.9,
}  # fmt: skip


def measured(profile: str = "memory", contexts: int = WINDOW, **values: float) -> None:
    """So many contexts with the profile, of these measures."""
    record = assemble_quality_rows(contexts)
    AssemblyQuality.objects.bulk_create(
        AssemblyQuality(assembly=id_, profile_name=profile, **{**GOOD, **values}) for id_ in record
    )
    profiles_tune([profile])


def assemble_quality_rows(contexts: int) -> list[UUID]:
    """Rows of records for measures to refer to: copies of one, since only their ids matter."""
    first = Assembly.objects.order_by("id").first()
    assert first is not None
    rows = []
    for _ in range(contexts):
        facts = {field.attname: getattr(first, field.attname) for field in Assembly._meta.concrete_fields}
        rows.append(Assembly(**{**facts, "id": uuid7(), "decided_in": first.decided_in or first.id, "body": b""}))
    Assembly.objects.bulk_create(rows)
    return [row.id for row in rows]


def made(agent: Agent, team: Team | None = None, **request: Any) -> Assembly:
    asked = AssemblyRequest(**{"topic": "ferry", "profile": "memory", **request})
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
