"""A shadow run assembles the newest contexts of a profile again, with learned weights, and stores only a report.

The candidates are the recorded ones. What would be included is compared with the record; the recall of used items is
measured on contexts with feedback that the weights were not trained on, in a part of their tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from time import perf_counter
from typing import Any
from uuid import UUID

from assembly.engine.diff import ContextDiff, diff_contexts
from assembly.engine.profile import Profile, Weights
from assembly.learned_weights.labelled_contexts import LabelledContext
from assembly.learned_weights.recorded_items import (
    LabelledRecord,
    assembled_with,
    has_own_weights,
    is_held_out,
    used_recall,
)
from assembly.models import Assembly
from assembly.records.reader import DAMAGE_ERRORS, StoredAssembly, load_record
from assembly.records.record_errors import RecordDamaged
from memories.jobs.services import Advance

LIMIT = 200
"""The number of newest contexts that are assembled again."""
SECONDS = 120.0
"""Seconds after which no further context is started."""
MAX_DIFFERING = 50
"""The number of contexts that the report names of those that would differ."""


@dataclass(frozen=True, slots=True)
class DifferingContext:
    """A context that would include other items: how many would be added and removed, and its tokens."""

    assembly: UUID
    items_in: int
    items_out: int
    tokens_before: int
    tokens_after: int

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON."""
        counts = {"items_in": self.items_in, "items_out": self.items_out}
        return {
            "assembly": str(self.assembly),
            **counts,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
        }


@dataclass(slots=True)
class ShadowResult:
    """The result of a shadow run; recalls are 0 to 1, a pair (before, after) per measured context."""

    contexts: int = 0
    unreadable: int = 0
    untried: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    differing: list[DifferingContext] = field(default_factory=list)
    recalls: list[tuple[float, float]] = field(default_factory=list)

    @property
    def recall_before(self) -> float | None:
        return fmean(before for before, _ in self.recalls) if self.recalls else None

    @property
    def recall_after(self) -> float | None:
        return fmean(after for _, after in self.recalls) if self.recalls else None

    def detail(self) -> dict[str, Any]:
        """Return the counts and the contexts that differ, as the stored report has them."""
        return {
            "unreadable": self.unreadable,
            "untried": self.untried,
            "changed": len(self.differing),
            "items_in": sum(one.items_in for one in self.differing),
            "items_out": sum(one.items_out for one in self.differing),
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "better": sum(after > before for before, after in self.recalls),
            "worse": sum(after < before for before, after in self.recalls),
            "differing": [one.to_dict() for one in self.differing[:MAX_DIFFERING]],
        }


def run_in_shadow(
    profile: Profile,
    before: Weights,
    after: Weights,
    feedback: Mapping[UUID, LabelledContext],
    *,
    seconds: float = SECONDS,
    advance: Advance = lambda _: None,
) -> ShadowResult:
    """Return what the weights `after` would have changed in the newest contexts of the profile's version.

    `feedback` is by the ids of contexts; `advance` is called after each context. At least one context is tried, even if
    `seconds` have passed.
    """
    started, result, newest = perf_counter(), ShadowResult(), newest_contexts(profile)
    for number, assembly in enumerate(newest):
        if number and perf_counter() - started > seconds:
            result.untried = len(newest) - number
            break
        try:
            _try_context(assembly, before, after, feedback.get(assembly.id), result)
        except (RecordDamaged, *DAMAGE_ERRORS):
            result.unreadable += 1
        advance(1)
    return result


def newest_contexts(profile: Profile) -> Sequence[Assembly]:
    """Return the newest LIMIT contexts for agents that this version of the profile made, without repeated ones."""
    found = Assembly.objects.for_agents().filter(
        profile_name=profile.name, profile_version=profile.version, decided_in=None
    )
    return list(found.order_by("-created", "-id")[:LIMIT])


def _try_context(
    assembly: Assembly, before: Weights, after: Weights, feedback: LabelledContext | None, result: ShadowResult
) -> None:
    if has_own_weights(assembly):
        result.contexts += 1  # nothing would change
        result.tokens_before += assembly.tokens
        result.tokens_after += assembly.tokens
        return
    record = load_record(assembly)
    again = assembled_with(record, after)
    if feedback and is_held_out(assembly) and (labelled := LabelledRecord(record, feedback)).used:
        result.recalls.append((used_recall(labelled, before), used_recall(labelled, after)))
    result.contexts += 1
    result.tokens_before += assembly.tokens
    result.tokens_after += again.tokens
    if differing := _differing(record, diff_contexts(record, again)):
        result.differing.append(differing)


def _differing(record: StoredAssembly, found: ContextDiff) -> DifferingContext | None:
    """Return how the context would differ; None if it would include the same items."""
    if not found.newly_in and not found.pushed_out:
        return None
    return DifferingContext(
        record.assembly.id, len(found.newly_in), len(found.pushed_out), found.tokens_before, found.tokens_after
    )
