"""Two contexts beside each other: what is different in texts, fates and settings."""

from dataclasses import dataclass

from assembly.again.settings import Setting, settings_between
from assembly.again.side import Side
from assembly.comparing import Comparison, compare


@dataclass(frozen=True, slots=True)
class Beside:
    """A context and another one that is looked at after it."""

    before: Side
    after: Side
    comparison: Comparison
    settings: tuple[Setting, ...]
    """What both were asked and made by, where it is not the same."""

    @classmethod
    def of(cls, before: Side, after: Side) -> "Beside":
        """Compared in every respect."""
        return cls(before, after, compare(before, after), settings_between(before.inputs, after.inputs))

    @property
    def is_same(self) -> bool:
        """Whether a reader of either would have read the same, to the letter."""
        return self.before.content == self.after.content

    @property
    def missing(self) -> frozenset[str]:
        """The sources that could not be read, on either side."""
        return self.before.missing | self.after.missing
