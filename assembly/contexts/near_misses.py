"""How near what is left out, or cut, came to being in: from what is on record alone, without running the engine."""

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
    """For each wanted decision of a context, by its section and ref, what it would have needed, in a plain sentence.

    `decisions` are all of the context, in their order. Without a sentence is what no number says anything of: what a
    rule, a filter or the ladder left out, what is said already, what is in whole. The tokens are those that were
    missing when its turn came; where others would have had them first, the sentence says so.
    """
    context = _Competition.of(decisions)
    found = {(decision.section, decision.ref): context.sentence(decision) for decision in wanted}
    return {place: sentence for place, sentence in found.items() if sentence}


@dataclass(frozen=True, slots=True)
class _Competition:
    """What is known of those that competed: the one pass over all decisions that is needed."""

    first_without_room: Mapping[str, int]
    """By section, and by the code of the whole, the position of the first that more room there would go to."""
    positions: Mapping[ItemKey, int]
    best_score_without_room: float
    """The best score among those for which the whole had no room: blocks of all sections compete by it."""
    fully_pinned_sections: frozenset[str] = field(default=frozenset())
    """Sections in which the last that had a place is pinned: no score brings another one in."""

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
            return _("It needed a score of at least %(least)s.") % {
                "least": score_text(decision.detail.get("threshold"))
            }
        return _cut_sentence(decision) if decision.code is Code.TRUNCATED else ""

    def _budget_sentence(self, decision: Decision) -> str:
        needed = decision.detail.get("needed")
        if not needed or any(step["step"] == "drop" for step in decision.detail.get("steps", ())):
            return ""
        tokens = {"tokens": f"{needed:,}"}
        if self._is_behind_others(decision):
            return (
                ngettext(
                    "%(tokens)s token was missing when its turn came; others would have had it first.",
                    "%(tokens)s tokens were missing when its turn came; others would have had them first.",
                    needed,
                )
                % tokens
            )
        return (
            ngettext(
                "It would have fitted with %(tokens)s more token.",
                "It would have fitted with %(tokens)s more tokens.",
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
            return _("Pinned ones had all the places.")
        if decision.score is not None and last is not None:
            return _("It needed a score above %(least)s.") % {"least": score_text(last)}
        if top_k is None or decision.rank is None:
            return ""
        short = decision.rank - top_k
        return ngettext("It came %(places)s place too late.", "It came %(places)s places too late.", short) % {
            "places": f"{short:,}"
        }


def _limiting_budgets(decision: Decision) -> tuple[str, ...]:
    """Where more room would have gone to this one: its section, or the whole context."""
    if decision.code is Code.OVER_SECTION_BUDGET:
        return (decision.section,)
    if decision.code is Code.OVER_TOTAL_BUDGET:
        return (Code.OVER_TOTAL_BUDGET,)
    # A cut says nothing of which room was too small, so it counts for both.
    return (decision.section, Code.OVER_TOTAL_BUDGET) if decision.code is Code.TRUNCATED else ()


def _cut_sentence(decision: Decision) -> str:
    kept = next((step["after"] for step in decision.detail.get("steps", ()) if step["step"] == TRUNCATE), None)
    missing = 0 if kept is None else decision.tokens_full - kept
    if missing <= 0:
        return ""
    return ngettext(
        "About %(tokens)s more token would have told it whole.",
        "About %(tokens)s more tokens would have told it whole.",
        missing,
    ) % {"tokens": f"{missing:,}"}
