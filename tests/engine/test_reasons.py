"""What people read."""

import pytest

from assembly.engine.codes import Code, SourceCode, WarningCode
from assembly.engine.reasons import decision_sentence, source_sentence, warning_sentence
from assembly.engine.types import Decision

ENGINEERS_WORDS = ("chunk", "payload", "embedding", "exception", "null", "none", "?", "{", "_")


def decision(code: str, **fields: object) -> Decision:
    detail = {key: fields.pop(key) for key in list(fields) if key not in {"rank", "score"}}
    return Decision("memory:a@1", "s", Code(code), detail=detail, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (decision("required"), "Required: Team Knowledge is always included in full."),
        (decision("fits"), "Included in full."),
        (
            decision("truncated", kept_paragraphs=3, of_paragraphs=9, kept_chars=812, of_chars=2400),
            "Truncated: 3 of 9 paragraphs are included.",
        ),
        (
            decision("truncated", kept_paragraphs=0, of_paragraphs=1, kept_chars=7964, of_chars=200000),
            "Truncated: 7,964 of 200,000 characters are included.",
        ),
        (
            decision("over_section_budget", needed=1312),
            "The limit of Team Knowledge was reached. 1,312 more tokens were needed.",
        ),
        (
            decision("over_total_budget", needed=1),
            "The budget was used up before Team Knowledge. 1 more token was needed.",
        ),
        (
            decision("outranked", rank=6, score=0.58, top_k=5, last_score=0.61),
            "Ranked 6; the limit of Team Knowledge is 5. Score .58 (cut-off .61).",
        ),
        (
            decision("outranked", rank=1001, top_k=5, last_score=None),
            "Ranked 1,001; the limit of Team Knowledge is 5. Sorted by recency.",
        ),
        (
            decision("below_relevance", score=-0.12, threshold=0.2),
            "Low relevance: score -.12; the minimum of Team Knowledge is .20.",
        ),
        (
            decision("below_relevance", threshold=0.2),
            "Its similarity to the topic is unknown; others in Team Knowledge are similar.",
        ),
        (decision("superseded", by="memory:b@2"), "Superseded by a newer item: memory:b@2."),
        (decision("duplicate", by="memory:b@2"), "Duplicate of memory:b@2, which is included."),
        (decision("expired", reason="We moved."), "Excluded, because it was archived: We moved."),
        (decision("expired"), "Excluded, because it has expired."),
        (decision("empty"), "Empty."),
    ],
)
def test_a_decision_reads_as_a_sentence(given: Decision, read: str) -> None:
    assert decision_sentence(given, "Team Knowledge") == read


def test_a_perfect_score_keeps_its_one() -> None:
    assert ".58 (cut-off 1.00)." in decision_sentence(
        decision("outranked", rank=6, score=0.58, top_k=5, last_score=1.0), "Facts"
    )


FULL = {
    "by": "memory:b@2", "kept_paragraphs": 3, "of_paragraphs": 9, "kept_chars": 8, "of_chars": 9, "needed": 3,
    "top_k": 5, "last_score": 0.6, "threshold": 0.2,
}  # fmt: skip


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_plain_sentence(code: Code) -> None:
    assert_plain(decision_sentence(decision(code.value, rank=6, score=0.5, **FULL), "Team Knowledge"))


def test_every_source_and_warning_code_has_a_plain_sentence() -> None:
    for source_code in SourceCode:
        assert_plain(source_sentence(source_code))
    for warning_code in WarningCode:
        assert_plain(warning_sentence(warning_code))


def assert_plain(read: str) -> None:
    assert not read[0].islower()
    assert read.endswith(".")
    assert not [word for word in ENGINEERS_WORDS if word in read.lower()]


INCLUDED = {"required", "pinned", "rule_included", "fits", "truncated", "compacted", "summarised"}
LEFT_OUT = {
    "over_section_budget", "over_total_budget", "outranked", "below_relevance", "untrusted_origin", "duplicate",
    "conflict_lost", "rule_excluded", "filtered", "superseded", "expired", "empty",
}  # fmt: skip


def test_the_codes_are_those_of_the_design_and_know_their_side() -> None:
    assert {code.value for code in Code if code.included} == INCLUDED
    assert {code.value for code in Code if not code.included} == LEFT_OUT
