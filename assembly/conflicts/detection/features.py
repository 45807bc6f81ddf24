"""Features turn the cues of two statements into the numbers that the classifier weighs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from assembly.conflicts.detection.cues import Cues
from assembly.conflicts.detection.loose_cues import QUALIFIERS, RULES
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.word_alignment import sentence_similarity

SUBJECT_FEATURES = (
    "cosine", "overlap", "containment", "subject_share", "other_name", "other_subject", "rest_both", "pronoun",
    "equal_values", "other_slot", "spelling", "soft_overlap", "soft_containment", "contrasted", "sentence_cosine",
    "other_qualifier", "other_person", "common_name", "few_common", "common_count",
)  # fmt: skip
"""Features of whether both statements speak of one subject and one slot."""
LABEL_FEATURES = (
    "subject", "number", "date", "negation", "state", "property_single", "property_unknown", "property_multi",
    "subject_number", "subject_date", "subject_negation", "subject_state", "subject_property", "no_cue",
    "subject_no_cue", "two_cues", "date_and_other", "change", "change_cue", "both_change", "weak_change",
    "weak_change_cue", "tense", "tense_cue", "one_sided", "one_sided_values", "rest_both", "cue_rest_both",
    "cue_other_name", "cosine", "overlap", "spelling", "exception", "equal_values", "other_name", "other_subject",
    "other_slot", "containment", "soft_overlap", "soft_containment", "contrasted", "cue_contrasted",
    "cue_soft_overlap", "loose", "subject_loose", "loose_holder", "loose_typed", "loose_place", "loose_count",
    "loose_limit", "loose_denial", "loose_scope", "loose_antonym", "loose_setting", "loose_exclusive",
    "sentence_cosine", "foreign_subject", "foreign_value", "other_event", "other_roles", "names_only", "conditional",
    "clause",
    "other_qualifier", "contrast", "other_person", "common_name", "few_common", "common_count", "cue_soft_containment",
    "loose_few_common", "bare_flip", "bare_value",
)  # fmt: skip
"""Features of the label, of which `subject` is what the subject's weights make of SUBJECT_FEATURES."""

Features = Mapping[str, float]


PairPlace = Literal["notes", "line", "lines", "texts"]
"""The place says where two statements stand.

notes: each is a whole text; line: one is, and the other is among the lines nearest to it in a longer text; lines: the
same of a note of two or three statements; texts: any other pair. The more pairs of two texts are compared, the likelier
is a cue by chance.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements with their cues and the cosine of their embeddings."""

    left: Statement
    right: Statement
    cues: Cues
    cosine: float
    is_clause: bool = False
    """This tells whether one of them is a clause of a sentence."""
    text_cosine: float = 1.0
    """The cosine of the embeddings of the texts that the statements are from."""
    place: PairPlace = "notes"


def subject_features(pair: Pair) -> dict[str, float]:
    """Return the features of whether both statements have one subject and slot; each is between 0 and 1."""
    cues, left, right = pair.cues, pair.left, pair.right
    left_rest, right_rest = len(cues.left_rest), len(cues.right_rest)
    common = min(len(cues.common & pair.left.words), len(cues.common & pair.right.words))
    fewest, most = sorted((common + left_rest, common + right_rest))
    return {
        "cosine": max(0.0, min(1.0, pair.cosine)),
        "overlap": common / most if most else 0.0,
        "containment": common / fewest if fewest else 0.0,
        "subject_share": cues.subject_share,
        "other_name": float(cues.has_other_name),
        "other_subject": float(cues.has_other_subject),
        "rest_both": min(left_rest, right_rest, 3) / 3,
        "pronoun": float(pair.left.has_pronoun != pair.right.has_pronoun),
        "equal_values": float(cues.equal_values > 0),
        "other_slot": float(min(cues.left_extra, cues.right_extra) > 0),
        "soft_overlap": (common + cues.aligned) / most if most else 0.0,
        "soft_containment": min(1.0, (common + cues.aligned) / fewest) if fewest else 0.0,
        "contrasted": float(cues.is_contrasted),
        "common_name": float(bool(cues.common & (left.names | right.names))),
        "few_common": float(common <= 1),
        "common_count": min(common + cues.aligned, 6) / 6,
        "other_qualifier": float(has_other_qualifier(pair)),
        "other_person": float(cues.loose_rule != "holder" and _has_other_person(pair)),
        "sentence_cosine": sentence_similarity(pair.left.text, pair.right.text),
        "spelling": fuzz.token_sort_ratio(pair.left.text, pair.right.text) / 100,
    }


def label_features(pair: Pair, subject: float, of_subject: Features) -> dict[str, float]:
    """Return the features of the label; `subject` is the certainty, 0 to 1, of one subject and slot."""
    cues, left, right = pair.cues, pair.left, pair.right
    found = {kind: cues.strength(kind) for kind in ("number", "date", "negation", "state", "property")}
    cue = float(any(found.values()))
    kinds = sum(strength > 0 for strength in found.values())
    left_rest, right_rest = len(cues.left_rest), len(cues.right_rest)
    change = float(left.has_change or right.has_change)
    weak_change = float(left.may_have_change or right.may_have_change)
    tense = float(left.is_past != right.is_past)
    loose, foreign = float(bool(cues.loose_rule)), float(_has_foreign_subject(pair))
    # Nothing but the values differs.
    bare = float(not loose and not left_rest and not right_rest and not cues.left_extra and not cues.right_extra)
    both = left.contrasts.keys() & right.contrasts.keys()
    shared = (
        "common_name",
        "few_common",
        "common_count",
        "other_qualifier",
        "other_person",
        "soft_overlap",
        "soft_containment",
        "contrasted",
        "sentence_cosine",
        "cosine",
        "overlap",
        "containment",
        "spelling",
        "rest_both",
        "equal_values",
        "other_name",
        "other_slot",
    )
    return {name: of_subject[name] for name in shared} | {
        "other_subject": of_subject["other_subject"],
        "subject": subject,
        "number": found["number"],
        "date": found["date"],
        "negation": found["negation"],
        "state": found["state"],
        "property_single": float(found["property"] > 0 and cues.property_class in ("single", "exclusive")),
        "property_unknown": float(found["property"] > 0 and cues.property_class == "unknown"),
        "property_multi": float(found["property"] > 0 and cues.property_class == "multi"),
        "subject_number": subject * float(found["number"] > 0),
        "subject_date": subject * float(found["date"] > 0),
        "subject_negation": subject * float(found["negation"] > 0),
        "subject_state": subject * float(found["state"] > 0),
        "subject_property": subject * float(found["property"] > 0),
        "no_cue": 1 - cue,
        "subject_no_cue": subject * (1 - cue),
        "two_cues": float(kinds > 1),
        "date_and_other": float(found["date"] > 0 and kinds > 1),
        "change": change,
        "change_cue": change * cue,
        "both_change": float(left.has_change and right.has_change),
        "weak_change": weak_change,
        "weak_change_cue": weak_change * cue,
        "tense": tense,
        "tense_cue": tense * cue,
        "one_sided": float((left_rest == 0) != (right_rest == 0)) * min(abs(left_rest - right_rest), 4) / 4,
        "cue_rest_both": cue * of_subject["rest_both"],
        "cue_other_name": cue * of_subject["other_name"],
        "foreign_subject": cue * foreign,
        "foreign_value": foreign * float(found["number"] > 0 or found["date"] > 0),
        "other_event": cue * float(cues.has_other_event),
        "other_roles": cue * float(cues.has_other_roles),
        "names_only": cue * float(not cues.common - left.names - right.names),
        "conditional": cue * float(left.is_conditional or right.is_conditional),
        "contrast": cue * float(any(left.contrasts[one].number != right.contrasts[one].number for one in both)),
        "cue_soft_containment": cue * of_subject["soft_containment"],
        "bare_flip": bare * float(found["negation"] > 0 or found["state"] > 0),
        "bare_value": bare * float(found["number"] > 0 or found["date"] > 0),
        "loose_few_common": loose * of_subject["few_common"],
        "clause": float(pair.is_clause),
        "cue_contrasted": cue * of_subject["contrasted"],
        "cue_soft_overlap": cue * of_subject["soft_overlap"],
        "loose": loose,
        "subject_loose": subject * loose,
        "loose_exclusive": loose * float(left.is_exclusive or right.is_exclusive),
        **{f"loose_{rule}": float(cues.loose_rule == rule) for rule in RULES},
        "one_sided_values": float((cues.left_extra == 0) != (cues.right_extra == 0)),
        "exception": float(left.has_exception != right.has_exception),
    }


def _has_foreign_subject(pair: Pair) -> bool:
    """Return whether one statement does not name the other one's subject at all: an oven, and a cake in the oven.

    What is free is often a part of what has a price, so that there the whole subject must be named.
    """
    is_price = bool(pair.left.gratis) != bool(pair.right.gratis)
    for one, rest in ((pair.left, pair.cues.left_rest), (pair.right, pair.cues.right_rest)):
        if one.subject and (one.subject <= rest or (is_price and one.subject & rest)):
            return True
    return False


def has_other_qualifier(pair: Pair) -> bool:
    """Return whether both name a value of one class that tells two things apart, such as staging and production."""
    left, right = pair.left.typed.classes, pair.right.typed.classes
    both = [name for name in left.keys() & right.keys() if name.startswith(QUALIFIERS)]
    return any(left[name].isdisjoint(right[name]) for name in both)


def _has_other_person(pair: Pair) -> bool:
    left, right = pair.left.typed.persons, pair.right.typed.persons
    return bool(left and right) and left.isdisjoint(right)
