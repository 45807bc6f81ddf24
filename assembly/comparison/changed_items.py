"""A changed item as pages show it: one row, and one table of the words for what became of it. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from assembly.contexts.items import OutcomeTag
from assembly.engine.diff import ChangeEffect, ContextDiff, DecisionChange
from assembly.engine.types import Candidate
from assembly.records.item_titles import title_of

Wording = Literal["texts", "rules", "past"]
"""texts: how two contexts differ; rules: what a rule would do; past: what has happened since."""

TAGS: Mapping[ChangeEffect, Mapping[Wording, tuple[str, str]]] = {
    "in": {"texts": ("comes in", "good"), "rules": ("comes in", "good"), "past": ("new", "good")},
    "out": {"texts": ("goes", "bad"), "rules": ("goes", "bad"), "past": ("gone", "bad")},
    "moved": {"texts": ("moves", "plain"), "rules": ("moves", "plain"), "past": ("moved", "plain")},
    "changed": {
        "texts": ("told otherwise", "plain"),
        "rules": ("counts otherwise", "plain"),
        "past": ("changed", "warn"),
    },
}


@dataclass(frozen=True, slots=True)
class CauseRow:
    """A cause in words, and where what changed can be looked at; "" where nowhere."""

    sentence: str
    address: str = ""
    title: str = ""
    """What the item is called, where the sentence does not name it."""


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """A row for one item: what becomes of it, and why."""

    tag: OutcomeTag
    title: str
    section: str
    layer: str
    tokens: int
    """Of the item as it is in the later context, or of the whole item where it is left out."""
    why: str
    """The reason for it in the later context; "" where the item is simply in."""
    causes: tuple[CauseRow, ...] = ()
    """What happened between the contexts, where that is known."""


Reason = Callable[[DecisionChange, str, Mapping[str, str]], str]
"""Returns why an item changed, from the change, the heading of its section, and the titles of items by ref."""


def effect_tag(change: DecisionChange, wording: Wording) -> OutcomeTag:
    """Return the tag for what becomes of the item."""
    label, tone = TAGS[change.effect][wording]
    return OutcomeTag(_(label), tone)


def titles_by_ref(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return the titles of the items."""
    return {candidate.ref: title_of(candidate) for candidate in candidates}


def changed_items(
    comparison: ContextDiff,
    changes: Sequence[DecisionChange],
    titles: Mapping[str, str],
    *,
    tag: Callable[[DecisionChange], OutcomeTag],
    why: Reason,
) -> tuple[ChangedItem, ...]:
    """Return a row for each of these changes of the comparison. `titles`: of their items, by ref."""
    sections = {one.section.key: one.section for one in comparison.sections}
    rows = []
    for change in changes:
        decision = change.decision
        section = sections[decision.section]
        rows.append(
            ChangedItem(
                tag=tag(change),
                title=titles[decision.ref],
                section=section.label,
                layer=section.layer.lower(),
                tokens=decision.tokens if decision.included else decision.tokens_full,
                why=why(change, section.label, titles),
            )
        )
    return tuple(rows)
