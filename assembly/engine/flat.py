"""The fields of a value by name."""

from typing import Any


def flat(value: Any) -> dict[str, Any]:
    """The fields of a dataclass as they are. `asdict` copies whatever they hold, which takes twenty times as long."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
