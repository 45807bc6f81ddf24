"""The numbering plans of countries, from the metadata of phonenumbers, compiled so that a number is checked at once.

To parse a number takes `phonenumbers` a tenth of a millisecond, and a text full of numbers has hundreds of candidates,
each to be compared with many countries. Here, the patterns of a country's kinds of numbers are one expression. A number
is valid if it matches, with or without the prefix of calls inside the country (0, 1 …).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from phonenumbers import PhoneMetadata, country_code_for_region, region_codes_for_country_code

NOT_GEOGRAPHIC = "001"
MOST_CODE_DIGITS = 3
KINDS = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "personal_number", "voip", "pager"),
    *("uan", "voicemail"),
)


@dataclass(frozen=True, slots=True)
class NumberPlan:
    """The expression of all numbers of some countries, and of the prefix that is left out in calls from elsewhere.

    If the prefix has a group that matched, the number is what the last one has (`is_rewritten`).
    """

    prefix: re.Pattern[str] | None
    numbers: re.Pattern[str]
    is_rewritten: bool = False

    def has(self, digits: str) -> bool:
        """Return whether these digits are a number of the plan, with or without the prefix."""
        if self.numbers.fullmatch(digits):
            return True
        found = self.prefix.match(digits) if self.prefix else None
        if found is None:
            return False
        group = found.lastindex if self.is_rewritten else None
        return self.numbers.fullmatch(found[group] if group else digits[found.end() :]) is not None


def is_international_number(digits: str) -> bool:
    """Return whether these digits are the code of a country and a number of this country."""
    for length in range(1, MOST_CODE_DIGITS + 1):
        if plan := _plan_of_code(digits[:length]):
            return plan.has(digits[length:])
    return False


def is_national_number(digits: str, regions: Sequence[str]) -> bool:
    """Return whether these digits are a number of one of the regions, as it is dialled or written there."""
    return any(plan.has(digits) for plan in _plans_of_regions(tuple(regions)))


@cache
def _plan_of_code(code: str) -> NumberPlan | None:
    regions = () if not code or code.startswith("0") else region_codes_for_country_code(int(code))
    return _plan(regions[0], [int(code)]) if regions else None


@cache
def _plans_of_regions(regions: tuple[str, ...]) -> list[NumberPlan]:
    """Return the plans of the regions, those with the same prefix as one."""
    by_prefix = defaultdict[str | None, list[str]](list)
    for region in regions:
        by_prefix[PhoneMetadata.metadata_for_region(region).national_prefix_for_parsing].append(region)
    return [_plan(alike[0], dict.fromkeys(map(country_code_for_region, alike))) for alike in by_prefix.values()]


def _plan(region: str, codes: Iterable[int]) -> NumberPlan:
    known = next(iter(_metadata(code, [region]) for code in codes))
    [metadata] = known
    prefix = metadata.national_prefix_for_parsing
    patterns = dict.fromkeys(
        pattern
        for code in codes
        for of in _metadata(code, region_codes_for_country_code(code))
        for pattern in _patterns(of)
    )
    return NumberPlan(
        re.compile(prefix) if prefix else None,
        re.compile("|".join(patterns)),
        is_rewritten=bool(metadata.national_prefix_transform_rule),
    )


def _metadata(code: int, regions: Iterable[str]) -> list[PhoneMetadata]:
    return [
        PhoneMetadata.metadata_for_nongeo_region(code)
        if region == NOT_GEOGRAPHIC
        else PhoneMetadata.metadata_for_region(region)
        for region in regions
    ]


def _patterns(metadata: PhoneMetadata) -> Iterator[str]:
    """Yield the patterns of a region's kinds of numbers, each with the lengths that it may have."""
    for kind in KINDS:
        of = getattr(metadata, kind)
        if of and of.national_number_pattern and of.possible_length:
            lengths = "|".join(rf"\d{{{length}}}\Z" for length in of.possible_length if length > 0)
            if lengths:
                yield rf"(?={lengths})(?:{of.national_number_pattern})"
