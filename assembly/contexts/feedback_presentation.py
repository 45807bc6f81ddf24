"""The panel of an item shows how far it got in its context, by the decision and by the feedback on the context."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from assembly.records.feedback import ItemState, feedback_by_assembly, item_state
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
