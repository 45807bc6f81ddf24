"""The parser reads a profile and its sections from YAML, and writes it back."""

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

import yaml

from assembly.engine.assemble import RESERVED_SECTION_KEYS
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import (
    DOMAIN_WEIGHTS,
    DOMAINS,
    MAX_PERCENT,
    RANKED_SOURCE,
    SECTION_DEFAULTS,
    SEED_RANKER,
    STEPS,
    ConflictMode,
    CutAt,
    CutMark,
    Delimiter,
    Domain,
    Overflow,
    PrivacyMode,
    Profile,
    Section,
    Shape,
    Weights,
)
from assembly.engine.scopes import SCOPES, MemoryScope
from assembly.engine.types import LEVEL_PREFERENCES, ORIGINS, InvalidAssembly, field_values
from assembly.profiles.documents import MAX_NAME_CHARACTERS
from assembly.profiles.rankers import RANKERS
from assembly.profiles.yaml_reader import UnreadableDocument, YamlFields, display_text, parse_yaml

SECTION_FIELDS = (
    "key",
    "heading",
    "layer",
    "source",
    "shape",
    "cap",
    "share",
    "top_k",
    "required",
    "overflow",
    "ranker",
    "least_origin",
    "relevance_floor",
)
LAYERS = ("L1", "L2", "L3", "L4", "L5", "L6", "L7")
SECTION_KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")
MAX_HEADING_CHARACTERS = 80

MAX_CAP = 200_000  # tokens
MAX_TOP_K = 1_000

SOURCE_SHAPES = {
    "agent_files": ("text", "blocks"),
    "team_files": ("text", "blocks"),
    "daily_logs": ("entries", "blocks"),
    "team_memories": ("lines", "blocks"),
    "agent_memories": ("lines", "blocks"),
    "turns": ("turns",),
    "task_stack": ("sequence",),
    "additional_context": ("blocks", "text"),
}
"""The shapes that each source supports; sources that are not listed provide blocks."""

FILE_KEYS = {
    "agent_files": ("identity", "instructions", "knowledge"),
    "team_files": ("goals", "context", "rules"),
    "task_stack": ("task_root", "task_path", "sibling_results", "current_task"),
}
"""The keys of sections of a source whose key selects a file."""


def parse_section(node: yaml.Node, sources: Collection[str]) -> tuple[Section, int]:
    """Return the section, and the line on which it begins. Raises UnreadableDocument."""
    fields = YamlFields(node, SECTION_FIELDS, "A section")
    source = fields.choice("source", tuple(sources))
    required: dict[str, Any] = {
        "key": _parse_key(fields, source),
        "label": fields.text("heading", MAX_HEADING_CHARACTERS),
        "layer": fields.choice("layer", LAYERS),
        "source": source,
        "shape": _parse_shape(fields, source),
    }
    section = Section(
        **required,
        cap=fields.whole("cap", 0, MAX_CAP),
        required=fields.flag("required"),
        top_k=fields.whole("top_k", 1, MAX_TOP_K),
        share=fields.number("share", MAX_PERCENT),
        overflow=_parse_overflow(fields),
        ranker=_parse_ranker(fields, source),
        least_origin=fields.optional_choice("least_origin", ORIGINS),  # type: ignore[arg-type]
        relevance_floor=_parse_relevance_floor(fields),
    )
    return section, fields.line


def _parse_key(fields: YamlFields, source: str) -> str:
    if source in FILE_KEYS:
        return fields.choice("key", FILE_KEYS[source])
    key = fields.text("key", 60)
    if key in RESERVED_SECTION_KEYS:
        raise fields.fault("key", "is the one of what rules, events or failed sources add. Choose another key.")
    if not SECTION_KEY.fullmatch(key):
        raise fields.fault("key", "must be lower-case letters, digits and underscores, as in recent_events.")
    return key


def _parse_shape(fields: YamlFields, source: str) -> Shape:
    shape: Any = fields.choice("shape", get_args(Shape))
    suitable = SOURCE_SHAPES.get(source, ("blocks",))
    if shape not in suitable:
        raise fields.fault("shape", f"must be {' or '.join(suitable)}: that is what {source} offers.")
    return shape  # type: ignore[no-any-return]


def _parse_overflow(fields: YamlFields) -> Overflow:
    overflow: Any = fields.choice("overflow", get_args(Overflow), default="cut")
    return overflow  # type: ignore[no-any-return]


def _parse_ranker(fields: YamlFields, source: str) -> Ranker | None:
    if "ranker" not in fields.nodes:
        return None
    if source != RANKED_SOURCE:
        raise fields.fault("ranker", f"is for {RANKED_SOURCE} alone. Memories rank by the ranker of the profile.")
    name = fields.choice("ranker", (*RANKERS, SEED_RANKER))
    return None if name == SEED_RANKER else RANKERS[name]


def _parse_relevance_floor(fields: YamlFields) -> float:
    floor = fields.number("relevance_floor", 1) or 0.0
    if floor and fields.choice("shape", get_args(Shape)) != "blocks":
        raise fields.fault("relevance_floor", "is for blocks alone.")
    return floor


SCOPE_MAPS = {"scope_limits": 1_000, "half_life": 36_500, "credibility": 1}
"""The options with a number for each memory scope, with its maximum: items, days, and 0 to 1."""
PRECAUTIONS = ("conflicts", "coherence_min", "privacy_mode")
PROFILE_FIELDS = (
    *("name", "description", "budget", "similarity_threshold", "depth_limit", "weights", "domain"),
    *("over_budget", "fill", "cut_at", "quality_min", "ranker", "lod", *SCOPE_MAPS),
    *("delimit", "cut_mark", "deduplicate", "report_failures", *PRECAUTIONS, "second_round", "summaries_max"),
    "sections",
)
WEIGHTS = tuple(field.name for field in fields(Weights))
MAX_DESCRIPTION_CHARACTERS = 300
MAX_BUDGET = 200_000  # tokens
MAX_DEPTH_LIMIT = 5
MAX_WEIGHT = 10
MAX_SECTIONS = 40
MAX_SUMMARIES = 1_000


@dataclass(frozen=True, slots=True)
class DescribedProfile:
    """A profile with its description."""

    profile: Profile
    description: str


def parse_profile(text: str, *, name: str, version: int, sources: Collection[str]) -> Profile:
    """Return the profile in the text. Raises UnreadableDocument, which is Invalid("content", "Line 14: …")."""
    return parse_described_profile(text, name=name, version=version, sources=sources).profile


def parse_described_profile(text: str, *, name: str | None, version: int, sources: Collection[str]) -> DescribedProfile:
    """Return the profile with its description. Without `name`, the name in the text is used. Raises
    UnreadableDocument.
    """
    root = YamlFields(parse_yaml(text), PROFILE_FIELDS, "A profile")
    own = root.text("name", MAX_NAME_CHARACTERS, default=name or "draft")
    if name is not None and own != name:
        raise root.fault(
            "name", f"says {display_text(own)}, but this is the profile {name}. Correct or remove this line."
        )
    description = root.text("description", MAX_DESCRIPTION_CHARACTERS, default="")
    domain: Domain | None = root.optional_choice("domain", DOMAINS)  # type: ignore[assignment]
    options = {
        "budget": root.whole("budget", 1, MAX_BUDGET),
        "similarity_threshold": root.number("similarity_threshold", 1),
        "depth_limit": root.whole("depth_limit", 0, MAX_DEPTH_LIMIT),
        "weights": _parse_weights(root, domain),
        "domain": domain,
        "over_budget": root.steps("over_budget", STEPS),
        "fill": root.flag("fill"),
        "cut_at": root.choice("cut_at", get_args(CutAt), default="anywhere"),
        "quality_min": root.number("quality_min", 1),
        "ranker": RANKERS[root.choice("ranker", tuple(RANKERS))] if "ranker" in root.nodes else None,
        "lod": root.optional_choice("lod", LEVEL_PREFERENCES),
        **{name: _parse_scopes(root, name) for name in SCOPE_MAPS},
        "delimit": root.choice("delimit", get_args(Delimiter), default="headings"),
        "cut_mark": root.choice("cut_mark", get_args(CutMark), default="source"),
        "deduplicate": root.flag("deduplicate", default=True),
        "report_failures": root.flag("report_failures", default=True),
        "conflicts": root.word("conflicts", get_args(ConflictMode), default="mark"),
        "coherence_min": root.number("coherence_min", 1),
        "privacy_mode": root.word("privacy_mode", get_args(PrivacyMode), default="off"),
        "second_round": root.flag("second_round"),
        "summaries_max": root.whole("summaries_max", 0, MAX_SUMMARIES),
    }
    given = {option: value for option, value in options.items() if value is not None}
    sections = [parse_section(node, sources) for node in root.nodes_of("sections", MAX_SECTIONS)]
    if options["second_round"] and not any(section.shape == "blocks" for section, _ in sections):
        raise root.fault("second_round", "is for blocks, of which a second reading may find more; no section has any.")
    return DescribedProfile(_build_profile(sections, {"name": own, "version": version, **given}), description)


def profile_yaml(profile: Profile, description: str) -> str:
    """Return the profile as YAML, which is parsed to an equal profile."""
    facts: dict[str, Any] = (
        {"name": profile.name, "description": description} if description else {"name": profile.name}
    )
    facts |= {key: getattr(profile, key) for key in ("budget", "similarity_threshold", "depth_limit")}
    facts |= {"domain": profile.domain} if profile.domain else {}
    facts["weights"] = asdict(profile.weights)
    facts |= _overflow_document(profile)
    if profile.ranker:
        facts["ranker"] = profile.ranker.name
    facts["sections"] = [_section_document(section) for section in profile.sections]
    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=10_000)


def _overflow_document(profile: Profile) -> dict[str, Any]:
    facts = {
        "over_budget": list(profile.over_budget),
        "fill": profile.fill,
        "cut_at": profile.cut_at,
        "quality_min": profile.quality_min,
    }
    facts |= {name: dict(getattr(profile, name)) for name in SCOPE_MAPS}
    plain = ("lod", "delimit", "cut_mark", "deduplicate", "report_failures", "second_round", "summaries_max")
    facts |= {name: getattr(profile, name) for name in (*plain, *PRECAUTIONS)}
    left_out: dict[str, Any] = {"over_budget": [], "fill": False, "cut_at": "anywhere", "quality_min": 0}
    left_out |= {"lod": None, "delimit": "headings", "cut_mark": "source", "deduplicate": True, "report_failures": True}
    left_out |= {"conflicts": "mark", "coherence_min": 0, "privacy_mode": "off"}
    left_out |= {"second_round": False, "summaries_max": None}
    return {key: value for key, value in facts.items() if value != left_out.get(key, {})}


def _section_document(section: Section) -> dict[str, Any]:
    facts = {"heading" if key == "label" else key: value for key, value in field_values(section).items()}
    facts["ranker"] = section.ranker.name if section.ranker else None
    left_out = {"cap": None, "share": None, "top_k": None, "required": False, "overflow": "cut", "ranker": None}
    left_out |= SECTION_DEFAULTS
    return {key: value for key, value in facts.items() if key not in left_out or value != left_out[key]}


def _parse_weights(root: YamlFields, domain: Domain | None) -> Weights:
    """Return the weights in the text; those that are not given are the domain's, or the defaults."""
    unless_given = DOMAIN_WEIGHTS[domain] if domain else Weights()
    if "weights" not in root.nodes:
        return unless_given
    weights = YamlFields(root.nodes["weights"], WEIGHTS, "“weights”")
    given = {name: weights.number(name, MAX_WEIGHT) for name in WEIGHTS}
    return replace(unless_given, **{name: weight for name, weight in given.items() if weight is not None})


def _parse_scopes(root: YamlFields, name: str) -> dict[MemoryScope, float] | None:
    """Return the number of each named scope; None if the option is missing. A limit of items is a whole number."""
    if name not in root.nodes:
        return None
    of_scopes, most = YamlFields(root.nodes[name], SCOPES, f"“{name}”"), SCOPE_MAPS[name]
    least = 1 if name == "scope_limits" else 0
    given = {scope: of_scopes.whole(scope, least, most) if least else of_scopes.number(scope, most) for scope in SCOPES}
    if name == "half_life" and 0 in given.values():
        raise root.fault(name, "must be days above 0.")
    return {scope: number for scope, number in given.items() if number is not None}


def _build_profile(sections: Sequence[tuple[Section, int]], facts: dict[str, Any]) -> Profile:
    """Return the profile, validated by the engine section by section, so that the first invalid
    section has the error.
    """
    _refuse_duplicate_keys(sections)
    _refuse_sections_after_turns(sections)
    for count, (_, line) in enumerate(sections, 1):
        try:
            profile = Profile(sections=tuple(section for section, _ in sections[:count]), **facts)
        except InvalidAssembly as error:
            raise UnreadableDocument(line, str(error)) from None
    return profile


def _refuse_duplicate_keys(sections: Sequence[tuple[Section, int]]) -> None:
    first: dict[str, int] = {}
    for section, line in sections:
        if section.key in first:
            reason = f"The key {section.key} is used on line {first[section.key]} already. Choose another key."
            raise UnreadableDocument(line, reason)
        first[section.key] = line


def _refuse_sections_after_turns(sections: Sequence[tuple[Section, int]]) -> None:
    for section, line in sections[:-1]:
        if section.shape == "turns":
            raise UnreadableDocument(line, f"{section.label} must come last: move this section to the end.")
