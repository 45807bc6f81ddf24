"""Summaries that a model made before, stored by the hash of the text and the name of the model."""

from collections.abc import Collection, Sequence

from assembly.models import text_hash
from config.db.statements import execute_sql, fetch_rows

EXTRACTIVE = "extractive@1"
"""The extractive summariser's name in records. Its number rises whenever equal texts would be said otherwise."""


FIND_SQL = """
SELECT summaries.text_sha256, stored_texts.text FROM summaries
    JOIN stored_texts ON stored_texts.sha256 = summaries.summary_sha256
    WHERE summaries.model = %s AND summaries.text_sha256 = ANY(%s::bytea[])
"""


# Of two that say the same at once, one waits for the other, and neither fails.
STORE_SQL = """
INSERT INTO summaries (text_sha256, model, summary_sha256)
    SELECT * FROM unnest(%s::bytea[], %s::text[], %s::bytea[]) ON CONFLICT DO NOTHING
"""


def find_summaries(texts: Collection[str], model: str) -> dict[str, str]:
    """What the model has said of these texts before, by text."""
    by_hash = {text_hash(text): text for text in texts}
    return {by_hash[bytes(key)]: summary for key, summary in fetch_rows(FIND_SQL, [model, list(by_hash)])}


def store_summaries(rows: Sequence[tuple[bytes, str, bytes]]) -> None:
    """Keep what models said, each as the hash of the text, the model's name and the hash of the summary.

    Both texts must be stored before. What is kept already stays as it is.
    """
    # In one order for everybody, so that two assemblies that share texts cannot wait for each other in a circle.
    kept = sorted(set(rows))
    if not kept:
        return
    execute_sql(STORE_SQL, [list(column) for column in zip(*kept, strict=True)])
