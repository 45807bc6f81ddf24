"""What if: a recorded context as it would be with something changed. Nothing is recorded, and nothing is published.

Where the record holds all that is needed, the engine runs on the recorded inputs, so that every difference comes of the
change. Another topic, and a profile with other sources, need a new reading: then it is today's, and the answer says so.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from django.utils import timezone

from assembly.comparison.rerun import Anew, asked_again, gathered_anew, settled_without_asking, whom_of
from assembly.comparison.side_by_side import Beside, side_made, side_recorded
from assembly.models import Assembly
from assembly.pipeline.prepare import tokenizer_named
from assembly.records.reader import Inputs, Recorded, recorded
from assembly.simulation.what_if.overrides import (
    asked_wished,
    budget_wished,
    profile_wished,
    reaches,
    with_caps,
    with_rules_wished,
    with_versions,
)
from assembly.simulation.what_if.wishes import Wishes, refuse_empty

Basis = Literal["record", "today"]
"""record: the engine ran on what was considered then; today: the sources were read anew, as of now."""
BASES: tuple[Basis, ...] = get_args(Basis)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The recorded context, and the one that the wishes would make."""

    assembly: Assembly
    wishes: Wishes
    basis: Basis
    beside: Beside
    session_gone: bool = False
    """The request named a session that is not there any more: what was read anew is without it."""


def what_if(*, assembly: Assembly, wishes: Wishes) -> WhatIf:
    """The context with the wishes in it, beside the recorded one.

    Raises Invalid for wishes that are empty or name what is not there; where a new reading is needed, NobodyLeft for an
    agent or a team that was deleted; RecordDamaged. Whether somebody may look is for the caller to decide.
    """
    refuse_empty(wishes)
    told = recorded(assembly)
    before, anew = side_recorded(told), None
    if _needs_reading(told, wishes):
        anew = _anew(told, wishes)
    inputs = _changed(anew.inputs if anew else _on_record(told, wishes), assembly, wishes, anew=anew is not None)
    after = side_made(inputs, settled_without_asking(inputs), anew.reports if anew else ())
    beside = Beside.of(before, after)
    return WhatIf(assembly, wishes, "today" if anew else "record", beside, anew is not None and anew.session_gone)


def _needs_reading(told: Recorded, wishes: Wishes) -> bool:
    """Whether the record does not hold what the wished context is chosen from."""
    if wishes.topic is not None and wishes.topic != told.assembly.topic:
        return True
    return wishes.profile is not None and not reaches(told, profile_wished(told, wishes.profile))


def _anew(told: Recorded, wishes: Wishes) -> Anew:
    asked = asked_wished(asked_again(told), wishes, told.assembly.profile_name)
    return gathered_anew(whom_of(told.assembly), asked, timezone.now())


def _on_record(told: Recorded, wishes: Wishes) -> Inputs:
    """The recorded inputs, by the wished profile: what it has no section for is not offered."""
    if wishes.profile is None:
        return told.inputs
    profile = profile_wished(told, wishes.profile)
    keys = {section.key for section in profile.sections}
    offered = tuple(candidate for candidate in told.inputs.candidates if candidate.section in keys)
    return Inputs(replace(told.inputs.request, budget=budget_wished(told, profile)), profile, offered)


def _changed(inputs: Inputs, assembly: Assembly, wishes: Wishes, *, anew: bool) -> Inputs:
    """The inputs with all wishes that need no reading of sources."""
    request = inputs.request
    if wishes.max_tokens is not None:
        request = replace(request, budget=wishes.max_tokens)
    if wishes.tokenizer is not None:
        request = replace(request, tokenizer=tokenizer_named(wishes.tokenizer).name)
    candidates = with_versions(inputs.candidates, wishes.files) if wishes.files else inputs.candidates
    changed = Inputs(request, with_caps(inputs.profile, wishes.caps), tuple(candidates))
    return with_rules_wished(changed, assembly, wishes, anew=anew)
