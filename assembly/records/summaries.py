"""Summaries that a model made are stored and found by the hash of the text and the name of the model."""

from collections.abc import Collection, Sequence

from assembly.models import text_hash
from assembly.models.encryption import ErasedText, read_texts
from config.db.statements import execute_sql, fetch_rows

EXTRACTIVE = "extractive@1"
"""Name of the extractive summariser in records. Its number rises when equal texts would get other summaries."""


FIND_SQL = """
SELECT summaries.text_sha256, sha256, text, sealed FROM summaries
    JOIN stored_texts ON stored_texts.sha256 = summaries.summary_sha256
    WHERE summaries.model = %s AND summaries.text_sha256 = ANY(%s::bytea[])
"""


# Of two transactions that store the same summary at once, one waits for the other, and neither fails.
STORE_SQL = """
INSERT INTO summaries (text_sha256, model, summary_sha256)
    SELECT * FROM unnest(%s::bytea[], %s::text[], %s::bytea[]) ON CONFLICT DO NOTHING
"""


def find_summaries(texts: Collection[str], model: str) -> dict[str, str]:
    """Return the stored summaries of these texts by the model, by text; none that was erased."""
    by_hash = {text_hash(text): text for text in texts}
    rows = fetch_rows(FIND_SQL, [model, list(by_hash)])
    summaries = read_texts((sha256, text, sealed) for _key, sha256, text, sealed in rows)
    found = {by_hash[bytes(key)]: summaries[bytes(sha256)] for key, sha256, _text, _sealed in rows}
    return {text: summary for text, summary in found.items() if not isinstance(summary, ErasedText)}


def store_summaries(rows: Sequence[tuple[bytes, str, bytes]]) -> None:
    """Store summaries, each as the hash of the text, the model's name and the hash of the summary.

    Both texts must be stored before. An existing summary is not replaced.
    """
    # All processes insert in the same order, so that two assemblies that share texts cannot deadlock.
    kept = sorted(set(rows))
    if not kept:
        return
    execute_sql(STORE_SQL, [list(column) for column in zip(*kept, strict=True)])
