"""Those of an owner's many rows that come into question: by meaning, rare words and named days; newest and pinned."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from config.db.statements import Statement
from memories.search.owner_sample import LAST
from memories.search.row_format import OCCURRED, Columns, OwnerSearch, ids_literal, moments_literal

MAX_DATED_ROWS = 500
"""The newest of each run of named days."""
BEFORE = AFTER = 24
"""So many rows of the same day are read with one that looks good: of most days, all."""

BREADTH_FACTOR = 2
"""So many times the nearest that are wanted, the index looks at once: more are found than the approximate ones."""
MAX_BREADTH = 1_000
"""The index looks at no more."""

# The index knows no owners: it goes on until it has found enough rows of this one. How many rows a word or an owner
# has decides how they are best read, and a plan that is made beforehand knows neither.
SETTINGS = """
SELECT set_config('hnsw.ef_search', %(breadth)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '40000', true), set_config('plan_cache_mode', 'force_custom_plan', true)
"""

BY_INDEX = "{slot}::halfvec({dimensions}) <=> %(vector)s::vector::halfvec({dimensions})"
NEAREST_INDEXED_SQL = f"""
    SELECT ctid FROM memories WHERE {{owner}} = %(owner)s AND {{here}} AND {{slot}} IS NOT NULL
    ORDER BY {BY_INDEX} LIMIT %(nearest)s
"""  # noqa: S608 - only the constant above is put in
# In order of time, as most rows came: whoever follows it stays in one place of the table for several of them.
NEAREST_SORTED_SQL = """
    SELECT place FROM (
        SELECT ctid AS place, {slot} <=> %(vector)s::vector AS distance FROM memories
        WHERE {owner} = %(owner)s AND {here} AND {slot} IS NOT NULL ORDER BY {occurred} DESC OFFSET 0
    ) AS owned ORDER BY distance LIMIT %(nearest)s
"""
NO_NEAREST_SQL = "SELECT ctid FROM memories WHERE false"

TERM_MATCHES_SQL = """
(SELECT {row} FROM memories WHERE {owner} = %(owner)s AND search @@ %(rare)s::tsquery LIMIT %(worded)s)
"""
# Where most rows with a word are the owner's, a look at the index of the owner's rows costs more than it spares. And
# who comes from a term need not look for it in the row.
TERM_MATCHES_LARGE_SQL = """
(SELECT {row_of_term} FROM unnest(%(terms)s::tsquery[], %(bits)s::bigint[], %(labels)s::tsquery[])
    AS term (query, bit, label) JOIN memories ON ({owner} = %(owner)s) IS TRUE AND search @@ query LIMIT %(worded)s)
"""

# Within one statement a row stays in its place, and going there is a quarter of the work of finding it by its id.
CANDIDATES_SQL = """
{words}
UNION ALL
SELECT {row} FROM memories WHERE ctid IN (
    ({near})
    UNION ALL
    (SELECT ctid FROM memories WHERE {owner} = %(owner)s ORDER BY {occurred} DESC LIMIT %(newest)s)
    UNION ALL
    SELECT ctid FROM memories WHERE {owner} = %(owner)s AND pinned
    UNION ALL
    (SELECT ctid FROM memories WHERE {owner} = %(owner)s ORDER BY {last} LIMIT %(random)s)
{dated})
"""
NAMED_DAYS_SQL = """
    UNION ALL
    SELECT dated.ctid FROM unnest(%(first)s::date[], %(last)s::date[]) AS days (first, last), LATERAL (
        SELECT ctid FROM memories WHERE {owner} = %(owner)s AND {occurred} >= first::timestamp AT TIME ZONE 'UTC'
            AND {occurred} < (last + 1)::timestamp AT TIME ZONE 'UTC' ORDER BY {occurred} DESC LIMIT %(dated)s
    ) AS dated
"""
# Whole rows, vectors and all, would take longer to sort than to go to once more.
NEIGHBOURS_SQL = """
SELECT {row} FROM memories WHERE ctid = ANY(ARRAY(
    SELECT near.place FROM unnest(%(hits)s::uuid[], %(moments)s::timestamptz[]) AS hit (id, at), LATERAL (
        (SELECT ctid FROM memories WHERE {owner} = %(owner)s AND {occurred} <= hit.at
            AND {occurred} >= date_trunc('day', hit.at, 'UTC') AND ({occurred} < hit.at OR id < hit.id)
            ORDER BY {occurred} DESC, id DESC LIMIT %(before)s)
        UNION ALL
        (SELECT ctid FROM memories WHERE {owner} = %(owner)s AND {occurred} >= hit.at
            AND {occurred} < date_trunc('day', hit.at, 'UTC') + interval '1 day'
            AND ({occurred} > hit.at OR id >= hit.id)
            ORDER BY {occurred}, id LIMIT %(after)s)
    ) AS near (place)
    UNION ALL
    SELECT ctid FROM memories WHERE id = ANY(%(alone)s::uuid[])
))
"""


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """What to look for: `rare` are the places of terms, which may select up to `worded` rows; and the
    `nearest` in meaning, the `newest` and some `random` rows.
    """

    rare: Sequence[int]
    worded: int
    nearest: int
    newest: int
    random: int
    indexed: bool
    """Whether the nearest are found by the index on meaning."""
    large: bool
    """Whether much of the table is the owner's."""

    def of(self, search: OwnerSearch) -> Columns:
        """The rows, the oldest first, looked over: of the terms, the rare ones. Raises SpaceLeft."""
        days = search.question.days
        named = {
            "{words}": TERM_MATCHES_LARGE_SQL if self.large else TERM_MATCHES_SQL,
            "{near}": self._near(search),
            "{dated}": NAMED_DAYS_SQL if days else "",
            "{last}": LAST,
        }
        chosen = CANDIDATES_SQL
        for name, sql in named.items():
            chosen = chosen.replace(name, sql)
        terms = [search.terms.all[place] for place in self.rare]
        parameters = {
            "rare": " | ".join(terms),
            "terms": terms,
            "bits": [1 << place for place in self.rare],
            "labels": [search.terms.label(place) for place in self.rare],
            "worded": self.worded,
            "nearest": self.nearest,
            "newest": self.newest,
            "dated": MAX_DATED_ROWS,
            "random": self.random,
            "first": [span.first for span in days],
            "last": [span.last for span in days],
        }
        breadth = min(BREADTH_FACTOR * self.nearest, MAX_BREADTH)
        looked_for = () if self.large else self.rare  # a large owner's rows come by each term that they have
        return search.read_quickly(
            chosen, parameters, looked_for, before=[Statement(SETTINGS, {"breadth": str(breadth)})]
        )

    def _near(self, search: OwnerSearch) -> str:
        if search.question.vector is None:
            return NO_NEAREST_SQL
        space = search.question.vector.space
        near = NEAREST_INDEXED_SQL if self.indexed else NEAREST_SORTED_SQL
        names = {"owner": search.column, "occurred": OCCURRED}
        return near.format(slot=space.slot, dimensions=space.dimensions, here=space.here, **names)


def add_neighbours(search: OwnerSearch, hits: Columns, alone: Columns, places: Iterable[int]) -> Columns:
    """The hits with what stands before and after them on the same day, and those that stand alone, the oldest first,
    with their terms at these places. Raises SpaceLeft.
    """
    parameters = {
        "hits": ids_literal(hits),
        "moments": moments_literal(hits),
        "alone": ids_literal(alone),
        "before": BEFORE,
        "after": AFTER + 1,
    }
    return search.measured(NEIGHBOURS_SQL, parameters, places)
