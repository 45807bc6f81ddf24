"""From a profile's text to the profile, and back."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

import yaml

from assembly.engine.flat import flat
from assembly.engine.profile import STEPS, CutAt, Profile, Section, Weights
from assembly.engine.types import InvalidAssembly
from assembly.profiles.fields import Fields
from assembly.profiles.rankers import RANKERS
from assembly.profiles.sections import section_read
from assembly.profiles.tree import UnreadableProfile, shown, tree_of

KNOWN = (
    *("name", "description", "budget", "similarity_threshold", "depth_limit", "weights"),
    *("over_budget", "fill", "cut_at", "quality_min", "ranker", "sections"),
)
WEIGHTS = tuple(field.name for field in fields(Weights))
MAX_NAME_CHARACTERS = 60
MAX_DESCRIPTION_CHARACTERS = 300
MAX_BUDGET = 200_000  # tokens
MAX_DEPTH_LIMIT = 5
MAX_WEIGHT = 10
MAX_SECTIONS = 40


@dataclass(frozen=True, slots=True)
class Described:
    """A profile with the words that say what it is for."""

    profile: Profile
    description: str


def profile_read(text: str, *, name: str, version: int, sources: Collection[str]) -> Profile:
    """The profile that the text describes. Raises UnreadableProfile, which is Invalid("content", "Line 14: …")."""
    return described_read(text, name=name, version=version, sources=sources).profile


def described_read(text: str, *, name: str | None, version: int, sources: Collection[str]) -> Described:
    """The same, together with its description. Without a name, the text's own counts. Raises UnreadableProfile."""
    root = Fields(tree_of(text), KNOWN, "A profile")
    own = root.text("name", MAX_NAME_CHARACTERS, default=name or "draft")
    if name is not None and own != name:
        raise root.fault("name", f"says {shown(own)}, but this is the profile {name}. Correct or remove this line.")
    description = root.text("description", MAX_DESCRIPTION_CHARACTERS, default="")
    options = {
        "budget": root.whole("budget", 1, MAX_BUDGET),
        "similarity_threshold": root.number("similarity_threshold", 1),
        "depth_limit": root.whole("depth_limit", 0, MAX_DEPTH_LIMIT),
        "weights": _weights(root),
        "over_budget": root.steps("over_budget", STEPS),
        "fill": root.flag("fill"),
        "cut_at": root.choice("cut_at", get_args(CutAt), default="anywhere"),
        "quality_min": root.number("quality_min", 1),
        "ranker": RANKERS[root.choice("ranker", tuple(RANKERS))] if "ranker" in root.nodes else None,
    }
    given = {option: value for option, value in options.items() if value is not None}
    sections = [section_read(node, sources) for node in root.nodes_of("sections", MAX_SECTIONS)]
    return Described(_profile(sections, {"name": own, "version": version, **given}), description)


def profile_text(profile: Profile, description: str) -> str:
    """The profile as a text that reads back as an equal one."""
    facts: dict[str, Any] = (
        {"name": profile.name, "description": description} if description else {"name": profile.name}
    )
    facts |= {key: getattr(profile, key) for key in ("budget", "similarity_threshold", "depth_limit")}
    facts["weights"] = asdict(profile.weights)
    facts |= _about_what_has_no_room(profile)
    if profile.ranker:
        facts["ranker"] = profile.ranker.name
    facts["sections"] = [_facts(section) for section in profile.sections]
    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=10_000)


def _about_what_has_no_room(profile: Profile) -> dict[str, Any]:
    facts = {
        "over_budget": list(profile.over_budget),
        "fill": profile.fill,
        "cut_at": profile.cut_at,
        "quality_min": profile.quality_min,
    }
    left_out: dict[str, Any] = {"over_budget": [], "fill": False, "cut_at": "anywhere", "quality_min": 0}
    return {key: value for key, value in facts.items() if value != left_out[key]}


def _facts(section: Section) -> dict[str, Any]:
    facts = {"heading" if key == "label" else key: value for key, value in flat(section).items()}
    facts["ranker"] = section.ranker.name if section.ranker else None
    left_out = {"cap": None, "share": None, "top_k": None, "required": False, "overflow": "cut", "ranker": None}
    return {key: value for key, value in facts.items() if key not in left_out or value != left_out[key]}


def _weights(root: Fields) -> Weights | None:
    if "weights" not in root.nodes:
        return None
    weights = Fields(root.nodes["weights"], WEIGHTS, "“weights”")
    given = {name: weights.number(name, MAX_WEIGHT) for name in WEIGHTS}
    return Weights(**{name: weight for name, weight in given.items() if weight is not None})


def _profile(sections: Sequence[tuple[Section, int]], facts: dict[str, Any]) -> Profile:
    """The profile, by the engine's own rules. Built section by section, the first that breaks one is at fault."""
    _refuse_keys_given_twice(sections)
    _refuse_what_follows_turns(sections)
    for count, (_, line) in enumerate(sections, 1):
        try:
            profile = Profile(sections=tuple(section for section, _ in sections[:count]), **facts)
        except InvalidAssembly as error:
            raise UnreadableProfile(line, str(error)) from None
    return profile


def _refuse_keys_given_twice(sections: Sequence[tuple[Section, int]]) -> None:
    first: dict[str, int] = {}
    for section, line in sections:
        if section.key in first:
            reason = (
                f"The section {section.key} stands on line {first[section.key]} already. Give this one another key."
            )
            raise UnreadableProfile(line, reason)
        first[section.key] = line


def _refuse_what_follows_turns(sections: Sequence[tuple[Section, int]]) -> None:
    for section, line in sections[:-1]:
        if section.shape == "turns":
            raise UnreadableProfile(line, f"{section.label} must stand last: move this section to the end.")
