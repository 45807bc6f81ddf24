"""Which rows are measured: all of an owner with few, those that come into question of one with many."""

import numpy as np
from django.db import connection, transaction

from memories.retrieval.features import has
from memories.retrieval.rows import OCCURRED, Columns, Search

EXACT_ROWS = 2_000
"""An owner with no more than these is measured whole."""
SORTED_ROWS = 10_000
"""Of an owner with no more than these, the nearest are found by looking at each: the index would pass over too many."""
NEWEST = 500
NEAREST = WORDED = 120
DAYS, ROWS_A_DAY = 15, 50
"""Of the nearest, and of the best by words, so many days are measured whole, up to so many rows."""
MAX_SHARE = 0.02
"""Of the owner's rows that the rarest terms may select, before the best of them are kept."""

# The index knows no owners: it goes on until it has found enough rows of this one.
SETTINGS = """
SELECT set_config('hnsw.ef_search', '120', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '40000', true)
"""

BY_INDEX = "embedding::halfvec(256) <=> %(vector)s::halfvec(256)"
BY_SORTING = "(embedding <=> %(vector)s::vector) + 0"
"""No index knows sums."""

IN_QUESTION = """
WITH near AS (
    SELECT id, {occurred} AS at FROM memories
    WHERE {owner} = %(owner)s AND embedding IS NOT NULL AND %(vector)s::halfvec(256) IS NOT NULL
    ORDER BY {distance} LIMIT %(nearest)s
), worded AS (
    SELECT id, {occurred} AS at FROM memories WHERE {owner} = %(owner)s AND search @@ %(rare)s::tsquery
    ORDER BY ts_rank(search, %(rare)s::tsquery) DESC, id LIMIT %(worded)s
), hit AS MATERIALIZED (
    SELECT id, at, row_number() OVER () AS place FROM near UNION ALL SELECT id, at, row_number() OVER () FROM worded
), day AS (
    SELECT DISTINCT date_trunc('day', at, 'UTC') AS day FROM hit WHERE place <= %(days)s
)
SELECT id FROM hit
UNION
SELECT neighbour.id FROM hit, LATERAL (
    (SELECT id FROM memories WHERE {owner} = %(owner)s AND {occurred} < hit.at
        AND {occurred} >= date_trunc('day', hit.at, 'UTC') ORDER BY {occurred} DESC LIMIT 1)
    UNION ALL
    (SELECT id FROM memories WHERE {owner} = %(owner)s AND {occurred} > hit.at
        AND {occurred} < date_trunc('day', hit.at, 'UTC') + interval '1 day' ORDER BY {occurred} LIMIT 1)
) AS neighbour
UNION
SELECT companion.id FROM day, LATERAL (
    SELECT id FROM memories WHERE {owner} = %(owner)s AND {occurred} >= day
        AND {occurred} < day + interval '1 day' ORDER BY {occurred} LIMIT %(rows_a_day)s
) AS companion
"""


def rows_to_rank(search: Search, least: int) -> tuple[Columns, Columns]:
    """The rows to rank in order of time, and those by which one tells how rare a term is.

    Both are all of an owner with few rows. Of one with many, the newest stand for all, and the rows nearest in meaning
    and by the rarest words are ranked beside them, each with its neighbours, the best with the rows of their day.
    """
    exact = max(EXACT_ROWS, least)
    if not search.has_more_than(exact):
        rows = search.newest(exact)
        return rows, rows
    newest = search.newest(max(NEWEST, least))
    rows = np.concatenate([newest, _in_question(search, newest)])
    rows = rows[np.lexsort((rows["id_low"], rows["id_high"], rows["at"]))]
    again = (rows["id_low"][1:] == rows["id_low"][:-1]) & (rows["id_high"][1:] == rows["id_high"][:-1])
    return rows[~np.concatenate([[False], again])], newest


def _in_question(search: Search, sample: Columns) -> Columns:
    parameters = {
        "nearest": NEAREST,
        "worded": WORDED,
        "days": DAYS,
        "rows_a_day": ROWS_A_DAY,
        "rare": " | ".join(_rarest(search, sample)),
    }
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(SETTINGS)
        distance = BY_INDEX if search.has_more_than(SORTED_ROWS) else BY_SORTING
        ids = IN_QUESTION.format(owner=search.column, occurred=OCCURRED, distance=distance)
        return search.chosen(ids, parameters)


def _rarest(search: Search, sample: Columns) -> list[str]:
    """The terms that select few rows together, the rarest first; a term that the newest rows lack may be the rarest."""
    shares = has(sample, len(search.terms.all)).mean(axis=0)
    rarest = np.argsort(shares, kind="stable")
    few = rarest[np.cumsum(shares[rarest]) <= MAX_SHARE]
    return [search.terms.all[place] for place in few]
