"""Values by their fields: what `dataclasses` does for any value, in a fraction of the time for flat ones."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any


def flat(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or a Struct by name, as they are: `asdict` copies whatever they hold."""
    names, values_of = _reader(value.__class__)
    return dict(zip(names, values_of(value), strict=True))


@cache
def _reader(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of the fields, of which there are several, and what reads them all."""
    names = getattr(kind, "__struct_fields__", None) or tuple(kind.__dataclass_fields__)
    return names, attrgetter(*names)
