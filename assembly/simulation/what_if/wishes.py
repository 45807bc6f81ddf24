"""What is to be different: the wishes of somebody who asks “what if”, as values and as plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from config.http.errors import Invalid

MAX_CAPS = 50
MAX_RULES = 100
DRAFT_NAME = "tried"
"""What a rule is called that is not there yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """None, and nothing in a collection: as it was.

    `caps` are tokens by the keys of sections, None: no cap; `without_rules` are names; `with_rule` is the text of a
    rule; `files` are numbers of versions by the keys of files.
    """

    max_tokens: int | None = None
    tokenizer: str | None = None
    profile: str | None = None
    topic: str | None = None
    caps: Mapping[str, int | None] = field(default_factory=dict)
    without_rules: tuple[str, ...] = ()
    with_rule: str | None = None
    files: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether everything is to be as it was."""
        return self == Overrides()

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe, without what is to be as it was; from_dict restores equal wishes."""
        data = {**asdict(self), "without_rules": list(self.without_rules)}
        return {name: value for name, value in data.items() if value not in (None, [], {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Overrides":
        """The wishes that to_dict described."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        return cls(**{**given, "without_rules": tuple(data.get("without_rules", ()))})


def require_overrides(wishes: Overrides) -> None:
    """Raises Invalid where nothing is to be different: the answer would be the question."""
    if wishes.is_empty:
        raise Invalid("wishes", "Nothing would be different. Change at least one thing.", "empty")
