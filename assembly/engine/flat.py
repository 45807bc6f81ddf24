"""Values by their fields: what `dataclasses` does for any value, in a fraction of the time for flat ones."""

from typing import Any


def flat(value: Any) -> dict[str, Any]:
    """The fields by name, as they are: `asdict` copies whatever they hold."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
