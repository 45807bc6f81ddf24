"""What a search is for, as far as its words tell. English, German and Spanish are read; of others, years, ISO dates.

The words of a question as PostgreSQL's full text knows them, each as a query of its own.

Rows and questions go through the same text configurations, so a word meets its other forms. A question is read by the
configuration of its own language, which also leaves out its stop words, and by those of all languages that the owner's
texts are in: a word is one term, whose names are its stems. English always comes along: texts that tell none have it.
"""

import datetime
import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from config.db.statements import Statement, run_statement
from memories.embeddings.vectors import QueryVector
from memories.search.dates import DayRange, days_in
from memories.search.languages import DEFAULT, LANGUAGES, languages_by_evidence
from memories.search.time_expressions import TIME_EXPRESSIONS

MAX_NAME_WORDS = 4
MAX_NAMES = 400

_ASKS_WHEN = (
    re.compile(
        r"\W*(?:(?:since )?when\b|how (?:long|recently)\b"
        r"|(?:in |on |at |since )?(?:what|which) (?:date|day|week|month|year|time)\b)"
    ),
    *(expressions.asks_when for expressions in TIME_EXPRESSIONS.values()),
)
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")  # noqa: RUF001 - as word processors write it
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What is searched for. `vector` is its direction: None where the model knows none of its words."""

    text: str
    vector: QueryVector | None
    names: tuple[str, ...] = ()
    """What in it may name an entity: runs of up to 4 words, lower case."""
    days: tuple[DayRange, ...] = ()
    """The days that it speaks of."""
    asks_when: bool = False
    """Whether it asks for a time."""
    languages: tuple[str, ...] = LANGUAGES
    """All that are known, those first that it is most likely in."""


def parse_question(text: str, vector: QueryVector | None, today: datetime.date) -> SearchQuestion:
    """The question, with the days that it speaks of as somebody means them who asks today."""
    languages = languages_by_evidence(text)
    asks_when = any(pattern.match(text.lower()) for pattern in _ASKS_WHEN)
    return SearchQuestion(text, vector, names_in(text), days_in(text, today, languages[0]), asks_when, languages)


def names_in(text: str) -> tuple[str, ...]:
    """Runs of 1 to 4 words, lower case, without a possessive s; at most 400."""
    words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(text.lower())]
    runs = (
        " ".join(words[start : start + size])
        for size in range(1, MAX_NAME_WORDS + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(runs))[:MAX_NAMES]


MAX_WORDS = 40
MAX_ENTITIES = 8
MAX_TERMS = MAX_WORDS + MAX_ENTITIES
LAST_POSITION = 16_383
"""PostgreSQL gives all words after this one the same number."""

# An index has each owner's languages but English; the recursion goes from one to the next in it, where DISTINCT would
# look at every row. The longest words say the most where a question is a whole page. Every configuration numbers the
# words of a text alike, up to the last number: so the stems of one word find each other. No stem has a blank.
READ = f"""
WITH RECURSIVE other AS (
    SELECT (SELECT min(language) FROM {{table}} WHERE {{owner}} = %(owner)s AND language <> '{DEFAULT}') AS language
    UNION ALL
    SELECT (
        SELECT min(language) FROM {{table}}
        WHERE {{owner}} = %(owner)s AND language <> '{DEFAULT}' AND language > other.language
    ) FROM other WHERE language IS NOT NULL
), spoken AS MATERIALIZED (
    SELECT language::regconfig AS configuration, array_position(%(languages)s::text[], language) AS place
    FROM (SELECT '{DEFAULT}' UNION ALL SELECT language FROM other WHERE language IS NOT NULL) AS known (language)
), words AS (
    SELECT lexeme, positions
    FROM unnest(to_tsvector((SELECT configuration FROM spoken ORDER BY place LIMIT 1), %(text)s))
    ORDER BY length(lexeme) DESC, lexeme LIMIT %(words)s
), stems AS MATERIALIZED (
    SELECT lexeme, position
    FROM (SELECT configuration FROM spoken ORDER BY place OFFSET 1) AS others,
        unnest(to_tsvector(configuration, %(text)s)), unnest(positions) AS position
    WHERE position < {LAST_POSITION}
)
SELECT ARRAY(
    SELECT array_to_string(lexeme || ARRAY(
        SELECT DISTINCT stems.lexeme FROM stems
        WHERE position = ANY(positions) AND stems.lexeme <> words.lexeme ORDER BY stems.lexeme
    ), ' ') FROM words ORDER BY length(lexeme) DESC, lexeme
), ARRAY(
    SELECT string_agg(named::text, ' | ' ORDER BY named::text)
    FROM entities, unnest(names) AS alias, spoken, LATERAL phraseto_tsquery(configuration, alias) AS named
    WHERE agent_id = %(owner)s AND names && string_to_array(%(names)s, chr(10)) AND numnode(named) > 0
    GROUP BY entities.id, salience ORDER BY salience DESC, entities.id LIMIT %(entities)s
), ARRAY(SELECT configuration::text FROM spoken ORDER BY place), 'memories'::regclass::oid = %(table)s::oid
    OR EXISTS (SELECT FROM memories WHERE {{owner}} = %(owner)s OFFSET %(most)s), 'memories'::regclass::oid
"""  # noqa: S608 - only constants are put in
OR = " | "
_LEXEME = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """Each term is the text of a tsquery: a word in any of its forms, or an entity under any of its names."""

    words: tuple[str, ...]
    entities: tuple[str, ...] = ()
    languages: tuple[str, ...] = (DEFAULT,)
    """Those that the question was read in."""

    @property
    def all(self) -> tuple[str, ...]:
        """Words and entities."""
        return (*self.words, *self.entities)

    @property
    def names(self) -> list[list[list[str]]]:
        """The words of each name of each term; the stems of a word are its names."""
        return [
            [[_unquote_lexeme(word) for word in _LEXEME.findall(name)] for name in term.split(OR)] for term in self.all
        ]

    def label(self, place: int) -> str | None:
        """The word at that place where it labels a text: as the speaker does in “Ada: Tea?”. Entities are no labels."""
        return " | ".join(f"{stem}:A" for stem in self.words[place].split(OR)) if place < len(self.words) else None


def read_terms(
    question: SearchQuestion, column: str, owner: UUID, most: int, table: int = 0, *, languages_of: str = "memories"
) -> tuple[QueryTerms, bool, int]:
    """The terms of the question; whether the owner, whose id stands in that column, has more memories than `most`; and
    the number of the table of memories. Of the table of the number given, it is known that the owner has more.

    Those entities are known that the owner, where it is an agent, has in its graph. The words have stems in each
    language of the owner's rows in the table `languages_of`.
    """
    parameters: dict[str, Any] = {
        "text": question.text,
        "languages": list(question.languages),
        "owner": owner,
        "names": "\n".join(question.names),
        "words": MAX_WORDS,
        "entities": MAX_ENTITIES,
        "most": most,
        "table": table,
    }
    query = READ.format(owner=column, table=languages_of)
    ((words, entities, languages, more, table),) = run_statement(Statement(query, parameters))
    return QueryTerms(tuple(map(_quote_stems, words)), tuple(entities), tuple(languages)), more, table


def _quote_stems(stems: str) -> str:
    escaped = stems.replace("\\", "\\\\").replace("'", "''")
    return OR.join(f"'{stem}'" for stem in escaped.split(" "))


def _unquote_lexeme(lexeme: str) -> str:
    return lexeme.replace("''", "'").replace("\\\\", "\\")
