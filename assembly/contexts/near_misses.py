"""This module says what excluded or cut items would have needed to be included whole, from the record alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.codes import Code
from assembly.engine.diff import ItemKey
from assembly.engine.reasons import score_text
from assembly.engine.types import Decision

NO_ROOM = frozenset({Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET})
TRUNCATE = "truncate"


def near_misses(decisions: Sequence[Decision], wanted: Iterable[Decision]) -> dict[ItemKey, str]:
    """Return a sentence for each wanted decision, by section and ref, on what the item would have needed.

    `decisions` are all decisions of the context, in order. Items excluded by a rule, a filter, an overflow step or as
    duplicates, and items included whole, get no sentence. Tokens are the number that was missing when the item was
    considered; if other items would have used them first, the sentence says so.
    """
    context = _Competition.of(decisions)
    found = {(decision.section, decision.ref): context.sentence(decision) for decision in wanted}
    return {place: sentence for place, sentence in found.items() if sentence}


@dataclass(frozen=True, slots=True)
class _Competition:
    """Facts about all items that competed for tokens, collected in one pass over the decisions."""

    first_without_room: Mapping[str, int]
    """Position of the first item that would use more tokens, by section key, and for the total budget by its code."""
    positions: Mapping[ItemKey, int]
    best_score_without_room: float
    """Best score of the items excluded for the total budget; blocks of all sections compete by score."""
    fully_pinned_sections: frozenset[str] = field(default=frozenset())
    """Sections in which the last item within the top k is pinned, so that no score brings in another item."""

    @classmethod
    def of(cls, decisions: Sequence[Decision]) -> "_Competition":
        first: dict[str, int] = {}
        for position, decision in enumerate(decisions):
            for room in _limiting_budgets(decision):
                first.setdefault(room, position)
        positions = {(decision.section, decision.ref): position for position, decision in enumerate(decisions)}
        scores = [one.score for one in decisions if one.code is Code.OVER_TOTAL_BUDGET and one.score is not None]
        pinned = {(one.section, one.rank) for one in decisions if one.code is Code.PINNED}
        outranked = {(one.section, one.detail.get("top_k")) for one in decisions if one.code is Code.OUTRANKED}
        return cls(
            first, positions, max(scores, default=0.0), frozenset(section for section, _rank in pinned & outranked)
        )

    def sentence(self, decision: Decision) -> str:
        if decision.code in NO_ROOM:
            return self._budget_sentence(decision)
        if decision.code is Code.OUTRANKED:
            return self._score_sentence(decision)
        if decision.code is Code.BELOW_RELEVANCE and decision.score is not None:
            return _("The cut-off score is %(least)s.") % {"least": score_text(decision.detail.get("threshold"))}
        return _cut_sentence(decision) if decision.code is Code.TRUNCATED else ""

    def _budget_sentence(self, decision: Decision) -> str:
        needed = decision.detail.get("needed")
        if not needed or any(step["step"] == "drop" for step in decision.detail.get("steps", ())):
            return ""
        tokens = {"tokens": f"{needed:,}"}
        if self._is_behind_others(decision):
            return (
                ngettext(
                    "%(tokens)s token was missing when it was considered; items with a higher score come first.",
                    "%(tokens)s tokens were missing when it was considered; items with a higher score come first.",
                    needed,
                )
                % tokens
            )
        return (
            ngettext(
                "It would fit with %(tokens)s more token.",
                "It would fit with %(tokens)s more tokens.",
                needed,
            )
            % tokens
        )

    def _is_behind_others(self, decision: Decision) -> bool:
        here = self.positions.get((decision.section, decision.ref), 0)
        if (
            decision.code is Code.OVER_TOTAL_BUDGET
            and decision.score is not None
            and decision.score < self.best_score_without_room
        ):
            return True
        return any(self.first_without_room.get(room, here) < here for room in _limiting_budgets(decision))

    def _score_sentence(self, decision: Decision) -> str:
        last, top_k = decision.detail.get("last_score"), decision.detail.get("top_k")
        if decision.section in self.fully_pinned_sections:
            return _("Pinned items used all places.")
        if decision.score is not None and last is not None:
            return _("The cut-off score is %(least)s.") % {"least": score_text(last)}
        if top_k is None or decision.rank is None:
            return ""
        short = decision.rank - top_k
        return ngettext("Missed by %(places)s rank.", "Missed by %(places)s ranks.", short) % {"places": f"{short:,}"}


def _limiting_budgets(decision: Decision) -> tuple[str, ...]:
    """Return the budgets that limited the item: its section's key, the code for the total budget, or both."""
    if decision.code is Code.OVER_SECTION_BUDGET:
        return (decision.section,)
    if decision.code is Code.OVER_TOTAL_BUDGET:
        return (Code.OVER_TOTAL_BUDGET,)
    # The decision on a cut item does not say which budget was too small, so it counts for both.
    return (decision.section, Code.OVER_TOTAL_BUDGET) if decision.code is Code.TRUNCATED else ()


def _cut_sentence(decision: Decision) -> str:
    kept = next((step["after"] for step in decision.detail.get("steps", ()) if step["step"] == TRUNCATE), None)
    missing = 0 if kept is None else decision.tokens_full - kept
    if missing <= 0:
        return ""
    return ngettext(
        "About %(tokens)s more token would include it in full.",
        "About %(tokens)s more tokens would include it in full.",
        missing,
    ) % {"tokens": f"{missing:,}"}
