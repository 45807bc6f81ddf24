"""A KV policy says what is pinned, compressed and evicted, as the seed “Memory Layer” names it; this module is pure.

The numbers of the three content types are the seed's. `general` is for what has no path: memories, events, and files of
other types. It has documentation's numbers and no patterns.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import Any

MB, GB = 1_000_000, 1_000_000_000
FREEZE_AFTER_DAYS = 90
"""A cold thing is frozen after this many days without use; the seed has no rule for it."""
MAX_PATTERNS, MAX_PATTERN_CHARACTERS = 50, 200


@dataclass(frozen=True, slots=True)
class PinRule:
    """Things whose path or kind matches a pattern stay hot for `ttl_hours`, at most `max_size_mb` of an owner and
    type.
    """

    patterns: tuple[str, ...]
    max_size_mb: float
    ttl_hours: float


@dataclass(frozen=True, slots=True)
class CompressRule:
    """A hot thing becomes warm when it is older than `age_threshold_hours` and was used less than `access_threshold`
    times in that time. `compression_ratio` is the aim: size after, divided by size before.
    """

    age_threshold_hours: float
    access_threshold: int
    compression_ratio: float


@dataclass(frozen=True, slots=True)
class EvictRule:
    """Hot and warm things of an owner and type take at most `max_total_size_gb`; the highest score is evicted first."""

    max_total_size_gb: float
    lru_weight: float
    quality_weight: float


@dataclass(frozen=True, slots=True)
class KVPolicy:
    """The policy of a content type."""

    pin: PinRule
    compress: CompressRule
    evict: EvictRule

    def as_json(self) -> dict[str, Any]:
        """Return the policy as the seed writes it."""
        found = asdict(self)
        return {**found, "pin": {**found["pin"], "patterns": list(self.pin.patterns)}}


DEFAULT_POLICIES: Mapping[str, KVPolicy] = {
    "code_snippets": KVPolicy(
        PinRule(("*.js", "*.ts", "*.py"), 100, 24), CompressRule(6, 3, 0.7), EvictRule(2, 0.6, 0.4)
    ),
    "documentation": KVPolicy(PinRule(("README*", "*.md"), 50, 12), CompressRule(12, 2, 0.8), EvictRule(1, 0.4, 0.6)),
    "research_papers": KVPolicy(
        PinRule(("*.pdf", "abstract*"), 200, 48), CompressRule(24, 1, 0.9), EvictRule(5, 0.2, 0.8)
    ),
    "general": KVPolicy(PinRule((), 50, 12), CompressRule(12, 2, 0.8), EvictRule(1, 0.4, 0.6)),
}
CONTENT_TYPES = tuple(DEFAULT_POLICIES)


class InvalidPolicy(ValueError):
    """Raised for a policy with a missing, unknown or impossible value; `field` names it, as pin.ttl_hours."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


LIMITS: Mapping[str, tuple[float, float]] = {
    "pin.max_size_mb": (0, 1_000_000),
    "pin.ttl_hours": (0, 87_600),
    "compress.age_threshold_hours": (0, 87_600),
    "compress.access_threshold": (0, 1_000_000),
    "compress.compression_ratio": (0, 1),
    "evict.max_total_size_gb": (0, 1_000_000),
    "evict.lru_weight": (0, 1),
    "evict.quality_weight": (0, 1),
}
"""The least and the greatest value of each number, by its name."""


def parse_policy(value: Any, base: KVPolicy | None = None) -> KVPolicy:
    """Return the policy of a JSON object; what it leaves out is as in `base`. Raises InvalidPolicy."""
    parts: dict[str, dict[str, Any]] = {}
    for part, names in (("pin", PinRule), ("compress", CompressRule), ("evict", EvictRule)):
        known = set(names.__dataclass_fields__)
        given = value.get(part, {}) if isinstance(value, Mapping) else None
        if not isinstance(given, Mapping):
            raise InvalidPolicy(part, "Send an object.")
        if unknown := sorted(set(given) - known):
            raise InvalidPolicy(f"{part}.{unknown[0]}", "This field is unknown.")
        merged = {**(base.as_json()[part] if base else {}), **given}
        if missing := sorted(known - set(merged)):
            raise InvalidPolicy(f"{part}.{missing[0]}", "This field is required.")
        parts[part] = {name: _checked(f"{part}.{name}", merged[name]) for name in known}
    if unknown := sorted(set(value) - set(parts)):
        raise InvalidPolicy(str(unknown[0]), "This field is unknown.")
    return KVPolicy(PinRule(**parts["pin"]), CompressRule(**parts["compress"]), EvictRule(**parts["evict"]))


def _checked(field: str, value: Any) -> Any:
    if field == "pin.patterns":
        return _checked_patterns(value)
    least, most = LIMITS[field]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not least <= value <= most:
        raise InvalidPolicy(field, f"Send a number from {least:,g} to {most:,g}.")
    if field == "compress.access_threshold":
        if value != int(value):
            raise InvalidPolicy(field, "Send a whole number.")
        return int(value)
    return value


def _checked_patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > MAX_PATTERNS:
        raise InvalidPolicy("pin.patterns", f"Send a list of at most {MAX_PATTERNS} patterns.")
    for pattern in value:
        if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_PATTERN_CHARACTERS or "\0" in pattern:
            raise InvalidPolicy("pin.patterns", f"A pattern has 1 to {MAX_PATTERN_CHARACTERS} characters.")
    return tuple(value)


def stored_policy(value: Mapping[str, Any]) -> KVPolicy:
    """Return the policy of a JSON object that was checked when it was stored."""
    pin = {**value["pin"], "patterns": tuple(value["pin"]["patterns"])}
    return KVPolicy(PinRule(**pin), CompressRule(**value["compress"]), EvictRule(**value["evict"]))


def narrow(policy: KVPolicy, requested: KVPolicy) -> KVPolicy:
    """Return the admins' policy, narrowed by that of a request: nothing stays hot longer or takes more room than it
    allows.

    The patterns remain the admins'; a thing must match one of the request's as well (see `pinned_by_policy`). The
    weights of eviction remain, because they order the things of everybody.
    """
    pin = replace(
        policy.pin,
        max_size_mb=min(policy.pin.max_size_mb, requested.pin.max_size_mb),
        ttl_hours=min(policy.pin.ttl_hours, requested.pin.ttl_hours),
    )
    compress = replace(
        requested.compress,
        age_threshold_hours=min(policy.compress.age_threshold_hours, requested.compress.age_threshold_hours),
        access_threshold=max(policy.compress.access_threshold, requested.compress.access_threshold),
    )
    size = min(policy.evict.max_total_size_gb, requested.evict.max_total_size_gb)
    return KVPolicy(pin, compress, replace(policy.evict, max_total_size_gb=size))


CODE_SUFFIXES = frozenset(
    (
        *(".js", ".jsx", ".ts", ".tsx", ".py", ".rs", ".go", ".java", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rb"),
        *(".php", ".sh", ".bash", ".sql", ".kt", ".swift", ".scala", ".css", ".html", ".json", ".yaml", ".toml"),
    )
)
PROSE_SUFFIXES = frozenset({".md", ".rst", ".txt", ".adoc", ".markdown"})


def content_type_of(kind: str, label: str) -> str:
    """Return the content type of a thing; `label` is its path, or the kind of a memory."""
    if kind == "memory" or not label:
        return "general"
    path = PurePosixPath(label)
    suffix, name = path.suffix.lower(), path.name.lower()
    if suffix == ".pdf" or name.startswith("abstract"):
        return "research_papers"
    if suffix in CODE_SUFFIXES:
        return "code_snippets"
    return "documentation" if suffix in PROSE_SUFFIXES or name.startswith("readme") else "general"
