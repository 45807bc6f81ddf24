"""The numbering plans of countries, from the metadata of phonenumbers, compiled so that a number is checked at once.

To parse a number takes `phonenumbers` a tenth of a millisecond, and a text full of numbers has hundreds of candidates,
each to be compared with many countries. Here, the patterns of a country's kinds of numbers are one expression. A number
is valid if it matches, with or without the prefix of calls inside the country (0, 1 …).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from phonenumbers import PhoneMetadata, country_code_for_region, region_codes_for_country_code

NOT_GEOGRAPHIC = "001"
MOST_CODE_DIGITS = 3
PREFIXES = "01"
LEAST_REWRITTEN_DIGITS = 12
"""No number with the code of a carrier is shorter."""
KINDS = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "personal_number", "voip", "pager"),
    *("uan", "voicemail"),
)


@dataclass(frozen=True)
class NumberPlan:
    """The expressions of all numbers of some countries, by length, and of the prefix that calls from elsewhere lack.

    If a group of the prefix matched and the plan `is_rewritten`, the number is what the group has.
    """

    prefix: re.Pattern[str] | None
    numbers: Mapping[int, re.Pattern[str]]
    is_rewritten: bool = False

    def has(self, digits: str) -> bool:
        """Return whether these digits are a number of the plan, with or without the prefix."""
        if self._has_whole(digits):
            return True
        found = self.prefix.match(digits) if self.prefix else None
        if found is None:
            return False
        group = found.lastindex if self.is_rewritten else None
        return self._has_whole(found[group] if group else digits[found.end() :])

    def _has_whole(self, digits: str) -> bool:
        numbers = self.numbers.get(len(digits))
        return numbers is not None and numbers.fullmatch(digits) is not None


def is_international_number(digits: str) -> bool:
    """Return whether these digits are the code of a country and a number of this country."""
    for length in range(1, MOST_CODE_DIGITS + 1):
        if plan := _plan_of_code(digits[:length]):
            return plan.has(digits[length:])
    return False


def is_national_number(digits: str, regions: Sequence[str]) -> bool:
    """Return whether these digits are a number of one of the regions, as it is dialled or written there."""
    of_all, plans = _plans_of_regions(tuple(regions))
    numbers = of_all.get(len(digits))
    if numbers is not None and numbers.fullmatch(digits):
        return True
    return len(digits) >= LEAST_REWRITTEN_DIGITS and any(plan.has(digits) for plan in plans)


@cache
def _plan_of_code(code: str) -> NumberPlan | None:
    regions = () if not code or code.startswith("0") else region_codes_for_country_code(int(code))
    return _plan(regions[0], [int(code)]) if regions else None


@cache
def _plans_of_regions(regions: tuple[str, ...]) -> tuple[Mapping[int, re.Pattern[str]], list[NumberPlan]]:
    """Return all numbers of the regions by length, with and without their prefixes of one digit, and those plans whose
    prefixes have more to them, such as the code of a carrier.
    """
    patterns = defaultdict[int, dict[str, None]](dict)
    rewritten: list[NumberPlan] = []
    for region in regions:
        code = country_code_for_region(region)
        plan = _plan(region, [code])
        prefix = next((one for one in PREFIXES if plan.prefix and plan.prefix.match(one)), None)
        for length, numbers in plan.numbers.items():
            patterns[length][numbers.pattern] = None
            if prefix:
                patterns[length + 1][f"{prefix}(?:{numbers.pattern})"] = None
        if plan.is_rewritten:
            rewritten.append(plan)
    return {length: re.compile("|".join(known)) for length, known in patterns.items()}, rewritten


def _plan(region: str, codes: Iterable[int]) -> NumberPlan:
    """Return the plan of the countries with these codes; the prefix is that of the region."""
    patterns = defaultdict[int, dict[str, None]](dict)
    for code in codes:
        for one in region_codes_for_country_code(code):
            for length, pattern in _patterns(_metadata(one, code)):
                patterns[length][pattern] = None
    of_region = _metadata(region, next(iter(codes)))
    prefix = of_region.national_prefix_for_parsing
    return NumberPlan(
        re.compile(prefix) if prefix else None,
        {length: re.compile("|".join(f"(?:{one})" for one in known)) for length, known in patterns.items()},
        is_rewritten=bool(of_region.national_prefix_transform_rule),
    )


def _metadata(region: str, code: int) -> PhoneMetadata:
    if region == NOT_GEOGRAPHIC:
        found = PhoneMetadata.metadata_for_nongeo_region(code)
    else:
        found = PhoneMetadata.metadata_for_region(region)
    if found is None:
        raise LookupError(f"There is no numbering plan of {region}.")
    return found


def _patterns(metadata: PhoneMetadata) -> Iterator[tuple[int, str]]:
    """Yield the patterns of a region's kinds of numbers, with each length that such a number may have."""
    for kind in KINDS:
        of = getattr(metadata, kind)
        if of and of.national_number_pattern:
            yield from ((length, of.national_number_pattern) for length in of.possible_length if length > 0)
