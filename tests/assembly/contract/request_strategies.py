"""Strategies that draw requests of the contract: valid ones from its limits, and values that break one limit."""

import json
from typing import Any

from hypothesis import strategies as st

from assembly.contract.schemas import MEMORY_REQUEST

PROPERTIES: dict[str, Any] = dict(MEMORY_REQUEST.document["properties"])
DEFINITIONS: dict[str, Any] = dict(MEMORY_REQUEST.document["$defs"])
CHARACTERS = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
PRINTABLE = st.characters(min_codepoint=0x20, max_codepoint=0x7E)


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema allows; only the keywords that the contract uses are known."""
    if "$ref" in schema:
        return values_of(DEFINITIONS[schema["$ref"].removeprefix("#/$defs/")])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "string" | ["string", "null"]:
            characters = PRINTABLE if "not" in schema else CHARACTERS
            return st.text(characters, min_size=schema.get("minLength", 0), max_size=min(schema["maxLength"], 40))
        case "integer":
            return st.integers(schema["minimum"], schema["maximum"])
        case "number":
            return st.floats(schema["minimum"], schema["maximum"]) | st.integers(schema["minimum"], schema["maximum"])
        case "array":
            most = min(schema["maxItems"], 6)
            return st.lists(values_of(schema["items"]), min_size=schema.get("minItems", 0), max_size=most)
    return objects_of(schema["properties"], schema.get("required", []))


def objects_of(properties: dict[str, Any], required: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with all required members and any of the others."""
    drawn = {name: values_of(schema) for name, schema in properties.items()}
    optional = {name: strategy for name, strategy in drawn.items() if name not in required}
    return st.fixed_dictionaries({name: drawn[name] for name in required}, optional=optional)


NAMES_OF_THINGS = {"agent", "team", "profile", "tokenizer", "session", "now"}
"""Members that must name something that exists, or a moment."""


def requests() -> st.SearchStrategy[dict[str, Any]]:
    """Valid requests that name nothing which would have to exist, as JSON reads them."""
    free = {name: schema for name, schema in PROPERTIES.items() if name not in NAMES_OF_THINGS}
    named = {
        "profile": st.sampled_from(["memory", "conversation", "coding", "research", "operations", "stack"]),
        "tokenizer": st.sampled_from(["cl100k_base", "chars4"]),
        "now": st.sampled_from(["2026-03-14T12:00:00Z", "2026-03-14T12:00:00.5+01:00"]),
        "team": st.none(),
    }
    drawn = st.tuples(objects_of(free, ["request_id", "intent"]), st.fixed_dictionaries({}, optional=named))
    return drawn.map(lambda both: json.loads(json.dumps({**both[0], **both[1]})))
