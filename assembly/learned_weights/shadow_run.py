"""A shadow run assembles the newest contexts of a profile again, with learned weights, and stores only a report.

The candidates are the recorded ones. What would be included is compared with the record. The recall of used items is
measured on other contexts: the newest ones with feedback that the weights were not trained on, in a part of their
tokens. Few of the newest contexts have feedback, so they alone would show no gain.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean
from time import perf_counter
from typing import Any
from uuid import UUID

from assembly.engine.diff import ContextDiff, diff_contexts
from assembly.engine.profile import Profile, Weights
from assembly.learned_weights.labelled_contexts import LabelledContext, contexts_of
from assembly.learned_weights.recorded_items import (
    assembled_with,
    has_own_weights,
    held_out_records,
    used_recall,
)
from assembly.models import Assembly
from assembly.records.reader import DAMAGE_ERRORS, StoredAssembly, load_record
from assembly.records.record_errors import RecordDamaged
from memories.jobs.services import Advance

LIMIT = 200
"""The number of newest contexts that are assembled again."""
MAX_MEASURED = 200
"""The number of newest contexts on which the recall of used items is measured."""
SECONDS = 120.0
"""Seconds after which no further context is measured, and again seconds after which none is assembled again."""
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
    labelled: Iterable[LabelledContext],
    *,
    seconds: float = SECONDS,
    advance: Advance = lambda _: None,
) -> ShadowResult:
    """Return what the weights `after` would have changed in the newest contexts of the profile's version.

    Recalls are measured on those of the `labelled` contexts that were held out. `advance` is called after each context,
    with 0 after a measured one. At least one context is measured, and one is tried, even if `seconds` have passed.
    """
    result, newest = ShadowResult(), newest_contexts(profile)
    _measure(labelled, before, after, result, seconds=seconds, advance=advance)
    started = perf_counter()
    for number, assembly in enumerate(newest):
        if number and perf_counter() - started > seconds:
            result.untried = len(newest) - number
            break
        try:
            _try_context(assembly, after, result)
        except (RecordDamaged, *DAMAGE_ERRORS):
            result.unreadable += 1
        advance(1)
    return result


def newest_contexts(profile: Profile) -> Sequence[Assembly]:
    """Return the newest LIMIT contexts for agents that this version of the profile made, without repeated ones."""
    found = contexts_of(profile).for_agents().filter(decided_in=None)
    return list(found.order_by("-created", "-id")[:LIMIT])


def _measure(
    labelled: Iterable[LabelledContext],
    before: Weights,
    after: Weights,
    result: ShadowResult,
    *,
    seconds: float,
    advance: Advance,
) -> None:
    """Add the recalls of used items in contexts that were held out to the result."""
    started = perf_counter()
    for one in islice(held_out_records(labelled), MAX_MEASURED):
        with suppress(*DAMAGE_ERRORS):
            result.recalls.append((used_recall(one, before), used_recall(one, after)))
        advance(0)  # the worker keeps the job
        if perf_counter() - started > seconds:
            break


def _try_context(assembly: Assembly, after: Weights, result: ShadowResult) -> None:
    if has_own_weights(assembly):
        result.contexts += 1  # nothing would change
        result.tokens_before += assembly.tokens
        result.tokens_after += assembly.tokens
        return
    record = load_record(assembly)
    again = assembled_with(record, after)
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
