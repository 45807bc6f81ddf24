"""What if: a recorded context as it would be with something changed. Nothing is recorded, and nothing is published.

Where the record holds all that is needed, the engine runs on the recorded inputs, so that every difference comes of the
change. Another topic, and a profile with other sources, need a new reading: then it is today's, and the answer says so.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from django.utils import timezone

from assembly.comparison.rerun import (
    RerunInputs,
    assemble_without_model,
    gather_rerun_inputs,
    load_owners,
    request_of_record,
)
from assembly.comparison.side_by_side import SideBySide, compared_from_record, compared_from_result
from assembly.models import Assembly
from assembly.pipeline.prepare import find_tokenizer
from assembly.records.reader import EngineInput, StoredAssembly, load_record
from assembly.simulation.what_if.overrides import (
    load_overridden_profile,
    overridden_budget,
    override_caps,
    override_request,
    override_rules,
    override_versions,
    record_covers_profile,
)
from assembly.simulation.what_if.wishes import Overrides, require_overrides

WhatIfBasis = Literal["record", "today"]
"""record: the engine ran on what was considered then; today: the sources were read anew, as of now."""
WHAT_IF_BASES: tuple[WhatIfBasis, ...] = get_args(WhatIfBasis)


@dataclass(frozen=True, slots=True)
class WhatIfResult:
    """The recorded context, and the one that the wishes would make."""

    assembly: Assembly
    wishes: Overrides
    basis: WhatIfBasis
    beside: SideBySide
    session_gone: bool = False
    """The request named a session that is not there any more: what was read anew is without it."""


def run_what_if(*, assembly: Assembly, wishes: Overrides) -> WhatIfResult:
    """The context with the wishes in it, beside the recorded one.

    Raises Invalid for wishes that are empty or name what is not there; where a new reading is needed, NobodyLeft for an
    agent or a team that was deleted; RecordDamaged. Whether somebody may look is for the caller to decide.
    """
    require_overrides(wishes)
    told = load_record(assembly)
    before, anew = compared_from_record(told), None
    if _needs_gathering(told, wishes):
        anew = _gathered_inputs(told, wishes)
    inputs = _override_inputs(
        anew.inputs if anew else _recorded_inputs(told, wishes), assembly, wishes, anew=anew is not None
    )
    after = compared_from_result(inputs, assemble_without_model(inputs), anew.reports if anew else ())
    beside = SideBySide.of(before, after)
    return WhatIfResult(assembly, wishes, "today" if anew else "record", beside, anew is not None and anew.session_gone)


def _needs_gathering(told: StoredAssembly, wishes: Overrides) -> bool:
    """Whether the record does not hold what the wished context is chosen from."""
    if wishes.topic is not None and wishes.topic != told.assembly.topic:
        return True
    return wishes.profile is not None and not record_covers_profile(told, load_overridden_profile(told, wishes.profile))


def _gathered_inputs(told: StoredAssembly, wishes: Overrides) -> RerunInputs:
    asked = override_request(request_of_record(told), wishes, told.assembly.profile_name)
    return gather_rerun_inputs(load_owners(told.assembly), asked, timezone.now())


def _recorded_inputs(told: StoredAssembly, wishes: Overrides) -> EngineInput:
    """The recorded inputs, by the wished profile: what it has no section for is not offered."""
    if wishes.profile is None:
        return told.inputs
    profile = load_overridden_profile(told, wishes.profile)
    keys = {section.key for section in profile.sections}
    offered = tuple(candidate for candidate in told.inputs.candidates if candidate.section in keys)
    return EngineInput(replace(told.inputs.request, budget=overridden_budget(told, profile)), profile, offered)


def _override_inputs(inputs: EngineInput, assembly: Assembly, wishes: Overrides, *, anew: bool) -> EngineInput:
    """The inputs with all wishes that need no reading of sources."""
    request = inputs.request
    if wishes.max_tokens is not None:
        request = replace(request, budget=wishes.max_tokens)
    if wishes.tokenizer is not None:
        request = replace(request, tokenizer=find_tokenizer(wishes.tokenizer).name)
    candidates = override_versions(inputs.candidates, wishes.files) if wishes.files else inputs.candidates
    changed = EngineInput(request, override_caps(inputs.profile, wishes.caps), tuple(candidates))
    return override_rules(changed, assembly, wishes, anew=anew)
