"""Following another profile: what it comes to for a recorded request, and whether the record holds enough for it."""

from collections.abc import Mapping
from dataclasses import replace

from assembly.again.settings import sections_of
from assembly.again.wishes import Wishes
from assembly.asked import Asked
from assembly.engine.profile import Profile, Section
from assembly.profiles import profile_named
from assembly.profiles.strategy import strategy_applied
from assembly.recorded import Recorded
from assembly.rules.firing import with_room
from config.http.errors import Invalid


def profile_wished(told: Recorded, name: str) -> Profile:
    """The profile as it is today, with room for what the recorded rules always include; the request's own strategy is
    part of it where it is the profile that was asked for. Raises Invalid for one that cannot be used."""
    profile = profile_named(name)
    if name == told.assembly.profile_name:
        profile = strategy_applied(profile, told.assembly.request.get("strategy") or {})
    return with_room(profile, told.inputs.request.rules)


def reaches(told: Recorded, wanted: Profile) -> bool:
    """Whether all that the wanted profile chooses from is among the candidates on record: the same sections from the
    same sources, none of which has to be asked for more, and nothing that the reading itself depends on."""
    recorded = told.inputs.profile
    old, new = sections_of(recorded), sections_of(wanted)
    same_reading = recorded.depth_limit == wanted.depth_limit and recorded.ranker == wanted.ranker
    grown = told.assembly.parent is not None  # what it holds is no longer all that was considered
    return same_reading and not grown and all(key in old and _is_within(old[key], new[key]) for key in new)


def with_caps(profile: Profile, caps: Mapping[str, int | None]) -> Profile:
    """The profile with these caps. Raises Invalid for sections that it lacks, or that are always in whole."""
    if not caps:
        return profile
    try:
        return strategy_applied(profile, {"caps": caps})
    except Invalid as refused:
        raise Invalid("caps", refused.detail) from None


def budget_wished(told: Recorded, profile: Profile) -> int:
    """The profile's own, where the recorded budget was that of the recorded profile; else as it was."""
    budget = told.assembly.budget
    return profile.budget if budget == told.inputs.profile.budget else budget


def asked_wished(asked: Asked, wishes: Wishes, profile_name: str) -> Asked:
    """The request with the wishes that bear on what is read. What another profile has no section for is left out, and
    so is the strategy of the request, which names the sections of its own."""
    if wishes.topic is not None:
        asked = replace(asked, topic=wishes.topic)
    if wishes.profile is None or wishes.profile == profile_name:
        return asked
    sources = {section.source for section in profile_named(wishes.profile).sections}
    return replace(
        asked,
        profile=wishes.profile,
        strategy={},
        history=asked.history if "turns" in sources else (),
        additional_context=asked.additional_context if "additional_context" in sources else "",
    )


def _is_within(old: Section, new: Section) -> bool:
    same_source = (old.source, old.shape, old.ranker) == (new.source, new.shape, new.ranker)
    return same_source and (old.top_k is None or (new.top_k is not None and new.top_k <= old.top_k))
