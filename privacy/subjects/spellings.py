"""The identifiers of a subject are found in texts however they are spelt. Pure: no database, no framework.

| kind | what is found |
|---|---|
| name | the name as whole words, in any case; of two parts also “Okafor, Ada” and “A. Okafor” |
| e-mail | the address in any case |
| phone | the number with or without the prefix of its country, with spaces, dots, dashes, slashes and brackets |
| IBAN, identity number, customer number | its letters and digits in any case, with such separators anywhere |
| user name, other | as whole words, in any case |

All identifiers of a subject are one expression, so a text is read once; most texts are excluded by a search for the
rarest part of each.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import phonenumbers

from assembly.masking.placeholders import normalised_value

NUMBERS = frozenset({"iban", "national_id", "customer_number"})
LEAST_NUMBER_CHARACTERS = 4
LEAST_PHONE_DIGITS = 6
LEAST_WORD_CHARACTERS = 2
NAME_PARTS = 2
"""A name of this many parts is also found with its parts in the other order, and with an initial."""

SPACE = r"[\s\u00a0\u202f\u2007\u2009]"
BETWEEN = r"[ \u00a0\u202f\u2007\u2009.\-\u2010\u2011\u2013/()]{0,3}"
"""What may stand between two characters of a number."""
IGNORED_IN_NUMBERS = re.compile(r"[^0-9A-Za-z]")
APOSTROPHES, HYPHENS = "'\u2019\u02bc", "-\u2010\u2011"
NOT_IN_WORD, NOT_WORD_GOES_ON = r"(?<!\w)", r"(?!\w)"


@dataclass(frozen=True, slots=True)
class Place:
    """A spelling in a text, from the character `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spellings:
    """The expressions that find the identifiers of a subject; `needles` are parts of which one is in each finding."""

    words: re.Pattern[str] | None
    numbers: re.Pattern[str] | None
    needles: tuple[str, ...]

    def places(self, text: str) -> list[Place]:
        """Return where the identifiers stand in the text, in order and without overlaps."""
        found = []
        if self.words and self._may_have_words(text):
            found += [Place(*match.span()) for match in self.words.finditer(text)]
        if self.numbers:
            found += [Place(*match.span()) for match in self.numbers.finditer(text)]
        return list(_without_overlaps(sorted(found, key=lambda place: (place.start, -place.end))))

    def found_in(self, texts: Iterable[str]) -> set[str]:
        """Return the spellings in the texts as they are written there."""
        return {text[place.start : place.end] for text in texts for place in self.places(text)}

    def _may_have_words(self, text: str) -> bool:
        folded = _folded(text)
        return any(needle in folded for needle in self.needles)


def _folded(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _without_overlaps(places: Iterable[Place]) -> Iterator[Place]:
    end = 0
    for place in places:
        if place.start >= end:
            yield place
            end = place.end


def normalised_identifier(kind: str, value: str) -> str:
    """Return the identifier so that all spellings are equal. A phone number with its country is `+` and digits."""
    plain = " ".join(value.split())
    if kind == "phone":
        number = _parsed(plain)
        return f"+{number.country_code}{number.national_number}" if number else _national(plain)
    if kind in NUMBERS:
        return IGNORED_IN_NUMBERS.sub("", normalised_value(kind, plain))
    if kind == "name":
        plain = _natural(plain)
    return unicodedata.normalize("NFC", normalised_value("email", plain) if kind == "email" else plain.casefold())


def fault_of(kind: str, value: str) -> str:
    """Return why this identifier cannot be searched for, in a sentence; empty if it can."""
    normalised = normalised_identifier(kind, value)
    if kind == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", normalised):
        return "This is no e-mail address. Write it as in ada@example.org."
    if kind == "phone" and sum(map(str.isdigit, normalised)) < LEAST_PHONE_DIGITS:
        return f"A phone number has at least {LEAST_PHONE_DIGITS} digits. Enter the whole number."
    if kind in NUMBERS and len(normalised) < LEAST_NUMBER_CHARACTERS:
        return f"Shorter than {LEAST_NUMBER_CHARACTERS} letters and digits, it would be found in texts about others."
    if len(re.sub(r"\W", "", normalised)) < LEAST_WORD_CHARACTERS:
        return "It has too few letters to be searched for. Enter more of it."
    return ""


def spellings_of(identifiers: Iterable[tuple[str, str]]) -> Spellings:
    """Return the expressions for identifiers, which are pairs of kind and value."""
    words, numbers, needles = [], [], []
    for kind, value in identifiers:
        plain = " ".join(value.split())
        plain = _natural(plain) if kind == "name" else plain
        if kind == "phone":
            numbers.append(_phone_pattern(plain))
        elif kind in NUMBERS:
            numbers.append(_number_pattern(IGNORED_IN_NUMBERS.sub("", plain)))
        else:
            words.append(_WORD_PATTERNS.get(kind, _phrase_pattern)(plain))
            needles.append(_needle(plain))
    return Spellings(_compiled(words), _compiled(numbers), tuple(needles))


def _compiled(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE) if patterns else None


def _needle(plain: str) -> str:
    """Return the longest run of letters and digits, folded, that every spelling of the words has."""
    last = max(re.findall(r"\w+", plain) or [plain], key=len) if "@" in plain else _last_word(plain)
    return _folded(last)


def _last_word(plain: str) -> str:
    """Return the last part of a name, which an initial does not replace; of a double name its longest half."""
    parts = re.findall(r"\w+", plain.rsplit(" ", 1)[-1])
    return max(parts, key=len) if parts else plain


def _natural(name: str) -> str:
    """Return a name with the first name first, where it is written as in “Okafor, Ada”."""
    last, comma, first = name.partition(",")
    return " ".join(f"{first} {last}".split()) if comma and "," not in first else name


def _literal(word: str) -> str:
    """Return the pattern of a word, whose apostrophes and hyphens may be others, composed or decomposed."""
    forms = sorted({unicodedata.normalize(form, word) for form in ("NFC", "NFD")})
    return "(?:" + "|".join("".join(map(_character, form)) for form in forms) + ")"


def _character(character: str) -> str:
    if character in APOSTROPHES:
        return f"[{APOSTROPHES}]"
    return f"[{HYPHENS}]" if character in HYPHENS else re.escape(character)


def _phrase_pattern(plain: str) -> str:
    return f"{NOT_IN_WORD}{f'{SPACE}+'.join(map(_literal, plain.split()))}{NOT_WORD_GOES_ON}"


def _name_pattern(plain: str) -> str:
    forms = [_phrase_pattern(plain)]
    parts = plain.split()
    if len(parts) == NAME_PARTS:
        first, last = map(_literal, parts)
        initial = _literal(parts[0][0])
        forms += [
            f"{NOT_IN_WORD}{last},{SPACE}*{first}{NOT_WORD_GOES_ON}",
            rf"{NOT_IN_WORD}{initial}\.{SPACE}*{last}{NOT_WORD_GOES_ON}",
            rf"{NOT_IN_WORD}{last},{SPACE}*{initial}\.",
        ]
    return "|".join(forms)


def _email_pattern(plain: str) -> str:
    return rf"(?<![\w.+%-]){re.escape(plain)}(?![\w-]|\.\w)"


def _username_pattern(plain: str) -> str:
    return rf"(?<![\w.+-]){re.escape(plain)}(?![\w@-]|\.\w)"


_WORD_PATTERNS = {"name": _name_pattern, "email": _email_pattern, "username": _username_pattern}


def _number_pattern(characters: str) -> str:
    return rf"(?<![0-9A-Za-z]){BETWEEN.join(map(re.escape, characters))}(?![0-9A-Za-z])"


def _phone_pattern(plain: str) -> str:
    number = _parsed(plain)
    country = str(number.country_code) if number else r"\d{1,3}"
    national = str(number.national_number) if number else _national(plain)
    international = rf"(?:(?:\+|00){BETWEEN})?{country}{BETWEEN}(?:\(0\))?{BETWEEN}"
    # Without a prefix, it is not the end of a longer number, such as one of another country.
    prefix = rf"(?:{international}|\(?0{BETWEEN}|(?<!\d[ .\-/()\u00a0]))"
    return rf"(?<![\w+]){prefix}\(?{BETWEEN.join(national)}(?!\w)"


def _parsed(plain: str) -> phonenumbers.PhoneNumber | None:
    """Return the parts of a number that has the prefix of its country; None for any other."""
    international = f"+{plain[2:]}" if plain.startswith("00") else plain
    if not international.startswith("+"):
        return None
    try:
        return phonenumbers.parse(international, None)
    except phonenumbers.NumberParseException:
        return None


def _national(plain: str) -> str:
    """Return the digits of a number without the zero before the area code."""
    return "".join(filter(str.isdigit, plain)).lstrip("0")
