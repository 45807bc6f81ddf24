"""Windows of contexts with given measures."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.models import Assembly, AssemblyQuality, ProfileTuning
from assembly.monitoring.tuning_windows import FEEDBACK_TIME, WINDOW, profile_tune
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import find_profile
from teams.models import Team
from teams.principal import SYSTEM

GOOD: dict[str, float | None] = {
    "source_coverage": 1.0, "completeness": 1.0, "contradiction_rate": 0.0, "coherence_score": 0.9,
    "quality_achieved": 0.9,
}  # fmt: skip
NO_AGE = timedelta()


def measured(profile: str = "memory", contexts: int = WINDOW, **values: Any) -> list[UUID]:
    """So many contexts with the profile, of these measures, which are evaluated an hour later. Returns their ids."""
    ids = measured_just_now(profile, contexts, **values)
    tuned_later(profile)
    return ids


def measured_just_now(
    profile: str = "memory", contexts: int = WINDOW, *, version: int = 1, age: timedelta = NO_AGE, **values: float
) -> list[UUID]:
    """So many contexts with the profile, of these measures and age, which nothing has evaluated. Returns their ids."""
    ids = assemble_quality_rows(contexts, version, age)
    AssemblyQuality.objects.bulk_create(
        AssemblyQuality(assembly=id_, profile_name=profile, **{**GOOD, **values}) for id_ in ids
    )
    return ids


def tuned_later(profile: str = "memory") -> list[ProfileTuning]:
    """The versions that the contexts of this moment lead to when they are an hour old."""
    return profile_tune(find_profile(profile), now=timezone.now() + FEEDBACK_TIME)


def assemble_quality_rows(contexts: int, version: int, age: timedelta) -> list[UUID]:
    """Records for measures to refer to: copies of one, with ids of that age, and this version of the profile."""
    first = Assembly.objects.filter(decided_in=None).order_by("id").first()
    assert first is not None
    facts = {field.attname: getattr(first, field.attname) for field in Assembly._meta.concrete_fields}
    earlier = age // timedelta(milliseconds=1) << 80
    ids = [UUID(int=uuid7().int - earlier) for _ in range(contexts)]
    Assembly.objects.bulk_create(Assembly(**{**facts, "id": id_, "profile_version": version}) for id_ in ids)
    return ids


def made(agent: Agent, team: Team | None = None, **request: Any) -> Assembly:
    asked = AssemblyRequest(**{"topic": "ferry", "profile": "memory", **request})
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
