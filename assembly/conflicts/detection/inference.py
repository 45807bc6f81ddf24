"""A language model may help: it infers from two statements whether they contradict each other or say the same.

The task is called natural-language inference. A model tells the probabilities that a first sentence, the premise,
contradicts or entails a second one, the hypothesis. Both directions are asked, so that swapped texts give equal
answers. A model is asked last, about few pairs, because it needs some fifty times the time of a comparison: about a
conflict that the cues found, and where they found neither a conflict nor a duplicate. Which model there is, the caller
says: this module knows none.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from assembly.conflicts.detection.classifier import (
    LEAST_COSINE,
    LEAST_WORDS,
    Classification,
    differs_in_a_value,
    states_one_thing,
)
from assembly.conflicts.detection.duplicate_guards import is_possible_paraphrase
from assembly.conflicts.detection.features import Pair, has_other_qualifier
from assembly.conflicts.detection.polarity import compare_polarity
from assembly.conflicts.detection.statement import Statement

MAX_INFERRED_PAIRS = 4
"""The most pairs of statements of two texts about which a model is asked, those nearest in meaning first."""
LONGER_TEXT_ERROR_SHARE = 0.2
"""Statements of longer texts need a probability of 1 - (1 - threshold) x this, 98 % with a threshold of 90 %: the more
pairs of two texts are compared, the likelier one of them is called a contradiction by chance.
"""
LEAST_OF_VALUES = 0.5
"""The least probability of a contradiction of statements that differ in nothing but a number or date."""
_GOES_ON = re.compile(r"\b(?:still|immer noch|todavía|aún)\b", re.IGNORECASE)
_LISTED = re.compile(r"\n[^\n:]{1,40}: ")
"""This is in lists of properties, such as those of entities, which are no sentences."""
SMALLEST_PROBABILITY = 1e-6
"""The least probability of which log-odds are taken."""
INFERRED_STRENGTH = 0.8
"""The strength of a contradiction that a model finds, which names no values: that of opposite states."""


class Inference(NamedTuple):
    """The probabilities, 0 to 1, that a premise contradicts and that it entails a hypothesis."""

    contradiction: float
    entailment: float


class InferenceModel(Protocol):
    """The interface of language models that infer."""

    @property
    def name(self) -> str:
        """The name of the model, which is stored with what it finds. It may be empty before the first answer."""

    @property
    def threshold(self) -> float:
        """The least probability, 0 to 1, of a contradiction or of equal meaning."""

    def infer(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Inference] | None:
        """Return an inference per pair of premise and hypothesis; None where the model fails, which it tells itself."""


def refute(pair: Pair, before: Classification, model: InferenceModel) -> Classification | None:
    """Return what a conflict found by cues is if the model does not find it likely, too; None otherwise.

    It needs less than a conflict without a cue: with a threshold of 90 %, 80 %, and half where nothing but a number or
    date differs. Such a conflict stays in other languages than English, of whose words for days models know few.
    """
    is_of_values = differs_in_a_value(pair)
    if is_of_values and (pair.left.language, pair.right.language) != ("english", "english"):
        return None
    if not (answers := model.infer(list(_directions(pair)))):
        return None
    contradiction = _of_both(*answers).contradiction
    if contradiction >= (LEAST_OF_VALUES if is_of_values else 2 * model.threshold - 1):
        return None
    return Classification("similar", 1 - contradiction, before.subject, contradiction)


def infer_labels(
    compared: Sequence[tuple[Pair, Classification]], model: InferenceModel
) -> dict[int, Classification] | None:
    """Return by their index the pairs that the model finds in conflict, or to be duplicates; None where it fails.

    A model alone makes no duplicate: the guards of values must hold, and the weights must find it the likeliest, too.
    It only takes the place of the guard of words.
    """
    places = sorted(
        (place for place, (pair, before) in enumerate(compared) if before.label != "duplicate" and _is_asked(pair)),
        key=lambda place: _order(compared[place][0]),
    )[:MAX_INFERRED_PAIRS]
    if not places:
        return {}
    answers = model.infer([both for place in places for both in _directions(compared[place][0])])
    if answers is None:
        return None
    found = {}
    for place, there, back in zip(places, answers[::2], answers[1::2], strict=True):
        pair, before = compared[place]
        contradiction, equal = _of_both(there, back)
        least = model.threshold if pair.place == "notes" else 1 - (1 - model.threshold) * LONGER_TEXT_ERROR_SHARE
        if contradiction >= least:
            # Statements about different things do not contradict each other, so the model is as sure of one subject.
            subject = max(before.subject, contradiction)
            found[place] = Classification("conflict", contradiction, subject, contradiction)
        elif equal >= model.threshold and before.likeliest == "duplicate" and _may_be_equal(pair):
            found[place] = Classification("duplicate", equal, max(before.subject, equal), before.conflict_probability)
    return found


def _of_both(there: Inference, back: Inference) -> Inference:
    """Return the inference of both directions: that of the mean log-odds of a contradiction, the lower entailment."""
    log_odds = (_log_odds(there.contradiction) + _log_odds(back.contradiction)) / 2
    return Inference(1 / (1 + math.exp(-log_odds)), min(there.entailment, back.entailment))


def _log_odds(probability: float) -> float:
    kept = min(max(probability, SMALLEST_PROBABILITY), 1 - SMALLEST_PROBABILITY)
    return math.log(kept / (1 - kept))


def _is_asked(pair: Pair) -> bool:
    """Return whether a contradiction of the statements would be a conflict.

    Models call many statements about two things of one kind contradictions. So what tells two things apart is left to
    the lists of words: ward 3 and ward 4, staging and production, opening and closing. Texts of one sentence are
    compared because they are near; sentences of longer texts have to be near themselves.
    """
    left, right, cues = pair.left, pair.right, pair.cues
    return (
        _may_be_asked(pair)
        and _is_sentence(left)
        and _is_sentence(right)
        and not cues.has_other_event
        and not cues.has_other_number
        and not has_other_qualifier(pair)
        and not compare_polarity(left, right, cues.common).has_other_subject
    )


def _may_be_asked(pair: Pair) -> bool:
    if pair.place == "notes":
        return True
    is_long = not _is_short(pair.left) and not _is_short(pair.right)
    return is_long and not _goes_on(pair) and (pair.place != "texts" or pair.cosine >= LEAST_COSINE)


def _is_sentence(statement: Statement) -> bool:
    return states_one_thing(statement) and not _LISTED.search(statement.text)


def _is_short(statement: Statement) -> bool:
    return len(statement.text.split()) < LEAST_WORDS


def _is_near(pair: Pair) -> bool:
    return pair.cosine >= LEAST_COSINE and not _goes_on(pair)


def _goes_on(pair: Pair) -> bool:
    """Return whether one of the statements tells that something has changed or goes on."""
    return any(
        statement.has_change or _GOES_ON.search(statement.text) is not None for statement in (pair.left, pair.right)
    )


def _may_be_equal(pair: Pair) -> bool:
    return _is_near(pair) and is_possible_paraphrase(pair)


def _order(pair: Pair) -> tuple[float, list[str]]:
    # The same whichever text is left.
    return -pair.cosine, sorted((pair.left.text, pair.right.text))


def _directions(pair: Pair) -> Iterator[tuple[str, str]]:
    first, second = sorted((pair.left.text_with_heading, pair.right.text_with_heading))
    yield first, second
    yield second, first
