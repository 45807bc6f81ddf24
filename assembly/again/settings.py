"""By what two contexts were made: budget, topic, profile, rules, tokenizer and day, where these differ."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

from assembly.engine.appending import LATEST
from assembly.engine.flat import flat
from assembly.engine.profile import Profile, Section
from assembly.engine.ruling import ALWAYS_INCLUDED
from assembly.recorded import Inputs

Name = Literal["topic", "budget", "tokenizer", "profile", "section", "rules", "day", "left_out_by_request"]
NAMES: tuple[Name, ...] = get_args(Name)
PROFILE_FACTS = ("similarity_threshold", "weights", "depth_limit", "over_budget", "fill", "cut_at", "quality_min")
"""What a profile says of the context as a whole, beside its budget."""
ADDED = frozenset({ALWAYS_INCLUDED.key, LATEST.key})


@dataclass(frozen=True, slots=True)
class Setting:
    """One that differs. `of` is the section's heading, for what a profile says of one section. Plain values as text."""

    name: Name
    before: str
    after: str
    of: str = ""


def settings_between(before: Inputs, after: Inputs) -> tuple[Setting, ...]:
    """Those that differ, the most telling first."""
    old, new = before.request, after.request
    pairs: list[tuple[Name, str, str]] = [
        ("topic", old.topic, new.topic),
        ("budget", f"{old.budget:,}", f"{new.budget:,}"),
        ("tokenizer", old.tokenizer, new.tokenizer),
        ("profile", _profile(before.profile), _profile(after.profile)),
        ("rules", _rules(before), _rules(after)),
        ("day", f"{old.now:%Y-%m-%d}", f"{new.now:%Y-%m-%d}"),
        ("left_out_by_request", ", ".join(old.exclude), ", ".join(new.exclude)),
    ]
    found = [Setting(name, was, now) for name, was, now in pairs if was != now]
    return (*found, *_sections(before.profile, after.profile))


def sections_of(profile: Profile) -> dict[str, Section]:
    """The sections that the profile itself has, by key: others are made for what rules always include, and for what was
    added afterwards."""
    return {section.key: section for section in profile.sections if section.key not in ADDED}


def same_but_for_sections(one: Profile, other: Profile) -> bool:
    """Whether the profiles weigh, search and cut alike, and have the same order."""
    alike = all(getattr(one, name) == getattr(other, name) for name in PROFILE_FACTS)
    return alike and one.ranker == other.ranker and [*sections_of(one)] == [*sections_of(other)]


def _profile(profile: Profile) -> str:
    return f"{profile.name}, version {profile.version}"


def _rules(inputs: Inputs) -> str:
    return "; ".join(f"{rule.name}, version {rule.version}" for rule in inputs.request.rules)


def _sections(before: Profile, after: Profile) -> list[Setting]:
    """What profiles of the same sections say differently of one of them: its cap, its share, how many items."""
    old, new = sections_of(before), sections_of(after)
    both = [(old[key], new[key]) for key in new if key in old and old[key] != new[key]]
    return [Setting("section", _limits(was, now), _limits(now, was), now.label) for was, now in both]


def _limits(section: Section, other: Section) -> str:
    """What the section says of those things in which the other differs."""
    facts = {**flat(section), "ranker": section.ranker_name}
    told = [field.name for field in fields(section) if getattr(section, field.name) != getattr(other, field.name)]
    return ", ".join(f"{name.replace('_', ' ')} {_value(facts[name])}" for name in told)


def _value(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
