"""A context that was made to be looked at, and is on no record."""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.engine.profile import Profile
from assembly.engine.types import Candidate, EngineRequest, EngineResult
from assembly.sources.base import SourceReport


@dataclass(frozen=True, slots=True)
class PastResult:
    """What was asked of the engine, what it made of it, and how its sources did."""

    request: EngineRequest
    profile: Profile
    assembled: EngineResult
    candidates: Sequence[Candidate]
    reports: Sequence[SourceReport]
    extracted: int
    """Summaries that a model would have been asked for; here they are extracts."""
