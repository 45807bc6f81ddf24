"""A wrong value is replaced in every spelling; a name keeps the form in which it was written."""

import pytest

from privacy.corrections.corrected_text import ValueCorrection

NAME = ValueCorrection("name", "Ada Okafor", "Ada Okoro")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ada Okafor came.", "Ada Okoro came."),
        ("ada  okafor came.", "Ada Okoro came."),
        ("ADA OKAFOR", "ADA OKORO"),
        ("Okafor, Ada: paid", "Okoro, Ada: paid"),
        ("Okafor, A. paid", "Okoro, A. paid"),
        ("By A. Okafor.", "By A. Okoro."),
        ("Ada Okafors", "Ada Okafors"),
        ("Ada Okafor and Ada Okafor", "Ada Okoro and Ada Okoro"),
        ("Nobody", "Nobody"),
    ],
)
def test_a_name_keeps_its_form(before: str, after: str) -> None:
    assert NAME.corrected(before) == after


@pytest.mark.parametrize(
    ("kind", "wrong", "right", "before", "after"),
    [
        ("phone", "+49 171 1234567", "+49 171 7654321", "Call 0171/123 45 67 today.", "Call +49 171 7654321 today."),
        ("phone", "+49 171 1234567", "+49 171 7654321", "Call 0049 171-1234567.", "Call +49 171 7654321."),
        ("phone", "+49 171 1234567", "+49 171 7654321", "Call +49 171 12345678.", "Call +49 171 12345678."),
        ("email", "ada@example.org", "a@example.org", "ADA@example.org, ada@example.org.uk",
            "a@example.org, ada@example.org.uk"),
        ("iban", "DE89370400440532013000", "DE02120300000000202051", "DE89 3704 0044 0532 0130 00",
            "DE02120300000000202051"),
        ("other", "Mill Lane 3", "Mill Lane 5", "Lives at mill lane\n3, as said.", "Lives at Mill Lane 5, as said."),
        ("other", "Mill Lane 3", "Mill Lane 5", "Mill Lane 30", "Mill Lane 30"),
    ],
)  # fmt: skip
def test_every_spelling_is_replaced(kind: str, wrong: str, right: str, before: str, after: str) -> None:
    assert ValueCorrection(kind, wrong, right).corrected(before) == after


def test_the_right_value_stays_where_the_wrong_one_is_a_part_of_it() -> None:
    longer = ValueCorrection("name", "Ada Okafor", "Ada Okafor-Smith")
    once = longer.corrected("Ada Okafor, that is Ada Okafor-Smith.")
    assert once == "Ada Okafor-Smith, that is Ada Okafor-Smith."
    assert longer.corrected(once) == once


def test_json_is_corrected_with_the_names_of_its_members() -> None:
    number = ValueCorrection("phone", "1714455667", "1714455668")
    before = {"Ada Okafor": [1714455667, True, None, {"by": "0171 4455667", "n": 3}]}
    after = {"Ada Okoro": [1714455668, True, None, {"by": "1714455668", "n": 3}]}
    assert number.corrected_value(NAME.corrected_value(before)) == after


def test_a_name_of_one_word_and_one_with_a_comma() -> None:
    assert ValueCorrection("name", "Ada Okafor", "Adanna").corrected("Okafor, Ada") == "Adanna"
    assert ValueCorrection("name", "Okafor, Ada", "Okoro, Ada").corrected("Ada Okafor") == "Ada Okoro"
    assert ValueCorrection("name", "Adanna", "Ada Mary Okoro").corrected("Adanna came") == "Ada Mary Okoro came"
