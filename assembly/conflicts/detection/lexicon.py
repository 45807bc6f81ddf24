"""A lexicon holds the words by which statements of one language are compared; they are YAML lists in `lexicon/`.

English, German and Spanish have lists. Statements in other languages are compared with the English ones, of which
numbers, units and ISO dates work in any language. German and Spanish statements also match the English lists, because
texts about software are full of English words.
"""

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import snowballstemmer
import yaml

from assembly.conflicts.detection.caches import cached_words
from assembly.engine.query_signals import STOP_WORDS
from memories.search.languages import stop_words

Language = Literal["english", "german", "spanish"]
LANGUAGES: tuple[Language, ...] = ("english", "german", "spanish")

FOLDER = Path(__file__).parent / "lexicon"
STEM_MARK = "~"
"""The mark of entries that match inflected forms, too."""
CACHED_STEMS, STEM_BYTES = 16_384, 250
"""A stem takes about 0.1 ms to compute, and so many bytes of memory."""

_PARTICIPLE = re.compile(r"ge\w{3,}t")
"""The form of German participles, which get the stem of their verb: geraucht, rauchen."""

Phrase = tuple[str, ...]
Tag = tuple[str, int, int]
"""This is what a phrase is: the name of its list, the number of its entry in that list, and its pole (0 or 1) or 0."""

_stemming = threading.Lock()


@cache
def _stemmer(language: Language) -> Any:
    return snowballstemmer.stemmer(language)


@cached_words(CACHED_STEMS, STEM_BYTES)
def stem(word: str, language: Language) -> str:
    """Return the stem of a word in lower case, by the Snowball stemmer of the language."""
    # A Snowball stemmer keeps the word that it works on, so that two threads must not share it.
    with _stemming:
        return str(_stemmer(language).stemWord(word))


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words of one language. Phrases are tuples of words; lists of single words hold stems."""

    language: Language
    phrases: Mapping[str, tuple[tuple[Phrase, Tag], ...]]
    """The phrases that match as they are written, by their first word, the longest first."""
    stem_phrases: Mapping[str, tuple[tuple[Phrase, Tag], ...]]
    """The phrases that match by their stems, by the first stem, the longest first."""
    synonyms: Mapping[str, str]
    """The first stem of its line in the list, for each stem of the list."""
    verbs: frozenset[str]
    auxiliaries: frozenset[str]
    copulas: frozenset[str]
    light: frozenset[str]
    """Stems of verbs and nouns that say no more than that a subject has a value: “takes”, “is valid for”."""
    roles: frozenset[str]
    """Stems of words for what one person is or does, such as “CEO” and “approval”."""
    reports: frozenset[str]
    lead_ins: frozenset[str]
    stop_words: frozenset[str]
    marks: frozenset[str]
    """Words of which one tells that a short text is in this language."""
    number_words: Mapping[str, float]
    opposite_prefixes: tuple[str, ...]
    class_names: Mapping[str, tuple[str, ...]]
    """The names of the classes of `values` and `qualifiers`, by the number of their group."""

    def canonical(self, word: str) -> str:
        """Return the stem of the word, or that of the synonym which stands for it."""
        if self.language == "german" and _PARTICIPLE.fullmatch(word):
            word = f"{word[2:-1]}en"
        root = stem(word, self.language)
        return self.synonyms.get(root, root)


EXACT_LISTS = (
    "changes",
    "weak_changes",
    "past",
    "negations",
    "lower_bounds",
    "upper_bounds",
    "approximate",
    "exceptions",
    "universals",
    "gratis",
    "unlimited",
    "exclusively",
    "limited",
    "obliging",
    "negative_states",
)
"""Flat lists whose phrases match as they are written."""
GROUPED_LISTS = ("denials", "opposites", "exclusive", "events", "markers", "contrasts", "values", "qualifiers")
"""Lists of groups, whose phrases match as they are written or, with a mark, by their stems."""
STEM_LISTS = ("single_valued", "multi_valued", "relations")
"""Lists of groups whose phrases match by their stems."""


@cache
def load_lexicon(language: Language) -> Lexicon:
    """Return the lexicon of the language."""
    facts = _merged([_read(name) for name in dict.fromkeys(("english", language))])
    value_classes = _read("values")
    for name, classes in value_classes.items():
        facts[name] = list(classes.values())
    exact: dict[str, list[tuple[Phrase, Tag]]] = {}
    stems: dict[str, list[tuple[Phrase, Tag]]] = {}
    for phrase, tag in _tagged_phrases(facts):
        by_stem = tag[0] in STEM_LISTS or phrase.endswith(STEM_MARK)
        words = tuple(phrase.removesuffix(STEM_MARK).lower().split())
        if by_stem:
            words = tuple(stem(word, language) for word in words)
        (stems if by_stem else exact).setdefault(words[0], []).append((words, tag))
    synonyms: dict[str, str] = {}
    for line in facts["synonyms"]:
        roots = [stem(word, language) for word in line if " " not in word]
        first = synonyms.get(roots[0], roots[0])
        for root in roots:
            synonyms.setdefault(root, first)
    of_language = [] if language == "english" else stop_words(language)
    return Lexicon(
        language=language,
        phrases=_longest_first(exact),
        stem_phrases=_longest_first(stems),
        synonyms=synonyms,
        verbs=frozenset(stem(word, language) for word in _flat(facts["verbs"])),
        auxiliaries=frozenset(_flat(facts["auxiliaries"])),
        copulas=frozenset(facts["copulas"]),
        light=frozenset(synonyms.get(root, root) for root in (stem(word, language) for word in facts["light"])),
        roles=frozenset(synonyms.get(root, root) for root in (stem(word, language) for word in facts["roles"])),
        reports=frozenset(stem(word, language) for word in facts["reports"]),
        lead_ins=frozenset(facts["lead_ins"]),
        stop_words=STOP_WORDS.union(of_language, facts["negations"], facts["filler"]),
        marks=frozenset({*facts["marks"], *facts["negations"], *_flat(facts["auxiliaries"])}),
        number_words=_with_compounds(facts["number_words"]),
        opposite_prefixes=tuple(facts["opposite_prefixes"]),
        class_names={name: tuple(classes) for name, classes in value_classes.items()},
    )


@cache
def load_units() -> Mapping[str, tuple[str, float]]:
    """Return for each spelling of a unit, in lower case, its dimension and its size in the dimension's first unit."""
    dimensions: Mapping[str, list[Mapping[str, Any]]] = _read("units")
    return {
        str(word): (dimension, float(unit["size"]))
        for dimension, units in dimensions.items()
        for unit in units
        for word in unit["words"]
    }


def _with_compounds(number_words: Mapping[str, float]) -> dict[str, float]:
    """Return the words for numbers with the German ones of two digits, which are one word: “fünfundzwanzig”."""
    ones = {"ein" if word == "eins" else word: value for word, value in number_words.items() if 1 <= value <= 9}  # noqa: PLR2004
    tens = {word: value for word, value in number_words.items() if word.endswith(("zig", "ßig"))}
    compounds = {f"{one}und{ten}": value + more for ten, value in tens.items() for one, more in ones.items()}
    return dict(number_words) | compounds


def _read(name: str) -> dict[str, Any]:
    facts: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return facts


def _merged(lexicons: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the lists of all lexicons together, those of the last one first, as it is the statement's language."""
    merged: dict[str, Any] = {}
    for facts in reversed(lexicons):
        for key, entries in facts.items():
            before = merged.get(key)
            merged[key] = (
                entries if before is None else entries | before if isinstance(entries, dict) else before + entries
            )
    return merged


def _tagged_phrases(facts: Mapping[str, Any]) -> Iterator[tuple[str, Tag]]:
    """Yield each phrase of the lists with its tag; a mark of inflection stays at its end."""
    for name in EXACT_LISTS:
        yield from ((phrase, (name, 0, 0)) for phrase in facts[name])
    for name in (*GROUPED_LISTS, *STEM_LISTS):
        for number, group in enumerate(facts[name]):
            for pole, alternatives in enumerate(group):
                yield from ((phrase, (name, number, pole)) for phrase in alternatives.split("|"))


def _longest_first(
    phrases: Mapping[str, list[tuple[Phrase, Tag]]],
) -> dict[str, tuple[tuple[Phrase, Tag], ...]]:
    return {first: tuple(sorted(found, key=lambda one: -len(one[0]))) for first, found in phrases.items()}


def _flat(entries: Iterable[str | list[str]]) -> list[str]:
    return [word for entry in entries for word in ([entry] if isinstance(entry, str) else entry)]
