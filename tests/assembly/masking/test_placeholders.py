"""Placeholders are the same for the same value in one context, and stand in all forms of a candidate."""

from assembly.engine.types import Candidate, Summary
from assembly.masking.placeholders import Masker


def test_a_value_has_one_placeholder_however_it_is_written() -> None:
    masker = Masker()
    assert masker.masked("ana@example.org, then Ana@Example.org") == "[e-mail 1], then [e-mail 1]"
    assert masker.masked("IBAN DE89 3704 0044 0532 0130 00") == "IBAN [IBAN 1]"
    assert masker.masked("DE89370400440532013000 of bob@example.org") == "[IBAN 1] of [e-mail 2]"


def test_phone_numbers_and_ip_addresses_are_compared_in_their_canonical_forms() -> None:
    masker = Masker()
    numbers = ["+49 30 901820", "0049 30 901820", "+49 (0)30 901820", "0049-30-90-18-20"]
    assert {masker.masked(f"Call {number}.") for number in numbers} == {"Call [phone 1]."}
    assert masker.masked("Call +49 30 901821, or 030 901821.") == "Call [phone 2], or [phone 3]."
    addresses = ["2001:db8:0:0:0:0:0:1", "2001:DB8::1", "2001:0db8::0001"]
    assert {masker.masked(f"host {address} is down") for address in addresses} == {"host [IP address 1] is down"}
    assert masker.masked("host 2001:db8::2, host 192.0.2.7") == "host [IP address 2], host [IP address 3]"


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
