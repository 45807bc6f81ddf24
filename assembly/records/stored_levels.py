"""Levels of detail are stored for the texts of items, and found by the hash of a text and the names of derivers."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from assembly.engine.types import ShorterLevel, Summary
from assembly.models import TextLevel
from config.db.statements import Statement, execute_sql, fetch_rows, run_statement
from config.keys.sealed_texts import open_text, seal_text

Levels = Mapping[ShorterLevel, Summary]
"""The shorter levels of a text, with the names of their derivers."""

# Several items may have the same text: the levels that were stored first are taken.
FIND_SQL = """
SELECT text_sha256, level, deriver, text FROM text_levels
WHERE text_sha256 = ANY(%(texts)b::bytea[]) AND deriver = ANY(%(derivers)s::text[]) ORDER BY id
"""
STORE_SQL = """
INSERT INTO text_levels (item, text_sha256, level, deriver, text)
    SELECT %s, * FROM unnest(%s::bytea[], %s::text[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING
"""
PRUNE_SQL = "SELECT prune_levels(%s, %s::bytea[])"


def find_levels(texts: Collection[bytes], derivers: Sequence[str]) -> dict[bytes, dict[ShorterLevel, Summary]]:
    """Return the stored levels of the texts, which are given by their hashes; one statement.

    Of several derivers of a level, the one that stands first in `derivers` is taken. Texts without levels are missing.
    """
    found: dict[bytes, dict[ShorterLevel, Summary]] = {}
    rows = run_statement(Statement(FIND_SQL, {"texts": list(texts), "derivers": list(derivers)})) if texts else []
    for sha256, level, deriver, text in rows:
        levels = found.setdefault(bytes(sha256), {})
        known = levels.get(level)
        if known is None or derivers.index(deriver) < derivers.index(known.model):
            levels[level] = Summary(open_text(text), deriver)
    return found


def derived_texts(item: UUID) -> set[tuple[bytes, str]]:
    """Return the texts of the item that have levels, by their hashes, with the derivers of these."""
    rows = TextLevel.objects.filter(item=item).values_list("text_sha256", "deriver").distinct()
    return {(bytes(sha256), deriver) for sha256, deriver in rows}


def store_levels(
    item: UUID, levels: Sequence[tuple[bytes, ShorterLevel, Summary]], *, sealed_for: UUID | None = None
) -> None:
    """Store levels of the item's texts, each with the hash of its text. An existing level is not replaced.

    `sealed_for` is the owner of an item above internal, under whose key the levels are sealed.
    """
    if levels:
        rows = [
            (sha256, level, summary.model, seal_text(summary.text, sealed_for) if sealed_for else summary.text)
            for sha256, level, summary in levels
        ]
        execute_sql(STORE_SQL, [item, *(list(column) for column in zip(*rows, strict=True))])


def prune_levels(item: UUID, present: Collection[bytes]) -> None:
    """Delete the levels of texts that the item no longer has: of all but those with these hashes."""
    fetch_rows(PRUNE_SQL, [item, list(present)])
