"""These SQL statements select candidates among an owner's many memories: by meaning, words, days, newest, pinned."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from config.db.statements import Statement
from memories.lifecycle.tiers import IS_SEARCHED_SQL
from memories.search.owner_partition import read_from
from memories.search.owner_sample import LAST
from memories.search.row_format import OCCURRED, Columns, OwnerSearch, ids_literal, moments_literal

MAX_DATED_ROWS = 500
"""The most rows of each range of named days; the newest are read."""
BEFORE = AFTER = 24
"""The numbers of rows of the same day that are read before and after a good hit; they include all rows of most days."""

BREADTH_FACTOR = 2
"""hnsw.ef_search is this many times the number of nearest rows, so that the approximate index misses fewer of them."""
MAX_BREADTH = 1_000
"""The upper limit of hnsw.ef_search."""

# The vector index does not know owners, so an iterative scan goes on until it has enough rows of this owner. A custom
# plan is forced, because the best plan depends on the number of rows of the word and of the owner.
SETTINGS = """
SELECT set_config('hnsw.ef_search', %(breadth)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '40000', true), set_config('plan_cache_mode', 'force_custom_plan', true)
"""
# The settings last until the transaction ends, and other statements need no plan for each of their values.
RESET = "SELECT set_config('plan_cache_mode', 'auto', true)"

BY_INDEX = "{slot}::halfvec({dimensions}) <=> %(vector)s::vector::halfvec({dimensions})"
NEAREST_INDEXED_SQL = f"""
    SELECT ctid FROM {{memories}} WHERE {{owner}} = %(owner)s{{within}} AND sensitivity <= %(clearance)s
        AND {{here}} AND {{slot}} IS NOT NULL
    ORDER BY {BY_INDEX} LIMIT %(nearest)s
"""  # noqa: S608 - only the constant above is put in
# Reading in order of time, in which most rows were written, touches each page of the table once for several rows.
NEAREST_SORTED_SQL = """
    SELECT place FROM (
        SELECT ctid AS place, {slot} <=> %(vector)s::vector AS distance FROM {memories}
        WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s
            AND {here} AND {slot} IS NOT NULL ORDER BY {occurred} DESC OFFSET 0
    ) AS owned ORDER BY distance LIMIT %(nearest)s
"""
NO_NEAREST_SQL = "SELECT ctid FROM memories WHERE false"

TERM_MATCHES_SQL = """
(SELECT {row} FROM {memories} WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s
    AND search @@ %(rare)s::tsquery LIMIT %(worded)s)
"""
# For an owner of a large part of the table, most rows with a word are the owner's, so the index of the owner's rows
# would cost more than it saves. A row that was found by a term need not be searched for that term.
TERM_MATCHES_LARGE_SQL = """
(SELECT {row_of_term} FROM unnest(%(terms)s::tsquery[], %(bits)s::bigint[], %(labels)s::tsquery[])
    AS term (query, bit, label) JOIN {memories} ON ({owner} = %(owner)s AND sensitivity <= %(clearance)s
        ) IS TRUE{within} AND search @@ query LIMIT %(worded)s)
"""

# Within one statement a row's ctid is stable, and reading by ctid takes a quarter of the time of reading by id. It is
# unique within a partition, and an owner's rows are in one, so the owner is compared again; IS TRUE hides that
# condition from the planner, which might otherwise read all rows of the owner.
CANDIDATES_SQL = """
{words}
UNION ALL
SELECT {row} FROM {memories} WHERE ctid IN (
    ({near})
    UNION ALL
    (SELECT ctid FROM {memories} WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s
        AND {searched} ORDER BY {occurred} DESC LIMIT %(newest)s)
    UNION ALL
    SELECT ctid FROM {memories} WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s AND pinned
    UNION ALL
    (SELECT ctid FROM {memories} WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s
        AND {searched} ORDER BY {last} LIMIT %(random)s)
{dated}) AND ({owner} = %(owner)s) IS TRUE{within}
"""
NAMED_DAYS_SQL = """
    UNION ALL
    SELECT dated.ctid FROM unnest(%(first)s::date[], %(last)s::date[]) AS days (first, last), LATERAL (
        SELECT ctid FROM {memories} WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s AND {searched}
            AND {occurred} >= first::timestamp AT TIME ZONE 'UTC'
            AND {occurred} < (last + 1)::timestamp AT TIME ZONE 'UTC' ORDER BY {occurred} DESC LIMIT %(dated)s
    ) AS dated
"""
# Only ctids are sorted: sorting whole rows with their vectors takes longer than reading the rows again.
NEIGHBOURS_SQL = f"""
SELECT {{row}} FROM {{memories}} WHERE ctid = ANY(ARRAY(
    SELECT near.place FROM unnest(%(hits)s::uuid[], %(moments)s::timestamptz[]) AS hit (id, at), LATERAL (
        (SELECT ctid FROM {{memories}} WHERE {{owner}} = %(owner)s{{within}} AND sensitivity <= %(clearance)s
            AND {IS_SEARCHED_SQL} AND {{occurred}} <= hit.at
            AND {{occurred}} >= date_trunc('day', hit.at, 'UTC') AND ({{occurred}} < hit.at OR id < hit.id)
            ORDER BY {{occurred}} DESC, id DESC LIMIT %(before)s)
        UNION ALL
        (SELECT ctid FROM {{memories}} WHERE {{owner}} = %(owner)s{{within}} AND sensitivity <= %(clearance)s
            AND {IS_SEARCHED_SQL} AND {{occurred}} >= hit.at
            AND {{occurred}} < date_trunc('day', hit.at, 'UTC') + interval '1 day'
            AND ({{occurred}} > hit.at OR id >= hit.id)
            ORDER BY {{occurred}}, id LIMIT %(after)s)
    ) AS near (place)
    UNION ALL
    SELECT ctid FROM {{memories}} WHERE id = ANY(%(alone)s::uuid[]){{within}} AND sensitivity <= %(clearance)s
)) AND ({{owner}} = %(owner)s) IS TRUE{{within}}
"""  # noqa: S608 - only the constant above is put in


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """The parameters of a search for candidates: `rare` lists the indexes of terms, which may select up to `worded`
    rows.

    `nearest`, `newest` and `random` are numbers of rows: nearest in meaning, newest, and chosen at random.
    """

    rare: Sequence[int]
    worded: int
    nearest: int
    newest: int
    random: int
    indexed: bool
    """Whether the nearest rows are found by the vector index; otherwise all rows of the owner are sorted."""
    large: bool
    """Whether the owner has a large part of the table's rows."""

    def of(self, search: OwnerSearch) -> Columns:
        """Return the candidate rows, the oldest first, with marks for the rare terms only, not for questions (ASKS).

        Raises EmbeddingModelChanged.
        """
        days = search.question.days
        named = {  # the days contain {searched}, so they come first
            "{dated}": NAMED_DAYS_SQL if days else "",
            "{searched}": IS_SEARCHED_SQL,
            "{words}": TERM_MATCHES_LARGE_SQL if self.large else TERM_MATCHES_SQL,
            "{near}": self._near(search),
            "{last}": LAST,
        }
        chosen = CANDIDATES_SQL
        for name, sql in named.items():
            chosen = chosen.replace(name, sql)
        by_term: dict[str, list[int]] = {}  # an entity may have the name of a word, whose rows are then read once
        for place in self.rare:
            by_term.setdefault(search.terms.all[place], []).append(place)
        parameters = {
            "rare": " | ".join(by_term),
            "terms": [*by_term],
            "bits": [sum(1 << place for place in same) for same in by_term.values()],
            "labels": [next(filter(None, map(search.terms.label, same)), None) for same in by_term.values()],
            "worded": self.worded,
            "nearest": self.nearest,
            "newest": self.newest,
            "dated": MAX_DATED_ROWS,
            "random": self.random,
            "first": [span.first for span in days],
            "last": [span.last for span in days],
        }
        breadth = min(BREADTH_FACTOR * self.nearest, MAX_BREADTH)
        looked_for = () if self.large else self.rare  # a large owner's rows bring the term by which they were found
        return search.read_quickly(
            chosen, parameters, looked_for, before=[Statement(SETTINGS, {"breadth": str(breadth)})]
        )

    def _near(self, search: OwnerSearch) -> str:
        if search.question.vector is None:
            return NO_NEAREST_SQL
        space = search.question.vector.space
        near = NEAREST_INDEXED_SQL if self.indexed else NEAREST_SORTED_SQL
        names = {"owner": search.column, "occurred": OCCURRED, **read_from(search.partition)}
        return near.format(slot=space.slot, dimensions=space.dimensions, here=space.here, **names)


def add_neighbours(search: OwnerSearch, hits: Columns, alone: Columns, places: Iterable[int]) -> Columns:
    """Return the hits with the rows before and after them on the same day, and the rows `alone` without neighbours.

    The oldest row comes first. Rows have the marks of the terms at the indexes `places`. Raises EmbeddingModelChanged.
    """
    parameters = {
        "hits": ids_literal(hits),
        "moments": moments_literal(hits),
        "alone": ids_literal(alone),
        "before": BEFORE,
        "after": AFTER + 1,
    }
    return search.measured(NEIGHBOURS_SQL, parameters, places, before=[Statement(RESET, {})])
