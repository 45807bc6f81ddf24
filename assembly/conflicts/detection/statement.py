"""A statement is a sentence, analysed for the comparison with others: its words, values, negations and states."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assembly.conflicts.detection.date_values import DateValue
from assembly.conflicts.detection.lexicon import Language
from assembly.conflicts.detection.quantities import Quantity
from assembly.conflicts.detection.typed_values import TypedValues


class Pole(NamedTuple):
    """A word of a pair or group of words that exclude each other."""

    number: int
    """The number of the word in its pair or group; its synonyms have the same."""
    text: str
    """The word as it was written, in lower case."""
    is_subject: bool
    """This tells whether it belongs to the subject."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An analysed sentence. Words are given by their keys."""

    text: str
    language: Language
    words: frozenset[str]
    """All words with a meaning of their own, without those of numbers and dates."""
    subject: frozenset[str]
    """The words before the verb or colon; empty where none was found."""
    names: frozenset[str]
    labels: Mapping[str, str]
    """The words with their numbers, by the words: “ward 4” by “ward”."""
    sequence: tuple[str, ...]
    """The words in their order."""
    quantities: tuple[Quantity, ...]
    dates: tuple[DateValue, ...]
    is_negated: bool
    negated: frozenset[str]
    """The words in the scope of a negation."""
    denied_words: frozenset[str]
    """All words in that scope as they were written, with auxiliaries."""
    has_negative_state: bool
    """This tells whether it has a word such as “closed”, which “nobody gets in” may repeat."""
    negations: tuple[str, ...]
    """The negations as they were written."""
    denials: Mapping[int, str]
    """By their groups, the words which deny by themselves, such as “forbidden”."""
    poles: Mapping[int, Pole]
    """By their pairs, the opposite states of which the statement has one."""
    exclusive: Mapping[int, Pole]
    """By their groups, the values that exclude each other."""
    events: Mapping[int, Pole]
    """By their pairs, the moments or directions of which the statement has one, such as “opens” and “closes”."""
    markers: frozenset[int]
    """The groups of words of which the statement has one, which duplicates share, such as “only”."""
    contrasts: Mapping[int, Pole]
    """By their groups, the words which differ in no duplicates, such as “to” and “from”."""
    excepted: frozenset[str]
    """The words after “, not” and the like: what is said does not hold for them."""
    is_limited: bool
    """This tells whether it limits something to some people or cases: “only admins”."""
    is_obliging: bool
    """This tells whether something must be done, or be done before something else."""
    is_question: bool
    """This tells whether it ends with a question mark."""
    light: frozenset[str]
    """The words that say no more than that the subject has a value."""
    roles: frozenset[str]
    """The words for what one person is or does."""
    is_universal: bool
    """This tells whether a word such as “always” leaves no exception."""
    gratis: str
    """The words, as they were written, that say that something costs nothing."""
    gratis_words: frozenset[str]
    """The words of `gratis`."""
    unlimited: str
    """The words, as they were written, that say that something has no limit or end."""
    subject_end: int
    """The character at which the subject ends; 0 if no verb was found."""
    verb_words: frozenset[str]
    """The verbs and auxiliaries, as they were written, in lower case."""
    is_conditional: bool
    """This tells whether it holds under a condition only."""
    is_exclusive: bool
    """This tells whether a word such as “only” or “all” leaves no other value."""
    typed: TypedValues
    is_limited_to_subject: bool
    """This tells whether it begins with “only”: nobody but the subject does it."""
    verb: str
    """The verb after the subject; empty for forms of be, have and do, and where none was found."""
    verbs: frozenset[str]
    """All words that may be verbs."""
    has_change: bool
    """This tells whether the statement says that something has changed."""
    may_have_change: bool
    """This tells whether it has a word that often goes with a change, such as “until” or “new”."""
    is_past: bool
    is_single_valued: bool
    """This tells whether the statement is about a property that has one value."""
    is_named_property: bool
    """This tells whether a word names that property, such as “default” or “lives”; forms of be alone do not."""
    is_of_owner: bool
    """This tells whether the subject is a property of something: “the shell of the user”, “the user's shell”."""
    is_multi_valued: bool
    has_exception: bool
    has_predicate: bool
    """This tells whether a verb or a colon was found."""
    has_pronoun: bool
    """This tells whether the subject is a pronoun."""
    leads: Mapping[str, str]
    """By words, the word before them if it has no meaning of its own, such as “in” or “a”."""
    spelled: Mapping[str, str]
    """The words as they were written, by their keys."""
    heading: str = ""
    """The heading above it in its text, as it was written, without marks; empty without one."""

    @property
    def text_with_heading(self) -> str:
        """The text after its heading, which often names what a line is about."""
        return f"{self.heading}: {self.text}" if self.heading else self.text
