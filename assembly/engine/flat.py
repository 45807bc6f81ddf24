"""Values by their fields: what `dataclasses` does for any value, in a fraction of the time for flat ones."""

from typing import Any

from msgspec import Struct, structs


def flat(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or a Struct by name, as they are: `asdict` of dataclasses copies whatever they hold."""
    if isinstance(value, Struct):
        return structs.asdict(value)
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
