"""A context is filled a second time if a side won a conflict and the context does not tell what it says."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assembly.engine.codes import Code
from assembly.engine.reconcile import TOLD_STATEMENTS_SINCE, Loss, Reconciled
from assembly.engine.types import Candidate, Decision, EngineRequest

SHORTER_SHARE = 0.8
"""An item may fit where another one did not if its text has at most this share of the other's characters."""
CUT_CODES = frozenset({Code.TRUNCATED, Code.COMPACTED})
"""Codes of items of which some sentences are included word for word, and others are not."""

_NO_WORD = re.compile(r"\W+")


def absent_winners(
    request: EngineRequest,
    reconciled: Reconciled,
    candidates: Iterable[Candidate],
    decisions: Sequence[Decision],
    content: str,
) -> frozenset[str]:
    """Return the winners of unresolved conflicts that the context does not tell, though it might tell the losing side.

    A winner is not told if it found no room, or, since TOLD_STATEMENTS_SINCE, if its statement was cut away. The losing
    side might be told if it is in another section, is nearer to the topic, or is shorter.
    """
    losses = {ref: loss for ref, loss in reconciled.lost.items() if loss.detail["strategy"] != "user_choice"}
    if not losses:
        return frozenset()
    by_ref = {candidate.ref: candidate for candidate in candidates}
    included: dict[str, list[Decision]] = {}
    for decision in decisions:
        if decision.included:
            included.setdefault(decision.ref, []).append(decision)
    told = _Told(request, by_ref, included, content)
    return frozenset(
        winner
        for loser, loss in losses.items()
        if (winner := str(loss.detail["by"])) not in reconciled.lost
        and not told.has_winner_of(loss)
        and _might_fit(by_ref[loser], by_ref[winner])
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """This tells which statements a filled context has."""

    request: EngineRequest
    candidates: Mapping[str, Candidate]
    included: Mapping[str, Sequence[Decision]]
    content: str

    def has_winner_of(self, loss: Loss) -> bool:
        """Return whether the winner is included, with its statement; that of one that was cut is gone if not known."""
        return any(self._has(decision, loss) for decision in self.included.get(str(loss.detail["by"]), ()))

    def _has(self, decision: Decision, loss: Loss) -> bool:
        if decision.code not in CUT_CODES or self.request.engine_version < TOLD_STATEMENTS_SINCE:
            return True
        statement = _letters(self.candidates[decision.ref].text[slice(*loss.statement)]) if loss.statement else ""
        return bool(statement) and statement in _letters(self.content[decision.start : decision.end])


def _letters(text: str) -> str:
    """Return the letters and digits of a text, which escaping and quoting leave as they are."""
    return _NO_WORD.sub("", text)


def _might_fit(loser: Candidate, winner: Candidate) -> bool:
    if loser.section != winner.section:
        return True
    nearer = (loser.similarity or 0.0, loser.score or 0.0) > (winner.similarity or 0.0, winner.score or 0.0)
    return nearer or len(loser.text) <= SHORTER_SHARE * len(winner.text)
