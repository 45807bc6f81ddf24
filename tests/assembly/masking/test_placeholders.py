"""Placeholders are the same for the same value in one context, and stand in all forms of a candidate."""

from assembly.engine.types import Candidate, Summary
from assembly.masking.placeholders import Masker


def test_a_value_has_one_placeholder_however_it_is_written() -> None:
    masker = Masker()
    assert masker.masked("ana@example.org, then Ana@Example.org") == "[e-mail 1], then [e-mail 1]"
    assert masker.masked("IBAN DE89 3704 0044 0532 0130 00") == "IBAN [IBAN 1]"
    assert masker.masked("DE89370400440532013000 of bob@example.org") == "[IBAN 1] of [e-mail 2]"


def test_a_text_without_personal_data_stays_as_it_is() -> None:
    text = "Nothing  to\u00a0hide. "
    assert Masker().masked(text) == text


def test_numbers_of_a_masked_context_are_not_used_again() -> None:
    masker = Masker(["[e-mail 3] wrote to [phone 2]", "[e-mail 1]"])
    assert masker.masked("eva@example.org, +49 30 901820") == "[e-mail 4], [phone 3]"


def test_the_shorter_forms_of_a_candidate_have_the_same_placeholders() -> None:
    text = "ana@example.org pays by invoice. Her number is +49 30 901820."
    candidate = Candidate(
        ref="memory:1@1",
        section="memories",
        text=text,
        summary=Summary("ana@example.org pays", "model"),
        levels={"micro": Summary("ana@example.org", "extractive")},
    )
    masked = Masker().masked_candidate(candidate)
    assert masked.text == "[e-mail 1] pays by invoice. Her number is [phone 1]."
    assert masked.summary == Summary("[e-mail 1] pays", "model")
    assert masked.levels == {"micro": Summary("[e-mail 1]", "extractive")}
    assert candidate.text == text
