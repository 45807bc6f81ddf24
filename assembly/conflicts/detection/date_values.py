"""This module finds the days, weekdays and times of day that a statement names, as far as it names them.

`memories.search.dates` answers another question, which rows a question may mean, and so completes “12 March” to that
day of many years. Two statements contradict each other only in what both of them say: here a missing year stays
missing. The library dateparser completes it, too, and takes 40 ms for a sentence. The names of months and weekdays are
those of the search, in English, German and Spanish.
"""

import calendar
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memories.search.time_expressions import ENGLISH_MONTHS, ENGLISH_WEEKDAYS, TIME_EXPRESSIONS

Kind = Literal["day", "weekday", "clock"]

DAYS_A_MONTH, DAYS_A_YEAR, DAYS_A_WEEK = 30, 365, 7
MINUTES_A_DAY, HALF_DAY = 1_440, 720
FIRST_RECENT_YEAR = 1_900

_OTHER_LANGUAGES = [TIME_EXPRESSIONS[language].meanings for language in ("german", "spanish")]
_MONTHS: dict[str, int] = {name: number for number, name in enumerate(ENGLISH_MONTHS, 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
for _meanings in _OTHER_LANGUAGES:
    _MONTHS |= {name: _MONTHS[english] for name, english in _meanings["month"].items() if not name.isdigit()}
_WEEKDAYS: dict[str, int] = {name: number for number, name in enumerate(ENGLISH_WEEKDAYS)}
_WEEKDAYS |= {name[:3]: number for name, number in _WEEKDAYS.items()}
for _meanings in _OTHER_LANGUAGES:
    _WEEKDAYS |= {name: _WEEKDAYS[english] for name, english in _meanings["weekday"].items()}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
} | {"fifteenth": 15, "twentieth": 20, "last": 31}
_HOURS = {
    word: number
    for words in (
        # The Spanish words are read after “a las” only: “at once” is no time of day.
        "una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "one two three four five six seven eight nine ten eleven twelve",
        "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    )
    for number, word in enumerate(words.split(), 1)
}


def _names(words: Mapping[str, int]) -> str:
    """Return a pattern of the names with a capital, or in small letters where they have more than five of them."""
    capital = [word.capitalize() for word in words]
    small = [word for word in words if len(word) > 5]  # noqa: PLR2004 - “march” and “sun” are common words
    return "|".join(sorted([*capital, *small], key=len, reverse=True))


_MONTH = rf"(?P<month>{_names(_MONTHS)})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DAY = r"(?P<day>[0-3]?\d)"
_OF_A_MONTH = r"(?:of|in) (?:the|each|every|a) (?:\w+ )?month\b"
_SPANISH_HOURS, _OTHER_HOURS = list(_HOURS)[:12], list(_HOURS)[12:]
_HOUR = rf"(?P<hour>[0-2]?\d|{'|'.join(_OTHER_HOURS)})"
_SPANISH_MONTH = rf"(?P<month>{'|'.join(name for name in _OTHER_LANGUAGES[1]['month'] if not name.isdigit())})\b"
_DAY_HALVES = {
    "morning": "am", "mañana": "am", "morgens": "am", "früh": "am", "afternoon": "pm", "evening": "pm", "tarde": "pm",
    "noche": "pm", "nachmittags": "pm", "abends": "pm",
}  # fmt: skip
_DAY_HALF = rf"(?P<half>{'|'.join(_DAY_HALVES)})\b"
_SHIFTS = {"five": 5, "ten": 10, "twenty": 20, "fünf": 5, "zehn": 10, "zwanzig": 20}
_DIGIT, _WORD = re.compile(r"\d"), re.compile(r"[^\W\d_]+")
_TIME = r"(?P<hour>[0-2]?\d)(?::(?P<minute>[0-5]\d))?"
_BEFORE_MONTH = r"\b(?:in|since|until|till|by|of|from|to|before|after|and|for|last|next|this|im|seit|bis|ab|und|für)"
"""The words before a month without a day; without them, “May” and “Jan” may be something else."""
_END = r"(?= of (?:each|every|the|a) |\s*$|[,;]|\.\s*$)"
"""This is what follows an ordinal that is a day of the month: “the 25th”, not “the 25th floor”."""
_YEAR_WORDS, _OLDER_YEAR_WORDS = (
    frozenset(word for words in lists for word in words.split())
    for lists in (
        (
            "till through thru during circa since in year early late mid spring summer autumn fall winter",
            "began begun starts start begins begin ends end opens closes expires built born due founded formed",
            "established started ended opened closed launched created introduced",
            "signed joined retired married dated published released completed finished",
            "incorporated graduated expired jahr jahre jahres ab vor nach seit anfang",
            "mitte frühjahr sommer herbst winter gegründet gebaut erbaut geboren eröffnet gestartet eingeführt año",
            "durante de desde en verano invierno primavera otoño fundada fundado",
        ),
        ("in since year built born founded established jahr jahre seit gegründet erbaut geboren año en desde",),
    )
)
"""The words before a number that is a year: “through 2026”. From 1500 to 1899 it may also be a time, or a count."""
_WORD_BEFORE = re.compile(
    r"(?:(?P<sure>\b(?:later|earlier) than |\b(?:19|20)\d\d(?: (?:and|und|y) |[-–/]))"  # noqa: RUF001
    r"|(?P<word>[^\W\d_]+)(?: |(?<=\b[Mm]id)-))$"
)
_BARE_YEAR = re.compile(
    r"(?<![\w.,:#])(?P<year>1[5-9]\d\d|20\d\d)(?=\s*$|[.,;:)!?](?!\d)"
    r"| (?:and|or|but|is|was|are|were|to|until|till|in|at|on|by|with|as|it|he|she|we|they|when|after"
    r"|und|oder|ist|war|sind|bis|von|im|gegründet|gebaut|erbaut|eröffnet|y|o|es|era|hasta|por)\b)"
)
"""A number that may be a year: nothing that it could count follows."""
_HALF = r"(?P<half>am|pm|a\.m\.?|p\.m\.?|AM|PM)(?!\w)"


@dataclass(frozen=True, slots=True)
class DateValue:
    """A day, a weekday or a time of day, with the parts that were said; None for those that were not."""

    kind: Kind
    text: str
    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    minute: int | None = None
    """Minutes since midnight, of a time of day."""
    is_half_known: bool = True
    """False for a time of day that may be before or after noon, such as “half past nine”."""

    @property
    def precision(self) -> int:
        """The smallest part that was said: 3 for a day, 2 for a month, 1 for a year or another kind of value."""
        return 3 if self.day is not None else 2 if self.month is not None else 1

    def distance(self, other: "DateValue") -> float | None:
        """Return the days between both values, 0 if they can be the same; None if they cannot be compared."""
        if self.kind != other.kind:
            return None
        if self.kind == "clock":
            return self._clock_distance(other)
        if self.kind == "weekday":
            apart = abs((self.weekday or 0) - (other.weekday or 0))
            return float(min(apart, DAYS_A_WEEK - apart))
        both = [
            (mine, theirs, days)
            for mine, theirs, days in (
                (self.year, other.year, DAYS_A_YEAR),
                (self.month, other.month, DAYS_A_MONTH),
                (self.day, other.day, 1),
            )
            if mine is not None and theirs is not None
        ]
        return float(abs(sum((mine - theirs) * days for mine, theirs, days in both))) if both else None

    def _clock_distance(self, other: "DateValue") -> float:
        cycle = MINUTES_A_DAY if self.is_half_known and other.is_half_known else HALF_DAY
        apart = abs((self.minute or 0) - (other.minute or 0)) % cycle
        return min(apart, cycle - apart) / MINUTES_A_DAY


_Said = Mapping[str, str | None]
_Parts = dict[str, int | bool | None]
_Reader = Callable[[_Said], Iterator[_Parts]]


def dates_in(text: str) -> list[DateValue]:
    """Return the days, weekdays and times that the text names, in its order; where two readings overlap, the longer."""
    if not _DIGIT.search(text) and _SIGNS.isdisjoint(_WORD.findall(text.lower())):
        return []
    found: list[DateValue] = []
    taken: list[tuple[int, int]] = []
    for kind, pattern, read in _READERS:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            values = [parts for parts in read(match.groupdict()) if _is_valid(parts)]
            if values:
                taken.append(match.span())
            found += [DateValue(kind, match[0].strip(), *match.span(), **parts) for parts in values]  # type: ignore[arg-type]
    found += _bare_years(text, taken)
    return sorted(found, key=lambda value: (value.start, value.end))


def _bare_years(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[DateValue]:
    """Yield the years that the text names as numbers, outside of the stretches that other dates have taken."""
    for match in _BARE_YEAR.finditer(text):
        before = _WORD_BEFORE.search(text[: match.start()])
        if before is None or any(start < match.end() and match.start() < end for start, end in taken):
            continue
        year, word = int(match["year"]), (before["word"] or "").lower()
        is_recent = year >= FIRST_RECENT_YEAR
        if word in (_YEAR_WORDS if is_recent else _OLDER_YEAR_WORDS) or (is_recent and before["sure"]):
            yield DateValue("day", match["year"], *match.span("year"), year=year)


def _is_valid(parts: _Parts) -> bool:
    month, day, minute = parts.get("month"), parts.get("day"), parts.get("minute")
    if month is not None and not 1 <= month <= 12:  # noqa: PLR2004
        return False
    if day is not None and not 1 <= day <= 31:  # noqa: PLR2004
        return False
    return minute is None or 0 <= minute < MINUTES_A_DAY


def _day(said: _Said) -> Iterator[_Parts]:
    month = said.get("month")
    number = None if month is None else _MONTHS.get(month.lower()) or int(month)
    yield {"year": _number(said.get("year")), "month": number, "day": _number(said.get("day"))}


def _end_of(said: _Said) -> Iterator[_Parts]:
    """Yield the last day of a month or a year: “end of March”, “end of 2027”."""
    year, month = _number(said.get("year")), said.get("month")
    number = 12 if month is None else _MONTHS[month.lower()]
    yield {"year": year, "month": number, "day": calendar.monthrange(year or 2001, number)[1]}


def _day_of_month(said: _Said) -> Iterator[_Parts]:
    """Yield the day of “the first of the month”; the last one is 31."""
    yield {"day": _ORDINALS[str(said["ordinal"])]}


def _quarter(said: _Said) -> Iterator[_Parts]:
    """Yield the first month of a quarter, so that quarters are three months apart."""
    yield {"year": _number(said.get("year")), "month": int(str(said["quarter"])) * 3 - 2}


def _weekday(said: _Said) -> Iterator[_Parts]:
    yield {"weekday": _WEEKDAYS[str(said["weekday"]).lower()]}


def _clock(said: _Said) -> Iterator[_Parts]:
    """Yield the time of day, and the second one of a range such as “2 to 4 am”."""
    half = (said.get("half") or "").lower().replace(".", "")
    half = _DAY_HALVES.get(half, half)
    for hour_name, minute_name in (("hour", "minute"), ("last_hour", "last_minute")):
        if (hour := said.get(hour_name)) is None:
            continue
        number = _HOURS.get(hour) or int(hour)
        if half:
            number = number % 12 + (12 if half == "pm" else 0)
        minute = number * 60 + int(said.get(minute_name) or 0) + int(said.get("shift") or 0)
        # Written as 9:30 or 09:00 it is a time of 24 hours; spoken as “at seven” it may be either half of the day.
        yield {
            "minute": minute % MINUTES_A_DAY,
            "is_half_known": bool(half) or said.get(minute_name) is not None or number * 60 > HALF_DAY,
        }


def _shifted(shift: int) -> _Reader:
    """Return the reader of a time some minutes before or after the hour, in either half of the day."""

    def read(said: _Said) -> Iterator[_Parts]:
        hour = str(said["hour"]).lower()
        minute = (_HOURS.get(hour) or int(hour)) * 60 + shift
        half = _DAY_HALVES.get(said.get("half") or "")
        minute += HALF_DAY if half == "pm" and minute < HALF_DAY else 0
        yield {"minute": minute % MINUTES_A_DAY, "is_half_known": half is not None}

    return read


def _past_or_to(said: _Said) -> Iterator[_Parts]:
    """Yield the time some minutes past or to an hour: “five past eight”."""
    shift = _SHIFTS[str(said["shift_word"]).lower()]
    yield from _shifted(-shift if str(said["way"]).lower() in ("to", "vor") else shift)(said)


def _spanish_clock(said: _Said) -> Iterator[_Parts]:
    """Yield the time of “a las seis y media de la tarde”."""
    shift = {"media": "30", "cuarto": "15"}.get(said.get("past") or "", "0")
    yield from _clock({**said, "last_hour": None, "minute": said.get("minute") or (shift if shift != "0" else None)})


def _noon(_said: _Said) -> Iterator[_Parts]:
    yield {"minute": HALF_DAY}


def _midnight(_said: _Said) -> Iterator[_Parts]:
    yield {"minute": 0}


def _number(said: str | None) -> int | None:
    return None if said is None else int(said)


_PATTERNS: tuple[tuple[Kind, str, _Reader], ...] = (
    ("day", r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b", _day),
    ("day", rf"\b{_DAY}\. ?(?P<month>[01]?\d)\. ?{_YEAR}", _day),
    ("day", rf"\b(?:[Ee]nd of|Ende) (?:the year )?{_YEAR}", _end_of),
    ("day", rf"\b(?:[Ee]nd of|Ende) {_MONTH}(?: (?:of )?{_YEAR})?(?!\w)", _end_of),
    ("day", rf"\b{_DAY}(?:st|nd|rd|th|\.)?(?: of)? ?{_MONTH}(?:,? ?{_YEAR})?", _day),
    ("day", rf"\b(?P<day>[0-3]?\d) de {_SPANISH_MONTH}(?: (?:de |del )?{_YEAR})?", _day),
    ("day", rf"\b(?:en|de|desde|hasta|para) {_SPANISH_MONTH}(?: (?:de |del )?{_YEAR})?", _day),
    ("day", rf"\b{_MONTH} (?:the )?{_DAY}(?:st|nd|rd|th)?\b(?!:)(?:,? ?{_YEAR})?", _day),
    ("day", rf"\b{_MONTH}(?:,| of)? {_YEAR}", _day),
    ("day", rf"(?:{_BEFORE_MONTH} |-){_MONTH}", _day),
    ("day", rf"\bQ(?P<quarter>[1-4])(?:[ /]{_YEAR})?(?!\w)", _quarter),
    ("day", rf"\b(?:on the|the|am) (?P<day>[0-3]?\d)(?:st|nd|rd|th|\.){_END}", _day),
    ("day", rf"\bthe (?P<ordinal>{'|'.join(_ORDINALS)}) (?:day )?{_OF_A_MONTH}", _day_of_month),
    ("day", rf"\b(?:the )?{_DAY}(?:st|nd|rd|th) (?:day )?{_OF_A_MONTH}", _day),
    ("weekday", rf"\b(?P<weekday>{_names(_WEEKDAYS)})s?\b", _weekday),
    ("weekday", r"\b(?P<weekday>lunes)\b", _weekday),
    ("weekday", r"\b(?P<weekday>(?:tue|wed|thu|fri)|(?:mon|sat|sun)(?= \d))\b", _weekday),
    ("clock", rf"\b{_TIME} ?(?:-|to|until) ?(?P<last_hour>[0-2]?\d)(?::(?P<last_minute>[0-5]\d))? ?{_HALF}", _clock),
    ("clock", rf"\b(?P<hour>[0-2]?\d)(?:[:.](?P<minute>[0-5]\d))? ?{_HALF}", _clock),
    ("clock", r"\b(?P<hour>[0-2]?\d):(?P<minute>[0-5]\d)(?: ?(?:h|Uhr))?\b(?![:.]\d)", _clock),
    ("clock", r"\b(?P<hour>[0-2]?\d)(?:\.(?P<minute>[0-5]\d))? ?(?:Uhr|o'clock)\b", _clock),
    (
        "clock",
        rf"\ba las? (?P<hour>[0-2]?\d|{'|'.join(_SPANISH_HOURS)})\b(?:[:.](?P<minute>[0-5]\d))?"
        rf"(?: y (?P<past>media|cuarto))?(?: de la {_DAY_HALF})?",
        _spanish_clock,
    ),
    ("clock", rf"\b(?P<shift_word>{'|'.join(_SHIFTS)}) (?P<way>past|to|nach|vor) {_HOUR}\b", _past_or_to),
    ("clock", rf"\bhalf past {_HOUR}\b(?: (?:in the )?{_DAY_HALF})?", _shifted(30)),
    ("clock", rf"\bhalb {_HOUR}\b", _shifted(-30)),
    ("clock", rf"\b(?:a )?quarter past {_HOUR}\b(?: (?:in the )?{_DAY_HALF})?", _shifted(15)),
    ("clock", rf"\b(?:a )?quarter to {_HOUR}\b(?: (?:in the )?{_DAY_HALF})?", _shifted(-15)),
    ("clock", rf"\b{_HOUR}(?::(?P<minute>[0-5]\d))?(?: Uhr)? (?:(?:in the|de la) )?{_DAY_HALF}", _clock),
    ("clock", rf"\b(?:at|um) {_HOUR}(?=\s*$|[.,;](?!\d)| (?:in|on|and|every|each|sharp|und|am|ist|is)\b)", _clock),
    ("clock", r"\b(?:noon|midday|[Mm]ittags?)\b", _noon),
    ("clock", r"\b(?:midnight|Mitternacht)\b", _midnight),
    (
        "day",
        r"(?:(?<=\b[Ii]n )|(?<=\b[Ss]ince )|(?<=\bof )|(?<=\bfrom )|(?<=\buntil )|(?<=\bby )|(?<=\bto )"
        r"|(?<=\bis )|(?<=\bist )|(?<=\bes )|(?<=\ben )|(?<=\bdesde )|(?<=\bhasta )"
        r"|(?<=: )|(?<=\bafter )|(?<=\bbefore )|(?<=\bseit )|(?<=\bbis )|(?<=\baround )|(?<=\()"
        rf"|(?<=, )){_YEAR}(?![.,]?\d)",
        _day,
    ),
)  # fmt: skip
_SIGNS = frozenset(
    [
        *_MONTHS,
        *_WEEKDAYS,
        *(f"{name}s" for name in _WEEKDAYS),
        "noon",
        "midday",
        "mittag",
        "mittags",
        "midnight",
        "mitternacht",
        "half",
        "halb",
        "quarter",
        *_ORDINALS,
        "at",
        "um",
        "las",
        "past",
        "nach",
        "vor",
        *_DAY_HALVES,
    ]
)
"""Words of which every date without a digit has one; statements without them need no further search."""
_READERS = tuple((kind, re.compile(pattern), read) for kind, pattern, read in _PATTERNS)
