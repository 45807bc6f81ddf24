"""Expressions of time in German and Spanish tell whether a question asks for a time, and which days a text names.

The name of each pattern is that of a reader in `memories.search.dates`, which knows the groups of the pattern;
`meanings` translates the text of each group into English. The English expressions are in `memories.search.dates`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

YEAR = r"(?P<year>(?:19|20)\d\d)"
DAY = r"(?P<day>\d{1,2})"
NUMERIC = rf"\b{DAY}[./-] ?(?P<month>0?[1-9]|1[0-2])[./-] ?{YEAR}\b"
"""A pattern of day, month and year in numbers, in the order that is usual in Europe."""
ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
ENGLISH_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ENGLISH_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, slots=True)
class TimeExpressions:
    """The expressions of time in one language."""

    asks_when: re.Pattern[str]
    """The beginning of a question that asks for a time, lower case."""
    time_words: str
    """A tsquery of this language's stems that say a time. Months are missing, because they are matched as dates."""
    patterns: Sequence[tuple[str, re.Pattern[str]]]
    """The names of readers with the patterns that they read, in the order in which they are tried."""
    meanings: Mapping[str, Mapping[str, str]]


def _by_name(english: Sequence[str], *names: str) -> dict[str, str]:
    """Return the English word for each name; an argument holds all names of one English word, separated by blanks."""
    pairs = zip(english, names, strict=True)
    return {word: one for one, words in pairs for word in words.split()}


def _months(*names: str) -> dict[str, str]:
    numbers = {f"{number:{form}}": name for number, name in enumerate(ENGLISH_MONTHS, 1) for form in ("d", "02d")}
    return _by_name(ENGLISH_MONTHS, *names) | numbers


def _alternatives(words: Mapping[str, str]) -> str:
    """Return a pattern that matches any of the words except numbers, the longest first; numbers have their own
    patterns.
    """
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if not word.isdigit())


_GERMAN = {
    "month": _months(
        "januar jänner jan", "februar feber feb", "märz mrz", "april apr", "mai", "juni jun", "juli jul", "august aug",
        "september sept sep", "oktober okt", "november nov", "dezember dez",
    ),
    "weekday": _by_name(
        ENGLISH_WEEKDAYS, "montag montags", "dienstag dienstags", "mittwoch mittwochs", "donnerstag donnerstags",
        "freitag freitags", "samstag samstags sonnabend", "sonntag sonntags",
    ),
    "count": _by_name(
        ENGLISH_NUMBERS, "ein einem einer", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
        "elf", "zwölf",
    ),
    "unit": _by_name(
        ("day", "week", "month", "year"), "tag tage tagen", "woche wochen", "monat monate monaten monats",
        "jahr jahre jahren jahres",
    ),
    "which": _by_name(
        ("last", "this", "next"),
        "letzte letzten letzter letztes letztem vorige vorigen voriger voriges vorigem vergangene vergangenen"
        " vergangener vergangenes vergangenem",
        "diese diesen dieser dieses diesem",
        "nächste nächsten nächster nächstes nächstem kommende kommenden kommender kommendes kommendem",
    ),
    "name": _by_name(
        ("day before yesterday", "yesterday", "today", "tomorrow", "day after tomorrow"),
        "vorgestern", "gestern", "heute", "morgen", "übermorgen",
    ),
}  # fmt: skip
_SPANISH = {
    "month": _months(
        "enero ene", "febrero feb", "marzo", "abril abr", "mayo", "junio jun", "julio jul", "agosto ago",
        "septiembre setiembre sept sep", "octubre oct", "noviembre nov", "diciembre dic",
    ),
    "weekday": _by_name(
        ENGLISH_WEEKDAYS, "lunes", "martes", "miércoles miercoles", "jueves", "viernes", "sábado sabado", "domingo"
    ),
    "count": _by_name(
        ENGLISH_NUMBERS, "un una", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once",
        "doce",
    ),
    "unit": _by_name(
        ("day", "week", "month", "year"), "día días dia dias", "semana semanas", "mes meses", "año años"
    ),
    "which": {
        **_by_name(
            ("last", "this", "next"),
            "pasado pasada último última ultimo ultima",
            "este esta",
            "próximo próxima proximo proxima siguiente",
        ),
        "que viene": "next",
    },
    "name": {
        "antes de ayer": "day before yesterday",
        "pasado mañana": "day after tomorrow",
        **_by_name(("day before yesterday", "yesterday", "today", "tomorrow"), "anteayer", "ayer", "hoy", "mañana"),
    },
}  # fmt: skip


def _patterns(*patterns: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((reader, re.compile(pattern)) for reader, pattern in patterns)


def _named_groups(words: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return for each group the pattern that matches any of its words."""
    return {group: rf"(?P<{group}>{_alternatives(known)})\b" for group, known in words.items()}


def _german() -> TimeExpressions:
    group = _named_groups(_GERMAN)
    which, month, unit = group["which"], group["month"], group["unit"]
    count = rf"(?P<count>\d{{1,3}}|{_alternatives(_GERMAN['count'])})"
    return TimeExpressions(
        asks_when=re.compile(
            r"\W*(?:(?:seit|ab|bis) )?(?:wann\b|wie lang(?:e)?\b|um wie ?viel uhr\b|"
            r"(?:in|an|am|seit|zu|im|um) welche[mrns]? (?:datum|tage?|woche|monat|jahr|zeit(?:punkt)?|uhrzeit)\b|"
            r"welche[rns]? (?:datum|tag|woche|monat|jahr)\b)"
        ),
        time_words=(
            "gest | vorg | heut | morg | ubermorg | letzt | nach | vergang | seit | kurzlich | neulich | tag | woch"
            " | wochen | monat | jahr | montag | dienstag | mittwoch | donnerstag | freitag | samstag | sonnab"
            " | sonntag | 19:* | 20:*"
        ),
        patterns=_patterns(
            ("iso", r"\b(?P<iso>\d{4}-\d\d-\d\d)\b"),
            ("day_of_month", NUMERIC),
            ("day_of_month", rf"\b{DAY}\. ?{month}\.?(?:,? ?{YEAR}\b)?"),
            ("relative_month", rf"\b{which} {month}"),
            ("month_of_year", rf"\b{month}\.?(?:,? (?:des jahres )?{YEAR})?"),
            # “morgen” also means the morning, as in “am Morgen”.
            (
                "named_day",
                r"(?<!am )(?<!guten )(?<!heute )(?<!gestern )(?<!jeden )(?<!der )(?<!den )\b" + group["name"],
            ),
            ("relative_unit", rf"\b{which} {unit}"),
            ("ago", rf"\bvor {count} {unit}"),
            ("weekday", rf"\b(?:{which} )?{group['weekday']}"),
            ("year", rf"\b{YEAR}\b"),
        ),
        meanings=_GERMAN,
    )


def _spanish() -> TimeExpressions:
    group = _named_groups(_SPANISH)
    which, month, unit, weekday = group["which"], group["month"], group["unit"], group["weekday"]
    count = rf"(?P<count>\d{{1,3}}|{_alternatives(_SPANISH['count'])})"
    return TimeExpressions(
        asks_when=re.compile(
            r"\W*(?:(?:desde|hasta|para) )?(?:cu[áa]ndo\b|(?:cu[áa]nto tiempo|hace cu[áa]nto)\b|"
            r"(?:en |a |de |desde )?qu[ée] (?:fecha|día|dia|semana|mes|año|hora)\b)"
        ),
        time_words=(
            "ayer | anteay | hoy | mañan | noch | pas | proxim | ultim | hac | recient | dia | dias | seman | mes | año"
            " | años | lun | mart | miercol | juev | viern | sab | doming | 19:* | 20:*"
        ),
        patterns=_patterns(
            ("iso", r"\b(?P<iso>\d{4}-\d\d-\d\d)\b"),
            ("day_of_month", NUMERIC),
            ("day_of_month", rf"\b{DAY}(?:º|°)? de {month}\.?(?:,? (?:del? )?{YEAR}\b)?"),
            ("relative_month", rf"\b{which} (?:mes de )?{month}"),
            ("relative_month", rf"\b{month} {which}"),
            ("month_of_year", rf"\b{month}\.?(?:,? (?:del? )?{YEAR})?"),
            # “mañana” also means the morning, as in “la mañana”.
            ("named_day", r"(?<!la )(?<!esta )(?<!cada )\b" + group["name"]),
            ("relative_unit", rf"\b{which} {unit}"),
            ("relative_unit", rf"\b{unit} {which}"),
            ("ago", rf"\bhace (?:unos |unas )?{count} {unit}"),
            ("weekday", rf"\b{which} {weekday}"),
            ("weekday", rf"\b{weekday}(?: {which})?"),
            ("year", rf"\b{YEAR}\b"),
        ),
        meanings=_SPANISH,
    )


TIME_EXPRESSIONS: Mapping[str, TimeExpressions] = {"german": _german(), "spanish": _spanish()}
