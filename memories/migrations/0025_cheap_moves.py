"""Moves between tiers cost less: indexes that a move changes are summaries of ranges of pages, so that a new version of
a row needs no new entries in the other indexes where it finds room on its page. Others read and write meanwhile.
"""

from django.db import migrations

TABLES = ("memories", "documents", "events")
INDEXES = {"hot": ("coalesce(tier_since, created)", "tier = 'hot'"), "cold": ("tier_since", "tier = 'cold'")}
PAGES_PER_RANGE = 32


def summarised(table: str, tier: str) -> list[migrations.RunSQL]:
    """Return operations that replace a B-tree by a BRIN index of the same name."""
    value, condition = INDEXES[tier]
    name = f"{table}_{tier}"

    def create(index: str, method: str, options: str) -> str:
        return f"CREATE INDEX CONCURRENTLY {index} ON {table} USING {method} (({value})) {options} WHERE {condition}"

    options = f"WITH (pages_per_range = {PAGES_PER_RANGE}, autosummarize = on)"
    steps = (
        (f"DROP INDEX CONCURRENTLY IF EXISTS {name}", create(name, "btree", "")),
        (create(name, "brin", options), f"DROP INDEX CONCURRENTLY IF EXISTS {name}"),
    )
    return [migrations.RunSQL(forwards, backwards) for forwards, backwards in steps]


# What only the owner of an index may do. A range of a BRIN index never becomes smaller by itself.
FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION empty_word_lists() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT gin_clean_pending_list('memory_search'), gin_clean_pending_list('chunk_search')
$$;
CREATE OR REPLACE FUNCTION summarise_tiers(kind text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    summary text;
BEGIN
    IF kind NOT IN ({", ".join(f"'{table}'" for table in TABLES)}) THEN
        RAISE EXCEPTION 'nothing of kind % is stored in tiers', kind;
    END IF;
    FOREACH summary IN ARRAY ARRAY[kind || '_hot', kind || '_cold'] LOOP
        PERFORM brin_desummarize_range(summary::regclass, page) FROM generate_series(
            0, pg_relation_size(kind::regclass) / current_setting('block_size')::bigint, {PAGES_PER_RANGE}) AS page;
        PERFORM brin_summarize_new_values(summary::regclass);
    END LOOP;
END $$;
"""  # noqa: S608 - only the constants above are put in
DROP_FUNCTIONS = "DROP FUNCTION empty_word_lists(); DROP FUNCTION summarise_tiers(text);"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0024_relation_agent_strongest")]

    operations = [
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
        *(step for table in TABLES for tier in INDEXES for step in summarised(table, tier)),
    ]
