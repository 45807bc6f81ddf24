"""What if: a recorded context as it would be with something changed. Nothing is recorded, and nothing is published.

Where the record holds all that is needed, the engine runs on the recorded inputs, so that every difference comes of the
change. Another topic, and a profile with other sources, need a new reading: then it is today's, and the answer says so.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from django.utils import timezone

from assembly.comparison.side_by_side import SideBySide, compared_from_record, sections_of
from assembly.engine.profile import Profile, Section
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.profiles.catalogue import find_profile
from assembly.records.reader import StoredAssembly, load_record
from assembly.simulation.basis import SimulationBasis, gather_basis, load_owners, record_basis, request_of_record
from assembly.simulation.simulate import NO_OVERRIDES, Overrides, load_overridden_profile, simulate
from config.http.errors import Invalid

WhatIfBasis = Literal["record", "today"]
"""record: the engine ran on what was considered then; today: the sources were read anew, as of now."""
WHAT_IF_BASES: tuple[WhatIfBasis, ...] = get_args(WhatIfBasis)


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """The recorded context, and the one with the overrides."""

    assembly: Assembly
    overrides: Overrides
    basis: WhatIfBasis
    beside: SideBySide
    session_gone: bool = False
    """The request named a session that is not there any more: what was read anew is without it."""


def run_what_if(*, assembly: Assembly, overrides: Overrides) -> WhatIfResult:
    """Make the context with the overrides in it, beside the recorded one.

    Raises Invalid for overrides that are empty or name what is not there; where a new reading is needed, OwnerDeleted
    for an agent or a team that was deleted; RecordDamaged. Whether somebody may look is for the caller to decide.
    """
    if overrides == NO_OVERRIDES:
        raise Invalid("wishes", "Nothing would be different. Change at least one thing.", "empty")
    record = load_record(assembly)
    before = compared_from_record(record)
    basis = _gather_basis(record, overrides) if _needs_gathering(record, overrides) else record_basis(record)
    beside = SideBySide.of(before, simulate(basis, overrides))
    return WhatIfResult(assembly, overrides, "today" if basis.gathered else "record", beside, basis.session_gone)


def _needs_gathering(record: StoredAssembly, overrides: Overrides) -> bool:
    """Whether the record does not hold what the context is chosen from."""
    if overrides.topic is not None and overrides.topic != record.assembly.topic:
        return True
    if overrides.profile is None:
        return False
    return not record_covers_profile(record, load_overridden_profile(record, overrides.profile))


def record_covers_profile(record: StoredAssembly, wanted: Profile) -> bool:
    """Whether all that the wanted profile chooses from is among the candidates on record: the same sections from the
    same sources, none of which has to be asked for more, and nothing that the reading itself depends on."""
    recorded = record.inputs.profile
    old, new = sections_of(recorded), sections_of(wanted)
    same_reading = recorded.depth_limit == wanted.depth_limit and recorded.ranker == wanted.ranker
    grown = record.assembly.parent is not None  # what it holds is no longer all that was considered
    return same_reading and not grown and all(key in old and _is_within(old[key], new[key]) for key in new)


def _is_within(old: Section, new: Section) -> bool:
    same_source = (old.source, old.shape, old.ranker) == (new.source, new.shape, new.ranker)
    return same_source and (old.top_k is None or (new.top_k is not None and new.top_k <= old.top_k))


def _gather_basis(record: StoredAssembly, overrides: Overrides) -> SimulationBasis:
    asked = _override_request(request_of_record(record), overrides)
    return replace(gather_basis(load_owners(record.assembly), asked, timezone.now()), record=record)


def _override_request(asked: AssemblyRequest, overrides: Overrides) -> AssemblyRequest:
    """The request with the overrides that bear on what is read. What another profile has no section for is left out,
    and so is the strategy of the request, which names the sections of its own."""
    if overrides.topic is not None:
        asked = replace(asked, topic=overrides.topic)
    if overrides.profile is None or overrides.profile == asked.profile:
        return asked
    sources = {section.source for section in find_profile(overrides.profile).sections}
    return replace(
        asked,
        profile=overrides.profile,
        strategy={},
        history=asked.history if "turns" in sources else (),
        additional_context=asked.additional_context if "additional_context" in sources else "",
    )
