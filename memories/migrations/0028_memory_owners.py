"""Memories name their owner in one column, by which the table can be divided: see `manage.py partition_tables`.

The column is empty in rows that are there already, so nothing is rewritten. Functions about indexes take divided tables.
"""

from django.db import migrations

import memories.models.memory

# An application of the version before writes no owner; a row of a divided table has it from the insert, as it decides
# about the partition.
OWNER = """
ALTER TABLE memories ADD CONSTRAINT memory_owner_id CHECK (owner_id = coalesce(agent_id, team_id)) NOT VALID;
CREATE FUNCTION memory_keeps_owner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.owner_id := coalesce(NEW.agent_id, NEW.team_id);
    RETURN NEW;
END $$;
CREATE TRIGGER memories_keeps_owner BEFORE INSERT OR UPDATE OF agent_id, team_id, owner_id ON memories FOR EACH ROW
    WHEN (NEW.owner_id IS DISTINCT FROM coalesce(NEW.agent_id, NEW.team_id)) EXECUTE FUNCTION memory_keeps_owner();
"""
NO_OWNER = """
DROP TRIGGER memories_keeps_owner ON memories;
DROP FUNCTION memory_keeps_owner();
ALTER TABLE memories DROP CONSTRAINT memory_owner_id;
"""
# The tables of the rows: the partitions, or the table itself.
LEAVES = """
CREATE FUNCTION leaves_of(place regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = place
    UNION ALL SELECT place WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = place)
$$;
CREATE OR REPLACE FUNCTION empty_word_lists() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT gin_clean_pending_list(leaf) FROM unnest(ARRAY['memory_search', 'chunk_search']::regclass[]) AS words (index),
        leaves_of(words.index) AS leaf
$$;
CREATE OR REPLACE FUNCTION summarise_tiers(kind text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    summary regclass;
BEGIN
    IF kind NOT IN ('memories', 'documents', 'events') THEN
        RAISE EXCEPTION 'nothing of kind % is stored in tiers', kind;
    END IF;
    FOR summary IN
        SELECT leaf FROM unnest(ARRAY[kind || '_hot', kind || '_cold']::regclass[]) AS tier (index),
            leaves_of(tier.index) AS leaf
    LOOP
        PERFORM brin_desummarize_range(summary, page) FROM generate_series(0, pg_relation_size(
            (SELECT indrelid FROM pg_index WHERE indexrelid = summary)
        ) / current_setting('block_size')::bigint, 32) AS page;
        PERFORM brin_summarize_new_values(summary);
    END LOOP;
END $$;
"""
NO_LEAVES = """
CREATE OR REPLACE FUNCTION empty_word_lists() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT gin_clean_pending_list('memory_search'), gin_clean_pending_list('chunk_search')
$$;
CREATE OR REPLACE FUNCTION summarise_tiers(kind text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    summary text;
BEGIN
    IF kind NOT IN ('memories', 'documents', 'events') THEN
        RAISE EXCEPTION 'nothing of kind % is stored in tiers', kind;
    END IF;
    FOREACH summary IN ARRAY ARRAY[kind || '_hot', kind || '_cold'] LOOP
        PERFORM brin_desummarize_range(summary::regclass, page) FROM generate_series(
            0, pg_relation_size(kind::regclass) / current_setting('block_size')::bigint, 32) AS page;
        PERFORM brin_summarize_new_values(summary::regclass);
    END LOOP;
END $$;
DROP FUNCTION leaves_of(regclass);
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0027_half_vectors")]

    operations = [
        migrations.AddField(
            model_name="memory",
            name="owner_id",
            field=memories.models.memory.OwnerIdField(editable=False, null=True),
        ),
        migrations.RunSQL(OWNER, NO_OWNER),
        migrations.RunSQL(LEAVES, NO_LEAVES),
    ]
