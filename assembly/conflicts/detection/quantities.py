"""This module finds the numbers of a statement, with their units, and compares them.

Units are those of `lexicon/units.yaml`, converted to the first unit of their dimension: 2 h is 7,200 s, 1k is 1,000.
A number without a unit counts something: the nouns near it say what, and only counts of the same thing are compared.
The libraries for this are not used: quantulum3 (24 MB) takes 2 ms for a sentence of two numbers and reads “1k files” as
a kibibyte, and pint reads quantities that stand alone, not those inside a sentence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from assembly.conflicts.detection.lexicon import Lexicon, load_units

Bound = Literal["exact", "lower", "upper", "approximate", "permitted"]

COUNT, PERCENT, TIMES = "count", "percent", "times"
"""The dimensions of numbers without a unit, of shares, and of repetitions, such as “twice a week”."""
JOINED = ("time", "length")
"""The dimensions of which neighbours are added up: 4 h 10 min, 5 ft 3 inches."""
APPROXIMATION = 0.1
"""The relative difference within which an approximate number is the same as another."""
ROUNDING, CALENDAR_ROUNDING, CALENDAR_SECONDS = 0.005, 0.02, 30 * 86_400
"""The relative difference of measures that are the same, rounded or converted; of months and years it is larger, as a
year is 12 months, 52 weeks or 365 days. Counts must be equal.
"""
DIGITS_OF_THOUSANDS = 3
HUNDRED = 100
MAX_DIGITS = 18
"""The most characters of a number; longer ones are keys and hashes."""

_MAGNITUDES = {
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "tausend": 1e3, "million": 1e6, "millions": 1e6, "mio": 1e6,
    "millionen": 1e6, "mil": 1e3, "millones": 1e6, "billion": 1e9, "bn": 1e9, "mrd": 1e9, "hundred": 1e2, "dozen": 12.0,
}  # fmt: skip
_SHARES = {
    "half": 50.0, "a half": 50.0, "die hälfte": 50.0, "a quarter": 25.0, "a third": 100 / 3, "two thirds": 200 / 3,
    "three quarters": 75.0, "la mitad": 50.0, "un tercio": 100 / 3, "un cuarto": 25.0,
    "ein drittel": 100 / 3, "ein viertel": 25.0,
}  # fmt: skip
_PERIODS = {
    "daily": "day", "täglich": "day", "weekly": "week", "wöchentlich": "week", "monthly": "month",
    "monatlich": "month", "yearly": "year", "annually": "year", "jährlich": "year", "hourly": "hour",
    "stündlich": "hour", "nightly": "day", "diario": "day", "diariamente": "day",
    "semanalmente": "week", "mensualmente": "month", "anualmente": "year",
}  # fmt: skip

_REPETITIONS = ("once", "twice", "einmal", "zweimal", "dreimal")
_ARTICLE_UNITS = (
    "hour", "day", "week", "month", "year", "minute", "stunde", "tag", "woche", "monat", "jahr", "hora",
    "día", "semana", "mes", "año",
)  # fmt: skip
"""Units of which an article makes a number: “an hour”."""
_DIGIT, _WORD = re.compile(r"\d"), re.compile(r"[^\W\d_]+")
_NUMBER, _UNROUNDED = re.compile(r"\d[\d.,' ]*(?<=\d)"), re.compile(r"\d{1,3}(?:[,' ]?\d{3})*(?<!0)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, or a range of numbers, in the first unit of its dimension."""

    low: float
    high: float
    dimension: str
    text: str
    start: int
    end: int
    bound: Bound = "exact"
    period: float | None = None
    """Of a rate, the seconds of its period, as of “5 times a week” or “40 euros per month”; else None."""
    nouns: frozenset[str] = frozenset()
    """Of a count: the words after it, which say what is counted; empty where none follows."""
    around: frozenset[str] = frozenset()
    """Of a count: the words before it, which say what is counted where no word follows."""

    @property
    def is_bare(self) -> bool:
        """Whether it has no unit and counts nothing that follows it, as in “the guest in 407”."""
        return self.dimension == COUNT and not self.nouns

    @property
    def precision(self) -> int:
        """1 for an exact number, 0 for a range, a bound or an approximate one."""
        return int(self.bound in ("exact", "permitted") and self.low == self.high)

    def is_comparable(self, other: "Quantity") -> bool:
        """Return whether both are of one dimension, and count the same things if they are counts."""
        if self.dimension != other.dimension:
            return False
        if TIMES in (self.dimension, other.dimension) and (self.period is None) != (other.period is None):
            return False
        if self.dimension != COUNT:
            return True
        if self.nouns and other.nouns:
            return bool(self.nouns & other.nouns)
        # “Seats 40 people” and “has seats for 25”: one names what it counts, the other what the words before it say.
        return bool(self.around & other.around)

    def difference(self, other: "Quantity") -> float:
        """Return the relative difference, 0 to 1; 0 if both can be true at once.

        “At least 3” and “5” can both be true, “at most 3” and “5” cannot; two bounds of the same kind are compared by
        their values, because each is said to be the bound.
        """
        first, second = (self, other) if self.period is None or other.period is None else (_rate(self), _rate(other))
        if self.dimension == COUNT and _is_finer_version(self.text, other.text):
            return 0.0
        if first.low <= second.high and second.low <= first.high:
            return 0.0
        smaller, larger = (first, second) if first.high < second.low else (second, first)
        relative = (larger.low - smaller.high) / max(abs(larger.low), abs(smaller.high))
        # “May send 60” is the limit if the other one is a limit, and says how many otherwise.
        are_limits = {self.bound, other.bound} == {"upper", "permitted"}
        if self.bound != other.bound and not are_limits and (smaller.bound == "lower" or larger.bound == "upper"):
            return 0.0
        return 0.0 if relative <= self._tolerance(other) else min(1.0, relative)

    def _tolerance(self, other: "Quantity") -> float:
        """Return the relative difference at which both are still the same."""
        if "approximate" in (self.bound, other.bound):
            return APPROXIMATION
        if self.dimension == COUNT or _are_precise(self.text, other.text):
            return 0.0
        is_of_calendar = self.dimension == "time" and max(self.high, other.high) >= CALENDAR_SECONDS
        return CALENDAR_ROUNDING if is_of_calendar else ROUNDING


def _are_precise(one: str, other: str) -> bool:
    """Return whether neither of two whole numbers of one unit can be the other one rounded: 2,019 and 2,021 euros."""
    found = [_NUMBER.findall(text) for text in (one, other)]
    are_whole = all(len(numbers) == 1 and _UNROUNDED.fullmatch(numbers[0]) for numbers in found)
    return are_whole and _NUMBER.sub("", one).strip().casefold() == _NUMBER.sub("", other).strip().casefold()


def _is_finer_version(one: str, other: str) -> bool:
    """Return whether one is the beginning of the other one: Python 3 and Python 3.11."""
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _rate(quantity: Quantity) -> Quantity:
    """Return the quantity per second."""
    period = quantity.period or 1.0
    return replace(quantity, low=quantity.low / period, high=quantity.high / period)


@cache
def _signs(lexicon: Lexicon) -> frozenset[str]:
    """Return the words of which every number without a digit has one, so that most statements need no search."""
    shares = {word for share in _SHARES for word in share.split()} - {"a", "die", "ein", "la", "un"}
    return frozenset(
        {
            *(words.split()[-1] for words in lexicon.number_words),
            "every",
            "each",
            "alle",
            "jede",
            "jeden",
            "jedes",
            "cada",
            *shares,
            *_PERIODS,
            *_ARTICLE_UNITS,
            *(f"halbe{ending}" for ending in ("", "n", "r", "s")),
        }
    )


@cache
def _patterns(lexicon: Lexicon) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a number with what belongs to it, and of the period of a rate that follows it."""
    units = "|".join(sorted((re.escape(unit) for unit in load_units()), key=len, reverse=True))
    words = "|".join(sorted(lexicon.number_words, key=len, reverse=True))
    digits = r"\d{1,3}(?:[,.'\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
    units_of_ten, tens, hundreds = (
        "|".join(word for word, value in lexicon.number_words.items() if low <= value <= high)
        for low, high in ((1, 9), (20, 90), (HUNDRED, HUNDRED))
    )
    below_hundred = rf"(?:(?:{tens})(?:[ -]| y )(?:{units_of_ten})|{words})"
    number = (
        rf"(?:{digits}|\b(?:(?:(?:{units_of_ten}) )?(?:{hundreds})(?: (?:and )?{below_hundred})?|{below_hundred})\b)"
    )
    magnitudes = "|".join(sorted((word for word in _MAGNITUDES if len(word) > 1), key=len, reverse=True))
    periods = "|".join(word for word, (dimension, _) in load_units().items() if dimension == "time" and len(word) > 1)
    often = "|".join(_PERIODS)
    main = (
        r"(?P<every>\b(?:every|each|alle|jeden?|jedes|cada) "
        rf"(?:(?P<times>\d+|{words}|other) )?(?P<every_unit>{periods})\b)"
        r"|(?P<share>\b(?:" + "|".join(_SHARES) + r")\b(?= (?:of|der|des)\b(?! an hour)))"
        rf"|(?P<often>\b(?:{often})\b)"
        r"|(?P<half_unit>\b(?:half an?|eine? halbe[rns]?) (?P<halved>hour|minute|day|week|month|year|stunde|jahr)\b"
        r"|\bmedia (?P<media>hora)\b)"
        rf"|\b(?:an|a|one|eine?|einen|einem|una?)(?P<article_unit> (?:quarter of an hour|{'|'.join(_ARTICLE_UNITS)}))\b"
        r"(?P<article_half> and a half)?"
        rf"|(?P<currency>[$€£]|\b(?:usd|eur|gbp|chf) )? ?(?P<number>{number})"
        rf"(?:(?: ?(?:-|to|bis|and|a|und|y) ?)(?P<last>{digits})(?=\W))?"
        rf"(?P<half> and a half)?(?P<magnitude>k\b|(?-i:M)\b(?!b)| ?(?:{magnitudes})\b)?"
        rf"(?:[ -]?(?P<unit>{units})(?![\w²]))?"
    )
    rate = (
        rf" ?(?:/|per |a |an |each |every |pro |am |im |por |al |a la |cada )(?P<period>{periods}|h|s)\b"
        rf"|(?: \w+){{0,3}}? ?(?:/|per |pro |por |an? )(?P<counted_period>{periods}|h|s)\b"
        rf"| (?P<often>{often})\b"
    )
    return re.compile(main, re.IGNORECASE), re.compile(rate, re.IGNORECASE)


_IN_WORD_BEFORE = re.compile(r"[\w#_./:]$|\w-$")


def quantities_in(text: str, taken: Sequence[tuple[int, int]], lexicon: Lexicon) -> list[Quantity]:
    """Return the quantities of the text in its order, without those inside the `taken` stretches, such as dates."""
    if not _DIGIT.search(text) and _signs(lexicon).isdisjoint(_WORD.findall(text.lower())):
        return []
    main, rate = _patterns(lexicon)
    found: list[Quantity] = []
    until = 0
    for match in main.finditer(text):
        if match.start() < until or any(match.start() < end and start < match.end() for start, end in taken):
            continue
        quantity = _quantity(match, text, lexicon)
        if quantity is None:
            continue
        period = rate.match(text, quantity.end)
        if period and quantity.dimension != "time" and quantity.period is None:
            quantity = _per_period(quantity, period)
        found.append(quantity)
        until = quantity.end
    return list(_joined(found, text))


def _quantity(match: re.Match[str], text: str, lexicon: Lexicon) -> Quantity | None:
    said, start, end = match.groupdict(), match.start(), match.end()
    if share := said["share"]:
        value = _SHARES[share.lower()]
        return Quantity(value, value, PERCENT, share, start, end)
    if said["every"]:
        return _frequency(match, lexicon)
    if often := said["often"]:
        return Quantity(1, 1, TIMES, often, start, end, period=load_units()[_PERIODS[often.lower()]][1])
    if halved := said["halved"] or said["media"]:
        half = load_units()[halved.lower()][1] / 2
        return Quantity(half, half, "time", match[0], start, end)
    if unit := said["article_unit"]:
        dimension, size = load_units()[unit.strip().lower()]
        value = size * (1.5 if said["article_half"] else 1)
        return Quantity(value, value, dimension, match[0], start, end)
    return _measured(match, text, lexicon)


def _frequency(match: re.Match[str], lexicon: Lexicon) -> Quantity | None:
    """Return how often something happens: “every six hours” is once in 21,600 seconds."""
    times = (match["times"] or "one").lower()
    number = 2.0 if times == "other" else _value(times, lexicon)
    seconds = load_units()[match["every_unit"].lower()][1] * number
    return Quantity(1, 1, TIMES, match[0], match.start(), match.end(), period=seconds) if seconds else None


def _measured(match: re.Match[str], text: str, lexicon: Lexicon) -> Quantity | None:
    said = match.groupdict()
    start = match.start("currency") if said["currency"] else match.start("number")
    before = text[:start]
    if _IN_WORD_BEFORE.search(before) or (match.end() < len(text) and _goes_on_as_word(text, match)):
        return None
    number = str(said["number"])
    if number[0].isdigit() and len(number) > MAX_DIGITS:
        return None
    is_word = not number[0].isdigit()
    unit = said["unit"] or (said["currency"] or "").strip()
    if is_word and not _is_meant_as_number(number.lower(), before, text[match.end() :], bool(unit), lexicon.language):
        return None
    low = _value(number, lexicon)
    high = _value(said["last"], lexicon) if said["last"] else low
    factor = _MAGNITUDES.get((said["magnitude"] or "").strip().lower(), 1e6 if said["magnitude"] else 1.0)
    add = 0.5 if said["half"] else 0.0
    dimension, size = load_units()[unit.lower()] if unit else (COUNT, 1.0)
    if number.lower() in _REPETITIONS and (number.lower(), lexicon.language) != ("once", "spanish"):
        dimension = TIMES
    low, high = ((value * factor + add) * size for value in (min(low, high), max(low, high)))
    return Quantity(low, high, dimension, match[0].strip(), start, match.end())


def _goes_on_as_word(text: str, match: re.Match[str]) -> bool:
    """Return whether the number is the beginning of a name, such as 3a, 7b or 2x4."""
    after = text[match.end() : match.end() + 2]
    return bool(re.match(r"[\w/]|[.:-]\w", after)) and not match["unit"]


def _is_meant_as_number(word: str, before: str, after: str, has_unit: bool, language: str) -> bool:
    """Return whether a word for a number counts something; “one” and “once” rarely do."""
    if word == "once" and language != "spanish":
        return bool(re.match(r" (?:an?|per|every|each)\b", after))
    if word == "one":
        is_pronoun = re.match(r" (?:of|is|can|who|that|has|another|the)\b", after)
        is_counting = has_unit or bool(re.match(r" \w", after) and not is_pronoun)
        return is_counting and not re.search(r"\b(?:no|the|this|any) $", before, re.IGNORECASE)
    return True


def _value(number: str, lexicon: Lexicon) -> float:
    """Return the value of digits or of a word; a comma or point before three digits separates thousands in English.

    In German the comma is before decimals, and a point before three digits separates thousands.
    """
    if not number[0].isdigit():
        return _value_of_words(number, lexicon)
    plain = number.replace("'", "").replace("\u202f", "")
    separators = [character for character in plain if character in ",."]
    if not separators:
        return float(plain)
    last = separators[-1]
    decimals = plain.rsplit(last, 1)[1]
    decimal = "." if lexicon.language == "english" else ","
    if len(set(separators)) == 1 and (
        len(separators) > 1 or (last != decimal and len(decimals) == DIGITS_OF_THOUSANDS)
    ):
        return float(plain.replace(last, ""))
    whole = plain[: -len(decimals) - 1].replace(",", "").replace(".", "")
    return float(f"{whole}.{decimals}")


def _value_of_words(words: str, lexicon: Lexicon) -> float:
    """Return the value of a number in words: “a hundred and twenty”, “treinta y cinco”."""
    if (whole := lexicon.number_words.get(words.lower())) is not None:
        return float(whole)
    value = 0.0
    for word in re.split(r"[ -]", words.lower()):
        known = lexicon.number_words.get(word)
        if known == HUNDRED and value:
            value *= HUNDRED
        elif known is not None:
            value += known
    return value


def _per_period(quantity: Quantity, period: re.Match[str]) -> Quantity:
    said = period["period"] or period["counted_period"] or _PERIODS[period["often"].lower()]
    seconds = load_units()[said.lower()][1]
    if period["counted_period"]:
        # The counted noun stays a word of the statement: “60 requests per minute”.
        return replace(quantity, period=seconds)
    return replace(quantity, period=seconds, end=period.end(), text=quantity.text + period[0])


def _joined(found: Sequence[Quantity], text: str) -> Iterator[Quantity]:
    """Yield the quantities, with neighbours of one dimension added up: 4 h 10 min is 250 min."""
    before: Quantity | None = None
    for quantity in found:
        if before and before.dimension == quantity.dimension in JOINED and quantity.high < before.low:
            between = text[before.end : quantity.start]
            if between.strip() in ("", "and", "und"):
                low, high = before.low + quantity.low, before.high + quantity.high
                before = replace(before, low=low, high=high, end=quantity.end, text=text[before.start : quantity.end])
                continue
        if before:
            yield before
        before = quantity
    if before:
        yield before
