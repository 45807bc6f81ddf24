"""What became of the candidates of recorded contexts."""

from collections.abc import Collection
from typing import Any

from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.records.reader import load_record


def decided(assembly: Assembly, **wanted: Any) -> list[Decision]:
    """The decisions, in order, whose attributes are as wanted; of several values, one of them."""
    return [
        one for one in load_record(assembly).decisions if all(_is(getattr(one, name), wanted[name]) for name in wanted)
    ]


def _is(value: Any, wanted: Any) -> bool:
    several = isinstance(wanted, Collection) and not isinstance(wanted, str)
    return value in wanted if several else value == wanted
