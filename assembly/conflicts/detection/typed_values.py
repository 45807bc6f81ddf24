"""Typed values are what a statement names of a known kind: persons, places, paths, languages, countries and the like.

A property such as “written in” or “owned by” has one of them at a time, whatever the other words are. Persons, places,
paths and addresses are recognised by their form, the other classes are lists in `lexicon/values.yaml`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assembly.conflicts.detection.lexicon import Lexicon
from assembly.conflicts.detection.tokens import Tagged, Token

PLACE_WORDS = frozenset(("in", "at", "near", "en", "bei"))
"""The words before the name of a place: “runs in Frankfurt”."""
SETTING_WORDS = frozenset((
    *PLACE_WORDS, "into", "to", "from", "via", "over", "through", "on", "onto", "im", "am", "auf", "aus", "über",
    "nach", "desde", "por", "sobre",
))  # fmt: skip
"""The words before that where something is, comes from or goes to: “sits in the cellar”, “is sent over SFTP”."""
PATH_CLASS, ADDRESS_CLASS, COUNTRY_CLASS = "values:path", "values:address", "values:country"

_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sr|Sra|Dra|Herrn?|Frau|Señora?|Don|Doña|Judge|Richterin?)\.? (?:(?:Dr|Prof)\. )?"
    r"(?P<name>[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]+(?: [A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]+)?)"  # noqa: RUF001
)
_NAMED = re.compile(
    r"\b(?:by|von|is|es|ist|:|durch|por|encarga|lleva|ocupa|dirige|firma|aprueba|reports? to|berichtet an) $"
)
_CAPITALISED = re.compile(r"(?:[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]* ?){1,3}")  # noqa: RUF001
_BESIDE = re.compile(
    r"\b(?:over|instead of|rather than|not|never|no|statt|anstatt|nie|kein\w*|en lugar de|en vez de|nunca) $"
)
"""This is what stands before a value that does not hold: “tabs over spaces”."""
_DETERMINERS = ("the", "our", "la", "el")
_ARTICLES = frozenset((
    *_DETERMINERS, "a", "an", "their", "its", "your", "his", "her", "my", "der", "die", "das", "dem", "den", "einem",
    "einer", "unserem", "unserer", "los", "las", "un", "una", "nuestra", "nuestro",
))  # fmt: skip
_HOLDER = re.compile(r"\b(?:is|by|ist|von|durch|es|por) (?:[A-ZÄÖÜÁÉÍÓÚÑ][\w.-]+ ?){1,3}[.!]?$")
_PATH = re.compile(r"(?:^|\s)/[\w./-]+")
_ADDRESS = re.compile(r"\bhttps?://\S+|\b[\w.+-]+@[\w-]+\.\w+|\b(?:\d{1,3}\.){3}\d{1,3}\b")


@dataclass(frozen=True, slots=True)
class TypedValues:
    """The typed values of a statement."""

    persons: frozenset[str]
    """The keys of the names of persons."""
    places: frozenset[str]
    """The keys of names after words such as “in” and “at”."""
    settings: frozenset[str]
    """The keys of all words after words such as “in”, “into”, “from” and “over”."""
    classes: Mapping[str, frozenset[str]]
    """By the classes of values, those that the statement names."""
    written: Mapping[str, str]
    """By the classes, the first value as it was written."""
    has_title: bool
    """This tells whether a person has a title, such as “Ms.”."""
    is_holder_last: bool
    """This tells whether it ends with a name after “is” or “by”: “night duty is done by Irena”."""
    relation_words: frozenset[str]
    """The keys of the words for those relations."""
    relations: frozenset[int]
    """The groups of words for one relation of a person to something, such as “owner of” and “belongs to”."""


def names_land_and_town(left: TypedValues, right: TypedValues) -> bool:
    """Return whether just one statement names a country: a town may be in it."""
    return (COUNTRY_CLASS in left.classes) != (COUNTRY_CLASS in right.classes)


def typed_values(
    text: str, tokens: Sequence[Token], tags: Sequence[Tagged], subject_end: int, lexicon: Lexicon
) -> TypedValues:
    """Return the typed values of the text, whose subject ends at the given character, 0 if unknown."""
    titled = {match.start("name"): match.end("name") for match in _TITLED.finditer(text)}
    persons = {token.key for token in tokens if any(start <= token.start < end for start, end in titled.items())}
    places = set(_places(text, tokens, lexicon)) - persons
    persons |= {token.key for token in _bare_names(text, tokens, subject_end) if token.key not in places}
    classes: dict[str, frozenset[str]] = {}
    written: dict[str, str] = {}
    for tag in tags:
        if tag.list in ("values", "qualifiers") and not _BESIDE.search(text[: tokens[tag.position].start].lower()):
            name = f"{tag.list}:{lexicon.class_names[tag.list][tag.group]}"
            classes[name] = classes.get(name, frozenset()) | {str(tag.pole)}
            written.setdefault(name, " ".join(tokens[place].word for place in tag.places))
    for name, pattern in ((PATH_CLASS, _PATH), (ADDRESS_CLASS, _ADDRESS)):
        found = [match[0].strip().rstrip(".,;") for match in pattern.finditer(text)]
        if found:
            classes[name] = frozenset(found)
            written[name] = found[0]
    related = [tag for tag in tags if tag.list == "relations"]
    return TypedValues(
        frozenset(persons),
        frozenset(places),
        frozenset(_settings(tokens)),
        classes,
        written,
        bool(titled),
        bool(_HOLDER.search(text)),
        frozenset(tokens[place].key for tag in related for place in tag.places),
        frozenset(tag.group for tag in related),
    )


def _places(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[str]:
    """Yield the names after a preposition of place, with at most a determiner between them."""
    for index, token in enumerate(tokens):
        before = [one.word for one in tokens[max(0, index - 2) : index]]
        is_name = token.is_name or (lexicon.language == "german" and text[token.start].isupper())
        is_place = bool(before) and (
            before[-1] in PLACE_WORDS or (before[0] in PLACE_WORDS and before[-1] in _DETERMINERS)
        )
        if is_name and is_place and token.word.isalpha():
            yield token.key


def _settings(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words after those of SETTING_WORDS, with at most an article between them."""
    for index, token in enumerate(tokens[1:], 1):
        before = [one.word for one in tokens[max(0, index - 2) : index]]
        if token.is_content and (
            before[-1] in SETTING_WORDS or (before[0] in SETTING_WORDS and before[-1] in _ARTICLES)
        ):
            yield token.key


def _bare_names(text: str, tokens: Sequence[Token], subject_end: int) -> Iterator[Token]:
    """Yield the names that stand where a person stands: at the beginning, before a verb, or after “by” and “is”."""
    named_words = sum(token.is_content and token.start < subject_end for token in tokens)
    is_name_subject = bool(_CAPITALISED.fullmatch(text[:subject_end])) and named_words == len(
        text[:subject_end].split()
    )
    named: set[int] = set()
    for token in tokens:
        if not token.is_content or not token.word.isalpha() or not text[token.start].isupper():
            continue
        if text[token.start : token.start + 2].isupper():
            continue
        is_before = bool(named) and text[max(named) : token.start] == " "
        if (
            (is_name_subject and token.start < subject_end)
            or is_before
            or ((token.is_name or text[: token.start].endswith(": ")) and _NAMED.search(text[: token.start]))
        ):
            named.add(token.start + len(token.word))
            yield token
