"""A what-if assembles a recorded context with overrides, and compares both. Nothing is recorded or published.

If the record has all the data, the engine runs on the recorded inputs, so every difference is caused by the overrides.
Another topic, or a profile with other sources, is gathered from today's data; the result then has the basis `today`.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from django.utils import timezone

from assembly.comparison.side_by_side import SideBySide, compared_from_record, sections_of
from assembly.engine.profile import Profile, Section
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.records.reader import StoredAssembly, load_record
from assembly.simulation.basis import SimulationBasis, gather_basis, load_owners, record_basis, request_of_record
from assembly.simulation.simulate import NO_OVERRIDES, Overrides, load_overridden_profile, simulate
from config.http.errors import Invalid

WhatIfBasis = Literal["record", "today"]
"""The basis of a what-if: `record` (the engine ran on the recorded candidates) or `today` (the sources
were read now).
"""
WHAT_IF_BASES: tuple[WhatIfBasis, ...] = get_args(WhatIfBasis)


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """The recorded context, and the one with the overrides."""

    assembly: Assembly
    overrides: Overrides
    basis: WhatIfBasis
    beside: SideBySide
    session_gone: bool = False
    """The session of the request does not exist any more, so newly gathered items are without it."""


def run_what_if(*, assembly: Assembly, overrides: Overrides) -> WhatIfResult:
    """Return the recorded context and the one with the overrides, side by side.

    Raises Invalid for overrides that are empty or name unknown sections, rules or versions; OwnerDeleted if today's
    data is needed and the agent or its team was deleted; RecordDamaged. The caller checks permissions.
    """
    if overrides == NO_OVERRIDES:
        raise Invalid("overrides", "Nothing would change. Change at least one parameter.", "empty")
    record = load_record(assembly)
    before = compared_from_record(record)
    basis = _gather_basis(record, overrides) if _needs_gathering(record, overrides) else record_basis(record)
    beside = SideBySide.of(before, simulate(basis, overrides))
    return WhatIfResult(assembly, overrides, "today" if basis.gathered else "record", beside, basis.session_gone)


def _needs_gathering(record: StoredAssembly, overrides: Overrides) -> bool:
    """Return whether the record lacks data from which the context is selected."""
    if overrides.topic is not None and overrides.topic != record.assembly.topic:
        return True
    if overrides.profile is None:
        return False
    return not record_covers_profile(record, load_overridden_profile(record, overrides.profile))


def record_covers_profile(record: StoredAssembly, wanted: Profile) -> bool:
    """Return whether the record has everything that the wanted profile selects from.

    Then it has the same sections from the same sources, no source has to return more items, and the settings that
    affect gathering are the same.
    """
    recorded = record.inputs.profile
    old, new = sections_of(recorded), sections_of(wanted)
    same_reading = recorded.depth_limit == wanted.depth_limit and recorded.ranker == wanted.ranker
    grown = record.assembly.parent is not None  # such a record lacks some considered items
    return same_reading and not grown and all(key in old and _is_within(old[key], new[key]) for key in new)


def _is_within(old: Section, new: Section) -> bool:
    same_source = (old.source, old.shape, old.ranker) == (new.source, new.shape, new.ranker)
    return same_source and (old.top_k is None or (new.top_k is not None and new.top_k <= old.top_k))


def _gather_basis(record: StoredAssembly, overrides: Overrides) -> SimulationBasis:
    asked = _override_request(request_of_record(record), overrides)
    return replace(gather_basis(load_owners(record.assembly), asked, timezone.now()), record=record)


def _override_request(asked: AssemblyRequest, overrides: Overrides) -> AssemblyRequest:
    """Return the request with the overrides that affect gathering; another profile gets no strategy."""
    if overrides.topic is not None:
        asked = replace(asked, topic=overrides.topic)
    if overrides.profile is None or overrides.profile == asked.profile:
        return asked
    return replace(asked, profile=overrides.profile, strategy={})
