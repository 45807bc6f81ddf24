"""The fit finds weights of the priority with which used items score higher than the others of their contexts.

The loss is the listwise softmax of `assembly.profiles.training.listwise`: in each context, the share of the used items
is made as large as it gets. Only the proportions of the weights matter for the order of items, but a softmax needs a
scale, so the scale of the profile's own weights is fitted first; the fit is then drawn towards the own weights at this
scale. The result is scaled to the sum of the own weights.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assembly.engine.profile import Weights
from assembly.engine.types import field_values
from assembly.profiles.training.listwise import Numbers, Penalty, RowLists, minimise_loss

MEASURES: tuple[str, ...] = tuple(field_values(Weights()))
"""The measures that a profile weights."""
SCALE_PENALTY = 1e-3
PENALTY = 1e-2
"""The L2 penalty on each weight's distance from the profile's own, relative to the mean loss of a context."""
MIN_SCALE = 1.0
"""The least scale of the own weights, for feedback that contradicts them."""
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class ItemList:
    """The competing items of one context: their measures, an array of items x MEASURES, and which of them were used."""

    measures: Numbers
    used: tuple[bool, ...]

    @property
    def is_informative(self) -> bool:
        """Whether some items were used and others were not, so that the list says what should score higher."""
        return any(self.used) and not all(self.used)


def fit_priority_weights(lists: Sequence[ItemList], own: Weights) -> Weights:
    """Return non-negative weights, fitted to the lists, that have the sum of the own weights.

    Without informative lists, or if all own weights are 0, the own weights are returned. A weight that would be
    negative becomes 0, and the others are fitted again without it.
    """
    informative = [one for one in lists if one.is_informative]
    start = np.array([field_values(own)[name] for name in MEASURES])
    total = math.fsum(start)
    if not informative or not total:
        return own
    rows = _row_lists(informative)
    expected = start * _scale(rows, start)
    fitted, active = np.zeros(len(MEASURES)), list(range(len(MEASURES)))
    while active:
        chosen = rows._replace(features=rows.features[:, active])
        found = minimise_loss(chosen, Penalty(expected[active], np.full(len(active), PENALTY)))
        if found.min() >= 0:
            fitted[active] = found
            break
        del active[int(found.argmin())]
    return _scaled(fitted, total) if fitted.any() else own


def _row_lists(lists: Sequence[ItemList]) -> RowLists:
    """Return the lists as the fit takes them; each list counts the same."""
    wanted = [np.array(one.used) / sum(one.used) for one in lists]
    starts = np.cumsum([0, *(len(one.used) for one in lists[:-1])])
    features = np.concatenate([one.measures for one in lists])
    return RowLists(features, np.concatenate(wanted), starts, np.full(len(lists), 1 / len(lists)))


def _scale(rows: RowLists, own: Numbers) -> float:
    """Return the factor of the own weights with the lowest loss, MIN_SCALE at least."""
    summed = rows._replace(features=(rows.features @ own)[:, None])
    (scale,) = minimise_loss(summed, Penalty(np.zeros(1), np.full(1, SCALE_PENALTY)))
    return max(MIN_SCALE, float(scale))


def _scaled(fitted: Numbers, total: float) -> Weights:
    """Return the weights with this sum, rounded; the largest one takes the difference that rounding makes."""
    rounded = [round(float(value), DECIMALS) for value in fitted * total / fitted.sum()]
    largest = int(np.argmax(rounded))
    rounded[largest] = round(rounded[largest] + total - math.fsum(rounded), DECIMALS)
    return Weights(**dict(zip(MEASURES, rounded, strict=True)))
