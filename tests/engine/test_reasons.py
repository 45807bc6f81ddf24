"""What people read."""

import pytest

from assembly.engine.codes import Code, SourceCode, WarningCode
from assembly.engine.reasons import decision_sentence, source_sentence, warning_sentence
from assembly.engine.types import Decision

ENGINEERS_WORDS = ("truncat", "chunk", "payload", "embedding", "exception", "null", "none", "?", "{", "_")


def decision(code: str, **fields: object) -> Decision:
    detail = {key: fields.pop(key) for key in list(fields) if key not in {"rank", "score"}}
    return Decision("memory:a@1", "s", Code(code), detail=detail, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (decision("required"), "Always in: Team Knowledge is never cut or left out."),
        (decision("fits"), "In, whole."),
        (
            decision("truncated", kept_paragraphs=3, of_paragraphs=9, kept_chars=812, of_chars=2400),
            "Cut to fit: 3 of 9 paragraphs are in whole.",
        ),
        (
            decision("truncated", kept_paragraphs=0, of_paragraphs=1, kept_chars=7964, of_chars=200000),
            "Cut to fit: 7,964 of 200,000 characters are in.",
        ),
        (
            decision("over_section_budget", needed=1312),
            "No room left in Team Knowledge. 1,312 more tokens were needed.",
        ),
        (
            decision("over_total_budget", needed=1),
            "No room left in the whole context when it came to Team Knowledge. 1 more token was needed.",
        ),
        (
            decision("outranked", rank=6, score=0.58, top_k=5, last_score=0.61),
            "6th of the top 5 in Team Knowledge. It scored .58; the last one in scored .61.",
        ),
        (
            decision("outranked", rank=1001, top_k=5, last_score=None),
            "1,001st of the top 5 in Team Knowledge. Only the most recent had a place.",
        ),
        (
            decision("below_relevance", score=-0.12, threshold=0.2),
            "Too far from the topic: it scored -.12, and Team Knowledge asks for .20.",
        ),
        (
            decision("below_relevance", threshold=0.2),
            "Nothing tells how near it is to the topic; others in Team Knowledge are near.",
        ),
        (decision("superseded", by="memory:b@2"), "A newer one took its place: memory:b@2."),
        (decision("duplicate", by="memory:b@2"), "Says the same as memory:b@2, which is in."),
        (decision("expired", reason="We moved."), "Left out, because it was retired: We moved."),
        (decision("expired"), "Left out: it was good until a date that has passed."),
        (decision("empty"), "There is no text in it."),
    ],
)
def test_a_decision_reads_as_a_sentence(given: Decision, read: str) -> None:
    assert decision_sentence(given, "Team Knowledge") == read


@pytest.mark.parametrize(
    ("rank", "ordinal"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (112, "112th"),
    ],
)
def test_ranks_are_spelled_as_people_say_them(rank: int, ordinal: str) -> None:
    assert decision_sentence(decision("outranked", rank=rank, top_k=1), "Facts").startswith(f"{ordinal} of the top 1")


def test_a_perfect_score_keeps_its_one() -> None:
    assert ".58; the last one in scored 1.00." in decision_sentence(
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
    "over_section_budget", "over_total_budget", "outranked", "below_relevance", "duplicate", "conflict_lost",
    "rule_excluded", "filtered", "superseded", "expired", "empty",
}  # fmt: skip


def test_the_codes_are_those_of_the_design_and_know_their_side() -> None:
    assert {code.value for code in Code if code.included} == INCLUDED
    assert {code.value for code in Code if not code.included} == LEFT_OUT
