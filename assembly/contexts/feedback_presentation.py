"""The pages of a context show the feedback on it, and by that and its decision, how far an item got."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from assembly.contexts.items import ItemViews
from assembly.models import AssemblyFeedback
from assembly.records.feedback import ItemState, feedback_by_assembly, item_state
from assembly.records.item_titles import short_title
from assembly.records.reader import StoredAssembly

STATE_LABELS = {
    ItemState.RETRIEVED: _("retrieved"),
    ItemState.INCLUDED: _("included"),
    ItemState.USED: _("said to be used"),
    ItemState.HELPED: _("said to have helped"),
}


@dataclass(frozen=True, slots=True)
class StateStep:
    """A state with its label, and whether the item reached it."""

    label: str
    is_reached: bool


def reached_states(told: StoredAssembly, position: int) -> list[StateStep]:
    """Return all states in their order, each with whether the item at this position reached it; one query."""
    decision = told.decisions[position]
    said = feedback_by_assembly([told.assembly.id]).get(told.assembly.id, ())
    states = [*STATE_LABELS]
    last = states.index(item_state(decision.ref, said, is_included=decision.included))
    return [StateStep(str(STATE_LABELS[state]), place <= last) for place, state in enumerate(states)]


MAX_TITLES = 5
MEASURE_LABELS = {
    "satisfaction": _("Satisfaction"),
    "coherence": _("Coherence"),
    "completeness": _("Completeness"),
    "contradiction_rate": _("Contradictions"),
}


@dataclass(frozen=True, slots=True)
class NamedItems:
    """Items that feedback names: the first titles, and the number of further ones."""

    titles: list[str]
    more: int


@dataclass(frozen=True, slots=True)
class FeedbackRow:
    """An entry of feedback: who gave it, when, the measures with their labels, the named items, and the note."""

    giver: str
    given: datetime.datetime
    measures: list[tuple[str, float]]
    used: NamedItems
    useless: NamedItems
    note: str


def feedback_rows(told: StoredAssembly, items: ItemViews) -> list[FeedbackRow]:
    """Return the feedback on a context, newest first; one query."""
    said = feedback_by_assembly([told.assembly.id]).get(told.assembly.id, ())
    positions = {decision.ref: position for position, decision in enumerate(told.decisions)}

    def named(refs: Iterable[str]) -> NamedItems:
        known = [positions[ref] for ref in refs if ref in positions]
        return NamedItems([short_title(items.title(one)) for one in known[:MAX_TITLES]], len(known[MAX_TITLES:]))

    return [
        FeedbackRow(one.giver_name, one.created, _measures(one), named(one.used), named(one.useless), one.note)
        for one in reversed(said)
    ]


def _measures(feedback: AssemblyFeedback) -> list[tuple[str, float]]:
    values = ((label, getattr(feedback, name)) for name, label in MEASURE_LABELS.items())
    return [(str(label), value) for label, value in values if value is not None]
