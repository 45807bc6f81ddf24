"""The words of a question as PostgreSQL's full text knows them, each as a query of its own.

Rows and questions go through the same text configuration, so a word meets its other forms. The configuration is the
English one for every language: it leaves words that are not English as they are, but for some endings, which rows and
questions lose alike.
"""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from config.http.statements import Statement, rows_of
from memories.retrieval.question import Question

MAX_WORDS = 40
MAX_ENTITIES = 8
MAX_TERMS = MAX_WORDS + MAX_ENTITIES

# The longest words say the most where a question is a whole page.
READ = """
SELECT ARRAY(
    SELECT lexeme FROM unnest(to_tsvector('english', %(text)s)) ORDER BY length(lexeme) DESC, lexeme LIMIT %(words)s
), ARRAY(
    SELECT string_agg(named::text, ' | ' ORDER BY named::text)
    FROM entities, unnest(names) AS alias, LATERAL phraseto_tsquery('english', alias) AS named
    WHERE agent_id = %(owner)s AND names && string_to_array(%(names)s, chr(10)) AND numnode(named) > 0
    GROUP BY entities.id, salience ORDER BY salience DESC, entities.id LIMIT %(entities)s
), 'memories'::regclass::oid = %(table)s::oid
    OR EXISTS (SELECT FROM memories WHERE {owner} = %(owner)s OFFSET %(most)s), 'memories'::regclass::oid
"""
_LEXEME = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class Terms:
    """Each term is the text of a tsquery: a word, or an entity under any of its names."""

    words: tuple[str, ...]
    entities: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Words and entities."""
        return (*self.words, *self.entities)

    @property
    def names(self) -> list[list[list[str]]]:
        """The words of each name of each term; a word is its only name."""
        return [
            [[_unquoted(word) for word in _LEXEME.findall(name)] for name in term.split(" | ")] for term in self.all
        ]

    def label(self, place: int) -> str | None:
        """The word at that place where it labels a text: as the speaker does in “Ada: Tea?”. Entities are no labels."""
        return f"{self.words[place]}:A" if place < len(self.words) else None


def terms_read(question: Question, column: str, owner: UUID, most: int, table: int = 0) -> tuple[Terms, bool, int]:
    """The terms of the question; whether the owner, whose id stands in that column, has more memories than `most`; and
    the number of the table of memories. Of the table of the number given, it is known that the owner has more.

    Those entities are known that the owner, where it is an agent, has in its graph.
    """
    parameters: dict[str, Any] = {
        "text": question.text,
        "owner": owner,
        "names": "\n".join(question.names),
        "words": MAX_WORDS,
        "entities": MAX_ENTITIES,
        "most": most,
        "table": table,
    }
    ((lexemes, entities, more, table),) = rows_of(Statement(READ.format(owner=column), parameters))
    return Terms(tuple(map(_quoted, lexemes)), tuple(entities)), more, table


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _unquoted(lexeme: str) -> str:
    return lexeme.replace("''", "'").replace("\\\\", "\\")
