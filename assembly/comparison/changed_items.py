"""A changed item is shown on pages as one row, with one table of words for what happened to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from assembly.contexts.items import OutcomeTag
from assembly.engine.diff import ChangeEffect, ContextDiff, DecisionChange
from assembly.engine.types import Candidate
from assembly.records.item_titles import title_of
from assembly.records.section_names import section_name

Wording = Literal["texts", "rules", "past"]
"""The wording of rows: for two texts, for what a rule would do, or for what has happened since."""

TAGS: Mapping[ChangeEffect, Mapping[Wording, tuple[str, str]]] = {
    "in": {"texts": ("added", "good"), "rules": ("added", "good"), "past": ("new", "good")},
    "out": {"texts": ("removed", "bad"), "rules": ("removed", "bad"), "past": ("gone", "bad")},
    "moved": {"texts": ("moved", "plain"), "rules": ("moved", "plain"), "past": ("moved", "plain")},
    "changed": {
        "texts": ("changed", "plain"),
        "rules": ("re-ranked", "plain"),
        "past": ("changed", "warn"),
    },
}


@dataclass(frozen=True, slots=True)
class CauseRow:
    """A cause in words, with the address of what changed; "" if it has no page."""

    sentence: str
    address: str = ""
    title: str = ""
    """The title of the item, if the sentence does not name it."""


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """A row for an item: what happens to it, and why."""

    tag: OutcomeTag
    title: str
    section: str
    layer: str
    tokens: int
    """The tokens of the item in the later context, or of the whole item if it is excluded."""
    why: str
    """The reason in the later context; "" if the item is included in full."""
    causes: tuple[CauseRow, ...] = ()
    """What changed between the contexts, if that is known."""


Reason = Callable[[DecisionChange, str, Mapping[str, str]], str]
"""A function that returns why an item changed, from the change, the heading of its section, and the titles of items by
ref.
"""


def effect_tag(change: DecisionChange, wording: Wording) -> OutcomeTag:
    """Return the tag for what happens to the item."""
    label, tone = TAGS[change.effect][wording]
    return OutcomeTag(_(label), tone)


def titles_by_ref(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return the titles of the items by ref."""
    return {candidate.ref: title_of(candidate) for candidate in candidates}


def changed_items(
    comparison: ContextDiff,
    changes: Sequence[DecisionChange],
    titles: Mapping[str, str],
    *,
    tag: Callable[[DecisionChange], OutcomeTag],
    why: Reason,
) -> tuple[ChangedItem, ...]:
    """Return a row for each of these changes of the comparison. `titles` are those of the items, by ref."""
    sections = {one.section.key: one.section for one in comparison.sections}
    rows = []
    for change in changes:
        decision = change.decision
        section = sections[decision.section]
        rows.append(
            ChangedItem(
                tag=tag(change),
                title=titles[decision.ref],
                section=section_name(section),
                layer=section.layer.lower(),
                tokens=decision.tokens if decision.included else decision.tokens_full,
                why=why(change, section_name(section), titles),
            )
        )
    return tuple(rows)
