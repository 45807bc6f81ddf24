"""The features of the model that decides whether two statements contradict each other.

Among all texts of an installation nearly every pair is unrelated, and many of these have a cue: two numbers, or a
negation on one side. So the model asks for evidence that both statements speak of one subject and one slot: how much
the common words weigh, how much remains on either side, and that for each kind of cue. A word weighs what the length of
its vector tells: the bundled embedder has learned that “ferry” says more about a text than “thing”.
"""

from collections.abc import Iterable, Mapping

from assembly.conflicts.detection.differences import Kind
from assembly.conflicts.detection.features import (
    LABEL_FEATURES,
    SUBJECT_FEATURES,
    Features,
    Pair,
    label_features,
    subject_features,
)
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.word_alignment import word_weight

KINDS: tuple[Kind, ...] = ("number", "date", "negation", "state", "property")
BY_KIND = (
    "weighed_containment", "weighed_overlap", "common_weight", "rest_of_both", "soft_containment", "other_name",
    "few_common", "sentence_cosine", "common_subject",
)  # fmt: skip
"""The features that count differently for each kind of cue."""
OF_EVIDENCE = (
    "text_cosine", "low_text_cosine", "common_weight", "much_common_weight", "little_common_weight", "heaviest_common",
    "rest_of_both", "rest_of_one", "weighed_containment", "weighed_overlap", "equal_containment", "equal_overlap",
    "squared_containment", "squared_overlap", "squared_equal_overlap", "overlap_of_much", "strict_overlap",
    "loose_overlap", "shortest", "longest", "common_subject", "equal_subject", "common_subject_weight",
    "common_predicate_weight", "no_subject", "both_pronouns", "any_pronoun", "no_predicate", "aligned", "cues",
    "extra_of_both", "extra_of_one",
)  # fmt: skip
"""The features of the evidence for one subject and slot."""
WITHOUT = frozenset((
    "subject", "subject_number", "subject_date", "subject_negation", "subject_state", "subject_property",
    "subject_loose", "no_cue", "subject_no_cue",
))  # fmt: skip
"""The features of labels that repeat what the model sees itself, or that are the same for all pairs with a cue."""
CONTRADICTION_FEATURES = tuple(
    dict.fromkeys(
        (
            *(name for name in LABEL_FEATURES if name not in WITHOUT),
            *SUBJECT_FEATURES,
            *OF_EVIDENCE,
            *(f"{kind}_{name}" for kind in KINDS for name in BY_KIND),
        )
    )
)
ALIGNED = 0.8
"""How much a word counts that is aligned by its vector, against 1 for a common one."""
LEAST_COMMON, LEAST_CONTAINMENT = 0.8, 0.4
"""The least weight of the common words, and their least share of the statement that says less, of far statements."""
LOW_TEXT_COSINE = 0.6
"""The cosine of whole texts below which they are less often about the same."""


def shares_words(pair: Pair) -> bool:
    """Return whether one statement has a good part of what the other one says without the differing values."""
    cues = pair.cues
    common = _common_weight_of_all(pair)
    least = min(_weight(pair.left, cues.left_rest), _weight(pair.right, cues.right_rest))
    shared = common + cues.aligned * ALIGNED
    return common >= LEAST_COMMON and _share(shared, max(0.0, least - cues.aligned * ALIGNED)) >= LEAST_CONTAINMENT


def contradiction_features(pair: Pair) -> dict[str, float]:
    """Return the features of whether the statements of a pair with a cue contradict each other; most are 0 to 1."""
    of_subject = subject_features(pair)
    of_label = label_features(pair, 0.0, of_subject)
    found = {name: value for name, value in of_label.items() if name not in WITHOUT}
    found |= of_subject
    found |= _evidence(pair, found)
    kinds = {kind: float(pair.cues.strength(kind) > 0) for kind in KINDS}
    return found | {f"{kind}_{name}": has * found[name] for kind, has in kinds.items() for name in BY_KIND}


def _evidence(pair: Pair, found: Features) -> Mapping[str, float]:
    cues, left, right = pair.cues, pair.left, pair.right
    common = _common_weight_of_all(pair)
    least, most = sorted((_weight(left, cues.left_rest), _weight(right, cues.right_rest)))
    aligned = cues.aligned * ALIGNED
    subject = left.subject & right.subject
    shortest, longest = sorted((len(left.words), len(right.words)))
    containment = _share(common + aligned, max(0.0, least - aligned))
    overlap = _share(common + aligned, max(0.0, most - aligned))
    predicate = sum(sorted(_common_weight(pair, key) for key in cues.common - left.subject - right.subject))
    equal_overlap, much = _share(common, most), min(common, 2) / 2
    return {
        "text_cosine": pair.text_cosine,
        "low_text_cosine": max(0.0, LOW_TEXT_COSINE - pair.text_cosine),
        "common_weight": much,
        "much_common_weight": min(common, 5) / 5,
        "little_common_weight": max(0.0, 1 - common),
        "heaviest_common": max((_common_weight(pair, key) for key in cues.common), default=0.0),
        "rest_of_both": min(least, 4) / 4,
        "rest_of_one": min(most, 6) / 6,
        "weighed_containment": containment,
        "weighed_overlap": overlap,
        "equal_containment": _share(common, least),
        "equal_overlap": equal_overlap,
        "squared_containment": containment**2,
        "squared_overlap": overlap**2,
        "squared_equal_overlap": equal_overlap**2,
        "overlap_of_much": overlap * much,
        "strict_overlap": (1 - found["loose"]) * overlap,
        "loose_overlap": found["loose"] * overlap,
        "shortest": min(shortest, 12) / 12,
        "longest": min(longest, 20) / 20,
        "common_subject": float(bool(subject)),
        "equal_subject": float(bool(subject) and left.subject == right.subject),
        "common_subject_weight": max((_common_weight(pair, key) for key in subject), default=0.0),
        "common_predicate_weight": min(predicate, 3) / 3,
        "no_subject": float(not left.subject or not right.subject),
        "both_pronouns": float(left.has_pronoun and right.has_pronoun),
        "any_pronoun": float(left.has_pronoun or right.has_pronoun),
        "no_predicate": float(not left.has_predicate or not right.has_predicate),
        "aligned": min(cues.aligned, 3) / 3,
        "cues": min(len(cues.differences), 3) / 3,
        "extra_of_both": min(cues.left_extra, cues.right_extra, 2) / 2,
        "extra_of_one": min(max(cues.left_extra, cues.right_extra), 3) / 3,
    }


def _common_weight_of_all(pair: Pair) -> float:
    common = pair.cues.common
    return (_weight(pair.left, common & pair.left.words) + _weight(pair.right, common & pair.right.words)) / 2


def _weight(statement: Statement, keys: Iterable[str]) -> float:
    return sum(sorted(word_weight(statement.spelled.get(key, key)) for key in keys))


def _common_weight(pair: Pair, key: str) -> float:
    """Return the weight of a word that both statements have, as the one writes it that makes it weigh more."""
    return max(word_weight(one.spelled.get(key, key)) for one in (pair.left, pair.right))


def _share(common: float, rest: float) -> float:
    return common / (common + rest) if common else 0.0
