"""The words of encrypted texts, so that contexts can be found by them: an index in the key store, apart from the data.

PostgreSQL splits the texts into words, and stores a keyed hash of each. So neither database alone tells the words, and
they are destroyed together with the key of their text. As before there was encryption, an index has the first 100,000
characters of a text.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping

from config.keys.envelope import DataKey
from config.keys.key_errors import KeyLost
from config.keys.store import KeyName, fetch, obtain
from config.keys.store_connections import Asked, run_in_store

WORDS_ID = b"words"
"""The id of the key under which words are hashed."""
BATCH_CHARACTERS = 1_000_000
LEXEME = re.compile(r"'((?:[^'\\]|''|\\.)*)'")
ESCAPED = re.compile(r"''|\\(.)")
HASH_BYTES = 8

INDEX_SQL = """
INSERT INTO text_words (id, words)
SELECT id, coalesce((
    SELECT string_agg(
        encode(substr(sha256(%(key)b::bytea || convert_to(lexeme, 'UTF8')), 1, 8), 'hex') || ':'
            || array_to_string(positions, ','), ' ')
    FROM unnest(to_tsvector('english', left(text, 100000)))
), '')::tsvector
FROM unnest(%(ids)b::bytea[], %(texts)b::text[]) AS asked (id, text)
WHERE NOT EXISTS (SELECT FROM text_words WHERE text_words.id = asked.id) ORDER BY id
ON CONFLICT DO NOTHING RETURNING id
"""
QUERY_SQL = "SELECT websearch_to_tsquery('english', %(words)s)::text"
FIND_SQL = "SELECT id FROM text_words WHERE words @@ %(query)s::tsquery LIMIT %(most)s"


def indexing_statements(texts: Mapping[bytes, str]) -> Iterator[Asked]:
    """Yield the statements that index texts by the ids of their keys, each a million characters or one text."""
    batch: dict[bytes, str] = {}
    characters = 0
    for id_, text in texts.items():
        if batch and characters + len(text) > BATCH_CHARACTERS:
            yield _indexing_statement(batch)
            batch, characters = {}, 0
        batch[id_] = text
        characters += len(text)
    if batch:
        yield _indexing_statement(batch)


def _indexing_statement(texts: Mapping[bytes, str]) -> Asked:
    return INDEX_SQL, {"key": _hash_key(), "ids": [*texts], "texts": [*texts.values()]}


def find_texts(words: str, most: int) -> list[bytes]:
    """Return the ids of the texts with these words, written as for a search engine; at most so many.

    Raises KeyStoreUnavailable.
    """
    (((query,),),) = run_in_store((QUERY_SQL, {"words": words}))
    if not query:
        return []
    (rows,) = run_in_store((FIND_SQL, {"query": LEXEME.sub(_hashed, query), "most": most}))
    return [bytes(id_) for (id_,) in rows]


def _hashed(lexeme: re.Match[str]) -> str:
    word = ESCAPED.sub(lambda escaped: escaped[1] or "'", lexeme[1])
    return f"'{hashlib.sha256(_hash_key() + word.encode()).digest()[:HASH_BYTES].hex()}'"


def _hash_key() -> bytes:
    """Return the key of the hashes, which is made once; this process asks for it again when its copy expires."""
    name = KeyName(WORDS_ID, 1)
    try:
        known = fetch([name])[name]
    except KeyLost:
        known = None
    return known.secret if isinstance(known, DataKey) else obtain([WORDS_ID])[WORDS_ID].secret
