"""The master key is changed: data keys under a former one are wrapped by the present one; nothing else changes."""

from collections.abc import Iterator

from config.keys.envelope import DecryptionFailed
from config.keys.store import master_key
from config.keys.store_connections import run_in_store

BATCH = 1_000
NEXT_SQL = """
SELECT id, generation, wrapped FROM data_keys
WHERE (id, generation) > (%(id)s, %(generation)s) AND wrapped IS NOT NULL AND substr(wrapped, 1, 4) <> %(present)s
ORDER BY id, generation LIMIT %(most)s
"""
REWRAP_SQL = """
UPDATE data_keys SET wrapped = again.wrapped
FROM unnest(%(ids)s::bytea[], %(generations)s::integer[], %(former)s::bytea[], %(wrapped)s::bytea[])
    AS again (id, generation, former, wrapped)
WHERE data_keys.id = again.id AND data_keys.generation = again.generation AND data_keys.wrapped = again.former
RETURNING data_keys.generation
"""


def rewrap_keys() -> Iterator[tuple[int, int]]:
    """Wrap all keys by the present master key; yield per batch how many were, and how many no key of ours can read.

    Raises KeyStoreUnavailable.
    """
    master, last = master_key(), (b"", 0)
    while rows := _next(last, master.fingerprint):
        last, again = rows[-1][:2], []
        for id_, generation, wrapped in rows:
            try:
                again.append((id_, generation, wrapped, master.wrap(id_, master.unwrap(id_, wrapped))))
            except DecryptionFailed:
                continue
        yield _rewrap(again), len(rows) - len(again)


def _next(last: tuple[bytes, int], present: bytes) -> list[tuple[bytes, int, bytes]]:
    id_, generation = last
    (rows,) = run_in_store((NEXT_SQL, {"id": id_, "generation": generation, "present": present, "most": BATCH}))
    return [(bytes(found), number, bytes(wrapped)) for found, number, wrapped in rows]


def _rewrap(again: list[tuple[bytes, int, bytes, bytes]]) -> int:
    ids, generations, former, wrapped = [list(column) for column in zip(*again, strict=True)] if again else [[]] * 4
    asked = {"ids": ids, "generations": generations, "former": former, "wrapped": wrapped}
    (rows,) = run_in_store((REWRAP_SQL, asked))
    return len(rows)
