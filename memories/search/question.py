"""This module parses a question: its terms, the names and days in it, and whether it asks for a time.

English, German and Spanish are understood; of other languages, years and ISO dates. Terms are words as PostgreSQL's
full-text search knows them. A question is read by the configuration of its own language, which leaves out its stop
words, and by those of all languages of the owner's texts: a term is one word with its stems in these languages. English
is always included, because texts whose language is unknown count as English.
"""

import datetime
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_texts, seal_names
from memories.embeddings.vectors import QueryVector
from memories.lifecycle.tiers import IS_SEARCHED_SQL
from memories.search.dates import DayRange, days_in
from memories.search.languages import DEFAULT, LANGUAGES, languages_by_evidence
from memories.search.owner_partition import (
    MEMORIES,
    UNASKED,
    is_divided_sql,
    notice_division,
    notice_partition,
    partition_sql,
    stays_on_coordinator,
    within,
)
from memories.search.time_expressions import TIME_EXPRESSIONS
from teams.sensitivity import DEFAULT_LEVEL, READABLE_SQL, owner_clearance

MAX_NAME_WORDS = 4
MAX_NAMES = 400

_ASKS_WHEN = (
    re.compile(
        r"\W*(?:(?:since )?when\b|how (?:long|recently)\b"
        r"|(?:in |on |at |since )?(?:what|which) (?:date|day|week|month|year|time)\b)"
    ),
    *(expressions.asks_when for expressions in TIME_EXPRESSIONS.values()),
)
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")  # noqa: RUF001 - the apostrophe of word processors
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A question to search for. `vector` is its embedding, None where the embedder knows none of its words."""

    text: str
    vector: QueryVector | None
    names: tuple[str, ...] = ()
    """Texts in the question that may name an entity: runs of up to 4 words, lower case."""
    days: tuple[DayRange, ...] = ()
    """The ranges of days that the question names."""
    asks_when: bool = False
    """Whether the question asks for a time."""
    languages: tuple[str, ...] = LANGUAGES
    """All known languages, the most likely language of the question first."""


def parse_question(text: str, vector: QueryVector | None, today: datetime.date) -> SearchQuestion:
    """Return the parsed question; days like “yesterday” are relative to `today`."""
    languages = languages_by_evidence(text)
    asks_when = any(pattern.match(text.lower()) for pattern in _ASKS_WHEN)
    return SearchQuestion(text, vector, names_in(text), days_in(text, today, languages[0]), asks_when, languages)


def names_in(text: str) -> tuple[str, ...]:
    """Return all runs of 1 to 4 words in the text, lower case, without a possessive s; at most 400."""
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
"""PostgreSQL gives this position to all words from here on, so stems of different words cannot be told apart."""

# The recursion jumps through the index of languages other than English from one language to the next; DISTINCT would
# read every row.
EACH_LANGUAGE = f"""
WITH RECURSIVE other AS (
    SELECT (
        SELECT min(language) FROM {{table}}
        WHERE {{owner}} = %(owner)s{{within}} AND {READABLE_SQL} AND language <> '{DEFAULT}'
    ) AS language
    UNION ALL
    SELECT (
        SELECT min(language) FROM {{table}}
        WHERE {{owner}} = %(owner)s{{within}} AND {READABLE_SQL} AND language <> '{DEFAULT}'
            AND language > other.language
    ) FROM other WHERE language IS NOT NULL
)"""  # noqa: S608 - only constants are put in
ENTITIES = f"""ARRAY(
    SELECT string_agg(named::text, ' | ' ORDER BY named::text)
    FROM entities, unnest(names) AS alias, {{spoken}}, LATERAL phraseto_tsquery(configuration, alias) AS named
    WHERE agent_id = %(owner)s AND {READABLE_SQL}
        AND names && string_to_array(%(names)s, chr(10)) AND numnode(named) > 0
    GROUP BY entities.id, salience ORDER BY salience DESC, entities.id LIMIT %(entities)s
)"""  # noqa: S608 - only constants are put in
# Where entities are on another server than the texts, the languages of the texts are read first.
KNOWN = "unnest(%(known)s::text[]::regconfig[]) AS spoken (configuration)"
ENTITIES_ELSEWHERE = f"SELECT {ENTITIES.format(spoken=KNOWN)}"
NO_ENTITIES = "ARRAY[]::text[]"
# Of a long question the longest words are used, which say the most. All configurations number the words
# of a text alike, up to LAST_POSITION, so stems of one word are matched by position. No stem contains a blank.
READ = f""", spoken AS MATERIALIZED (
    SELECT language::regconfig AS configuration, array_position(%(languages)s::text[], language) AS place
    FROM (
        SELECT '{DEFAULT}' UNION SELECT language FROM other WHERE language IS NOT NULL
        UNION SELECT unnest(%(spoken)s::text[])
    ) AS known (language)
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
), {{entities}}, ARRAY(SELECT configuration::text FROM spoken ORDER BY place),
    'memories'::regclass::oid = %(table)s::oid OR EXISTS (
        SELECT FROM {{table}} WHERE {{owner}} = %(owner)s{{within}} AND {READABLE_SQL} AND {{searched}} OFFSET %(most)s
    ), 'memories'::regclass::oid, {{is_divided}}, {{partition}}, {{has_sealed}}
"""  # noqa: S608 - only constants are put in
HAS_SEALED = f"""EXISTS (
    SELECT FROM entities WHERE agent_id = %(owner)s AND {READABLE_SQL} AND sensitivity > {int(DEFAULT_LEVEL)}
)"""
SEALED_ENTITIES = f"""
SELECT names FROM entities WHERE agent_id = %(owner)s AND {READABLE_SQL} AND sensitivity > {int(DEFAULT_LEVEL)}
    AND names && %(sealed)s::text[]
ORDER BY salience DESC, id LIMIT %(entities)s
"""  # noqa: S608 - only constants are put in
TERMS_OF_NAMES = """
SELECT string_agg(named::text, ' | ' ORDER BY named::text)
FROM jsonb_array_elements(%(names)s::jsonb) WITH ORDINALITY AS entity (names, place),
    jsonb_array_elements_text(names) AS alias, unnest(%(languages)s::text[]) AS spoken,
    LATERAL phraseto_tsquery(spoken::regconfig, alias) AS named
WHERE numnode(named) > 0 GROUP BY place ORDER BY place
"""
OR = " | "
_LEXEME = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a question as texts of tsqueries: a word in any of its forms, or an entity by any of its names."""

    words: tuple[str, ...]
    entities: tuple[str, ...] = ()
    languages: tuple[str, ...] = (DEFAULT,)
    """The languages in whose configurations the question was read."""

    @property
    def all(self) -> tuple[str, ...]:
        """The terms for words, followed by those for entities."""
        return (*self.words, *self.entities)

    @property
    def names(self) -> list[list[list[str]]]:
        """The words of each name of each term, without quotes; each stem of a word counts as a name."""
        return [
            [[_unquote_lexeme(word) for word in _LEXEME.findall(name)] for name in term.split(OR)] for term in self.all
        ]

    def label(self, place: int) -> str | None:
        """Return a tsquery for texts that the word at this index labels, as the speaker does in “Ada: Tea?”.

        Returns None for an entity, which is no label.
        """
        return " | ".join(f"{stem}:A" for stem in self.words[place].split(OR)) if place < len(self.words) else None


def read_terms(
    question: SearchQuestion,
    column: str,
    owner: UUID,
    most: int,
    table: int = 0,
    *,
    languages_of: str = MEMORIES,
    spoken: Collection[str] = (),
) -> tuple[QueryTerms, bool, int]:
    """Return the terms of the question, whether the owner has more than `most` rows, and the oid of `memories`.

    `column` holds the owner's id. The count is skipped for the table with the oid `table`, for which it is known that
    the owner has more. Entities are found in the graph of an owner that is an agent. Words have stems in each language
    of the owner's rows in the table `languages_of`, and in those that are `spoken` besides.
    """
    parameters: dict[str, Any] = {
        "text": question.text,
        "languages": list(question.languages),
        "spoken": list(spoken),
        "owner": owner,
        "clearance": owner_clearance(column, owner),
        "names": "\n".join(question.names),
        "words": MAX_WORDS,
        "entities": MAX_ENTITIES,
        "most": most,
        "table": table,
    }
    searched = IS_SEARCHED_SQL if languages_of == MEMORIES else "true"
    here = within()["within"] if languages_of == MEMORIES else ""
    has_graph, apart = column == "agent_id", stays_on_coordinator(languages_of)
    may_be_sealed = has_graph and parameters["clearance"] > DEFAULT_LEVEL and bool(question.names)
    sealed = HAS_SEALED if may_be_sealed else "false"
    names = {
        "owner": column,
        "table": languages_of,
        "searched": searched,
        "within": here,
        "is_divided": is_divided_sql(),
        "partition": partition_sql(column, owner) if languages_of == MEMORIES else UNASKED,
        "entities": ENTITIES.format(spoken="spoken") if has_graph and not apart else NO_ENTITIES,
        "has_sealed": "false" if apart else sealed,
    }
    ((words, entities, languages, more, table, is_divided, partition, has_sealed),) = run_statement(
        Statement(f"{EACH_LANGUAGE}{READ}".format(**names), parameters)
    )
    notice_division(is_divided)
    notice_partition(owner, table, partition)
    if has_graph and apart:
        elsewhere = Statement(f"{ENTITIES_ELSEWHERE}, {sealed}", {**parameters, "known": list(languages)})
        ((entities, has_sealed),) = run_statement(elsewhere)
    if has_sealed:
        entities = [*entities, *_sealed_entities(question, parameters, languages)][:MAX_ENTITIES]
    return QueryTerms(tuple(map(_quote_stems, words)), tuple(entities), tuple(languages)), more, table


def _sealed_entities(
    question: SearchQuestion, parameters: Mapping[str, Any], languages: Sequence[str]
) -> Iterator[str]:
    """Yield the terms of the entities with sealed names that the question names, the most salient first."""
    sealed = {**parameters, "sealed": seal_names(question.names, parameters["owner"])}
    if rows := run_statement(Statement(SEALED_ENTITIES, sealed)):
        names = json.dumps([open_texts(names) for (names,) in rows])
        for (term,) in run_statement(Statement(TERMS_OF_NAMES, {"names": names, "languages": list(languages)})):
            yield term


def _quote_stems(stems: str) -> str:
    escaped = stems.replace("\\", "\\\\").replace("'", "''")
    return OR.join(f"'{stem}'" for stem in escaped.split(" "))


def _unquote_lexeme(lexeme: str) -> str:
    return lexeme.replace("''", "'").replace("\\\\", "\\")
