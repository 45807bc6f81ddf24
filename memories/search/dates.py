"""This module finds the days that a question names: “last May”, “in 2023”, “on 7 May”, “yesterday”, “two weeks ago”.

The patterns for English are in this module, those for German and Spanish in `memories.search.time_expressions`. In
other languages the English patterns are used, of which ISO dates like 2023-05-07 and years match.
"""

import calendar
import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memories.search.languages import DEFAULT
from memories.search.time_expressions import TIME_EXPRESSIONS

YEARS_BACK = 20
"""Years into the past that a month or day without a year may refer to; it may also refer to the coming year."""

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_NUMBERS = ("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTS = {word: number for number, word in enumerate(_NUMBERS, 1)} | {
    "an": 1,
    "one": 1,
    "couple of": 2,
    "a couple of": 2,
}
_NAMED_DAYS = {"day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "day after tomorrow": 2}
_DAYS_OF = {"day": 1, "week": 7}

_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_UNIT = r"(?P<unit>day|week|month|year)"


@dataclass(frozen=True, slots=True)
class DayRange:
    """A range of days from `first` to `last`, both included."""

    first: datetime.date
    last: datetime.date


def days_in(question: str, today: datetime.date, language: str = DEFAULT) -> tuple[DayRange, ...]:
    """Return the ranges of days that the question names; none where it names none.

    A month or a day without a year stands for that of every year from YEARS_BACK years ago to the next year.
    """
    found: list[DayRange] = []
    years = set(re.findall(rf"\b{_YEAR}\b", question))
    only_year = years.pop() if len(years) == 1 else None
    # “may” and “march” are also verbs: as months they have a capital, or a day or a preposition before them.
    left = re.sub(r"(?<!\bin )(?<!\bof )(?<!\blast )(?<!\d )\b(may|march)\b", " ", question)
    left = re.sub(r"(?:^|(?<=[.!?] ))\s*(May|March)\b(?! \d)", " ", left).lower()
    readers, meanings = _reading(language)
    for pattern, read in readers:
        if found and read is _year:  # in “in May and June 2023” the year says which May is meant
            break
        for match in pattern.finditer(left):
            found += _valid_ranges(read, {"year": only_year, **_match_groups(match, meanings)}, today)
        left = pattern.sub(" ", left)
    return tuple(dict.fromkeys(found))


def _match_groups(match: re.Match[str], meanings: "_Meanings") -> dict[str, str]:
    """Return the text of each named group of the match, translated into English."""
    return {name: meanings.get(name, {}).get(said, said) for name, said in match.groupdict().items() if said}


def _valid_ranges(read: "_Reader", said: "_Groups", today: datetime.date) -> list[DayRange]:
    """Return the ranges that the reader finds; none for a date that no calendar has, such as 31 June."""
    try:
        return list(read(said, today))
    except (ValueError, OverflowError):
        return []


_Meanings = Mapping[str, Mapping[str, str]]
_Groups = Mapping[str, str | None]
_Reader = Callable[[_Groups, datetime.date], Iterator[DayRange]]


def _iso(said: _Groups, _today: datetime.date) -> Iterator[DayRange]:
    day = datetime.date.fromisoformat(str(said["iso"]))
    yield DayRange(day, day)


def _day_of_month(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    for year in _years(said, today):
        month, day = _MONTHS[str(said["month"])], int(str(said["day"]))
        if day <= calendar.monthrange(year, month)[1]:
            yield DayRange(datetime.date(year, month, day), datetime.date(year, month, day))


def _month_of_year(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    for year in _years(said, today):
        yield _month(year, _MONTHS[str(said["month"])])


def _relative_month(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    month = _MONTHS[str(said["month"])]
    year = today.year
    if said["which"] == "last":
        year -= month >= today.month
    elif said.get("which") == "next":
        year += month <= today.month
    yield _month(year, month)


def _relative_unit(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    steps = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1}[str(said["which"])]
    unit = str(said["unit"])
    if unit in _DAYS_OF:
        first = today - datetime.timedelta(days=today.weekday() if unit == "week" else 0)
        first += datetime.timedelta(days=steps * _DAYS_OF[unit])
        yield DayRange(first, first + datetime.timedelta(days=_DAYS_OF[unit] - 1))
    else:
        yield _around(today, unit, steps)


def _ago(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    count, unit = str(said["count"]), str(said["unit"])
    number = _COUNTS.get(count) or int(count)
    if unit == "day":
        day = today - datetime.timedelta(days=number)
        yield DayRange(day, day)
    elif unit == "week":
        day = today - datetime.timedelta(weeks=number)
        yield DayRange(day - datetime.timedelta(days=3), day + datetime.timedelta(days=3))
    else:
        yield _around(today, unit, -number)


def _named_day(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    day = today + datetime.timedelta(days=_NAMED_DAYS[str(said["name"])])
    yield DayRange(day, day)


def _weekday(said: _Groups, today: datetime.date) -> Iterator[DayRange]:
    """Yield the last such weekday before today, or the next one after today for “next”."""
    weekday = _WEEKDAYS[str(said["weekday"])]
    ahead = (weekday - today.weekday() - 1) % 7 + 1
    day = today + datetime.timedelta(days=ahead if said.get("which") == "next" else ahead - 7 or -7)
    yield DayRange(day, day)


def _year(said: _Groups, _today: datetime.date) -> Iterator[DayRange]:
    year = int(str(said.get("year")))
    yield DayRange(datetime.date(year, 1, 1), datetime.date(year, 12, 31))


def _years(said: _Groups, today: datetime.date) -> range:
    year = int(said.get("year") or 0)
    return range(year, year + 1) if year else range(today.year - YEARS_BACK, today.year + 2)


def _month(year: int, month: int) -> DayRange:
    last = calendar.monthrange(year, month)[1]
    return DayRange(datetime.date(year, month, 1), datetime.date(year, month, last))


def _around(today: datetime.date, unit: str, steps: int) -> DayRange:
    """Return the calendar month or year that is this many months or years away from today's."""
    if unit == "year":
        return DayRange(datetime.date(today.year + steps, 1, 1), datetime.date(today.year + steps, 12, 31))
    months = today.year * 12 + today.month - 1 + steps
    return _month(months // 12, months % 12 + 1)


_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (re.compile(r"\b(?P<iso>\d{4}-\d\d-\d\d)\b"), _iso),
    (re.compile(rf"\b{_DAY}(?: of)? {_MONTH}(?:,? ?{_YEAR}\b)?"), _day_of_month),
    (re.compile(rf"\b{_MONTH} {_DAY}\b(?:,? ?{_YEAR}\b)?"), _day_of_month),
    (re.compile(rf"\b(?P<which>last|this|next) {_MONTH}"), _relative_month),
    (re.compile(rf"\b{_MONTH}(?:(?:,| of)? {_YEAR})?"), _month_of_year),
    (re.compile(r"\b(?P<name>day before yesterday|yesterday|today|tomorrow)\b"), _named_day),
    (re.compile(rf"\b(?P<which>last|previous|past|this|next) {_UNIT}\b"), _relative_unit),
    (re.compile(rf"\b(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))}) {_UNIT}s? ago\b"), _ago),
    (re.compile(rf"\b(?:(?P<which>last|next|this|on) )?(?P<weekday>{'|'.join(_WEEKDAYS)})\b"), _weekday),
    (re.compile(rf"\b{_YEAR}\b"), _year),
)
_READ_BY_NAME: Mapping[str, _Reader] = {
    "iso": _iso,
    "day_of_month": _day_of_month,
    "relative_month": _relative_month,
    "month_of_year": _month_of_year,
    "named_day": _named_day,
    "relative_unit": _relative_unit,
    "ago": _ago,
    "weekday": _weekday,
    "year": _year,
}


def _reading(language: str) -> tuple[Sequence[tuple[re.Pattern[str], _Reader]], _Meanings]:
    """Return the patterns with their readers for this language, and the English meanings of its words.

    Languages without patterns use the English ones.
    """
    if language not in TIME_EXPRESSIONS:
        return _READERS, {}
    expressions = TIME_EXPRESSIONS[language]
    return [(pattern, _READ_BY_NAME[name]) for name, pattern in expressions.patterns], expressions.meanings
