"""The compiled numbering plans say the same as phonenumbers, of numbers of many countries and of changed ones."""

import random
from collections.abc import Iterator

import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from assembly.masking.number_plans import is_international_number, is_national_number
from assembly.masking.phone_numbers import REGIONS


def examples() -> Iterator[phonenumbers.PhoneNumber]:
    for region in (*REGIONS, "KR", "TR", "AR", "SG", "IL", "RU", "NG", "EG"):
        for kind in (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE, PhoneNumberType.TOLL_FREE):
            if number := phonenumbers.example_number_for_type(region, kind):
                yield number


def digits_of(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def test_examples_of_all_countries_are_numbers_and_changed_ones_if_phonenumbers_says_so() -> None:
    chance = random.Random(3)
    for number in examples():
        digits = digits_of(phonenumbers.format_number(number, PhoneNumberFormat.E164))
        assert is_international_number(digits), digits
        changed = digits[:-3] + f"{chance.randrange(1_000):03}" + "0" * chance.randrange(3)
        expected = phonenumbers.is_valid_number(phonenumbers.parse(f"+{changed}", None))
        assert is_international_number(changed) == expected, changed


@pytest.mark.parametrize("region", REGIONS)
def test_numbers_as_they_are_written_in_their_country_are_known_there(region: str) -> None:
    for number in filter(lambda one: phonenumbers.region_code_for_number(one) == region, examples()):
        written = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
        assert is_national_number(digits_of(written), REGIONS), written


@pytest.mark.parametrize("digits", ["", "0", "0000000000", "999999999999999", "1234567890123456"])
def test_other_digits_are_no_number(digits: str) -> None:
    assert not is_international_number(digits)
    assert not is_national_number(digits, REGIONS)
