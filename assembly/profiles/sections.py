"""One section in a profile's text."""

import re
from collections.abc import Collection
from typing import Any, get_args

import yaml

from assembly.engine.appending import LATEST
from assembly.engine.profile import MAX_PERCENT, RANKED_SOURCE, SEED, Overflow, Section, Shape
from assembly.engine.ranking import Ranker
from assembly.engine.ruling import ALWAYS_INCLUDED
from assembly.profiles.fields import Fields
from assembly.profiles.rankers import RANKERS

KNOWN = ("key", "heading", "layer", "source", "shape", "cap", "share", "top_k", "required", "overflow", "ranker")
LAYERS = ("L1", "L2", "L3", "L4", "L5", "L6", "L7")
KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")
MAX_HEADING_CHARACTERS = 80
RESERVED = {ALWAYS_INCLUDED.key, LATEST.key}
"""Keys of sections that rules and appended events add to a profile."""

MAX_CAP = 200_000  # tokens
MAX_TOP_K = 1_000

SHAPES = {
    "agent_files": ("text",),
    "team_files": ("text",),
    "daily_logs": ("entries",),
    "team_memories": ("lines",),
    "agent_memories": ("lines",),
    "turns": ("turns",),
    "task_stack": ("sequence",),
    "additional_context": ("blocks", "text"),
}
"""Which shapes suit a source; all others offer blocks."""

KEYS = {
    "agent_files": ("identity", "instructions", "knowledge"),
    "team_files": ("goals", "context", "rules"),
    "task_stack": ("task_root", "task_path", "sibling_results", "current_task"),
}
"""What the sections of a source are called, where the key says what it is to bring."""


def section_read(node: yaml.Node, sources: Collection[str]) -> tuple[Section, int]:
    """The section, and the line on which it begins. Raises UnreadableProfile."""
    fields = Fields(node, KNOWN, "A section")
    source = fields.choice("source", tuple(sources))
    required: dict[str, Any] = {
        "key": _key(fields, source),
        "label": fields.text("heading", MAX_HEADING_CHARACTERS),
        "layer": fields.choice("layer", LAYERS),
        "source": source,
        "shape": _shape(fields, source),
    }
    section = Section(
        **required,
        cap=fields.whole("cap", 0, MAX_CAP),
        required=fields.flag("required"),
        top_k=fields.whole("top_k", 1, MAX_TOP_K),
        share=fields.number("share", MAX_PERCENT),
        overflow=_overflow(fields),
        ranker=_ranker(fields, source),
    )
    return section, fields.line


def _key(fields: Fields, source: str) -> str:
    if source in KEYS:
        return fields.choice("key", KEYS[source])
    key = fields.text("key", 60)
    if key in RESERVED:
        raise fields.fault("key", "is the one of what rules include or events add. Choose another key.")
    if not KEY.fullmatch(key):
        raise fields.fault("key", "must be lower-case letters, digits and underscores, as in recent_events.")
    return key


def _shape(fields: Fields, source: str) -> Shape:
    shape: Any = fields.choice("shape", get_args(Shape))
    suitable = SHAPES.get(source, ("blocks",))
    if shape not in suitable:
        raise fields.fault("shape", f"must be {' or '.join(suitable)}: that is what {source} offers.")
    return shape  # type: ignore[no-any-return]


def _overflow(fields: Fields) -> Overflow:
    overflow: Any = fields.choice("overflow", get_args(Overflow), default="cut")
    return overflow  # type: ignore[no-any-return]


def _ranker(fields: Fields, source: str) -> Ranker | None:
    if "ranker" not in fields.nodes:
        return None
    if source != RANKED_SOURCE:
        raise fields.fault("ranker", f"is for {RANKED_SOURCE} alone. Memories rank by the ranker of the profile.")
    name = fields.choice("ranker", (*RANKERS, SEED))
    return None if name == SEED else RANKERS[name]
