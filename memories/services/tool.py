"""Tools: the schema of their arguments, and the meaning by which they are found."""

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from memories.compact_json import compact
from memories.directions import give_directions
from memories.models import Tool
from memories.services.flaws import Flaw
from memories.services.preparation import prepares

MAX_SCHEMA_CHARACTERS = 200_000
TOO_MUCH = f"The schemas have over {MAX_SCHEMA_CHARACTERS:,} characters together. Send these tools in smaller batches."


@prepares(Tool)
def prepare_tools(tools: Mapping[int, Tool]) -> Iterator[Flaw]:
    """Tools are found by their names and descriptions; their schemas are JSON Schema, draft 2020-12."""
    characters = 0
    for place, tool in tools.items():
        characters += len(compact(tool.schema))
        if characters > MAX_SCHEMA_CHARACTERS:  # each takes its time to check
            yield Flaw(place, "schema", TOO_MUCH)
            return
        if fault := schema_fault(tool.schema):
            yield Flaw(place, "schema", fault)
    give_directions(list(tools.values()))


def schema_fault(schema: dict[str, Any]) -> str:
    """Where the schema is none, in words; "" when it is one."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)[:200]
        at = f"At “{where}” it" if where else "It"
        return f"{at} breaks the rule “{error.validator}” of JSON Schema 2020-12. Correct the schema there."
    return ""
