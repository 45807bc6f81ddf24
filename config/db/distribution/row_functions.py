"""Functions and tables that take the place of statement triggers: they touch rows of one owner only.

Citus executes a trigger of a distributed table on the worker, once for each row, and lets it read and change only what
is in the shards of the same owner there; see docs/scaling.md.
"""

from config.db.distribution.distributed_tables import COUNTERS, EFFECTS, FOLLOW_EFFECTS, OWNERS

OWNER_TABLES = f"""
CREATE TABLE {OWNERS} (id uuid PRIMARY KEY);
INSERT INTO {OWNERS} SELECT id FROM agents UNION ALL SELECT id FROM teams;
CREATE FUNCTION keep_{OWNERS}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO {OWNERS} VALUES (NEW.id);
    ELSE
        DELETE FROM {OWNERS} WHERE id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER agents_keep_{OWNERS} AFTER INSERT OR DELETE ON agents
    FOR EACH ROW EXECUTE FUNCTION keep_{OWNERS}();
CREATE TRIGGER teams_keep_{OWNERS} AFTER INSERT OR DELETE ON teams
    FOR EACH ROW EXECUTE FUNCTION keep_{OWNERS}()
"""  # noqa: S608 - only constants are put in

# Only one row of a statement counts, and others that write rows of the owner at the same time count in rows of their
# own, so that nobody waits. Rows of an owner that was deleted remain, so no count begins again.
COUNTING = f"""
CREATE TABLE {COUNTERS} (
    owner_id uuid NOT NULL, part uuid NOT NULL, value bigint NOT NULL, PRIMARY KEY (owner_id, part)
);
CREATE FUNCTION count_row_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    owned uuid;
    free uuid;
    told text;
BEGIN
    IF current_setting('dossier.same_answers', true) = 'on' THEN
        RETURN NULL;  -- what is stored in another way makes no answer invalid
    END IF;
    IF TG_OP = 'DELETE' THEN
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO owned USING OLD;
    ELSE
        EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO owned USING NEW;
    END IF;
    told := owned || ' ' || TG_RELID || ' ' || statement_timestamp();
    IF current_setting('dossier.counted', true) = told THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('dossier.counted', told, true);
    SELECT part INTO free FROM {COUNTERS}
        WHERE owner_id = owned ORDER BY part LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE {COUNTERS} SET value = value + 1 WHERE owner_id = owned AND part = free;
    ELSE
        INSERT INTO {COUNTERS} (owner_id, part, value) VALUES (owned, gen_random_uuid(), 1);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION changes_on_workers(owned uuid) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN (SELECT coalesce(sum(value), 0) FROM {COUNTERS} WHERE owner_id = owned);
END $$
"""  # noqa: S608 - only constants are put in

# What follows in tables of the coordinator is noted in the shard of the owner, in the same transaction, and done by
# whoever calls the function: every worker process does, within seconds.
EFFECT_TABLE = f"""
CREATE TABLE {EFFECTS} (
    owner_id uuid NOT NULL, id uuid NOT NULL, item uuid NOT NULL, is_gone boolean NOT NULL, raised_to smallint,
    noted_at timestamptz NOT NULL, PRIMARY KEY (owner_id, id)
);
CREATE FUNCTION note_effect() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    owned uuid;
    raised smallint;
BEGIN
    EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO owned USING OLD;
    IF TG_OP = 'UPDATE' AND NEW.sensitivity > OLD.sensitivity AND NEW.sensitivity < 4 THEN
        raised := NEW.sensitivity;
    END IF;
    INSERT INTO {EFFECTS} (owner_id, id, item, is_gone, raised_to, noted_at)
        VALUES (owned, gen_random_uuid(), OLD.id, TG_OP = 'DELETE', raised, clock_timestamp());
    RETURN NULL;
END $$;
CREATE FUNCTION {FOLLOW_EFFECTS}() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    one record;
    followed bigint := 0;
BEGIN
    FOR one IN SELECT owner_id, id, item, is_gone, raised_to FROM {EFFECTS} ORDER BY noted_at LIMIT 1000 LOOP
        DELETE FROM {EFFECTS} WHERE owner_id = one.owner_id AND id = one.id;
        CONTINUE WHEN NOT FOUND;  -- another process follows it
        followed := followed + 1;
        IF one.is_gone THEN
            PERFORM set_config('dossier.erasing', 'on', true);
            DELETE FROM conflicts WHERE left_item = one.item OR right_item = one.item;
            DELETE FROM text_levels WHERE item = one.item;
            PERFORM set_config('dossier.erasing', 'off', true);
        ELSE
            UPDATE conflicts SET sensitivity = -1 WHERE left_item = one.item;
            UPDATE conflicts SET sensitivity = -1 WHERE right_item = one.item;
        END IF;
        IF one.raised_to IS NOT NULL THEN
            INSERT INTO raised_texts (item, level, due, seen) VALUES (one.item, one.raised_to, now(), false)
                ON CONFLICT (item) DO UPDATE
                SET level = greatest(raised_texts.level, excluded.level), due = excluded.due, seen = false;
        END IF;
    END LOOP;
    RETURN followed;
END $$
"""  # noqa: S608 - only constants are put in

# Every server has the reference table, and so this trigger; only the coordinator has the counters.
COUNTING_OF_REFERENCE = """
CREATE FUNCTION count_reference_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF to_regclass('public.change_counters') IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE change_counters SET value = value + 1 WHERE owner = TG_ARGV[0]::uuid AND shard = -1;
    IF NOT FOUND THEN
        INSERT INTO change_counters VALUES (TG_ARGV[0]::uuid, -1, 1);
    END IF;
    RETURN NULL;
END $$
"""

PARTS = (OWNER_TABLES, COUNTING, EFFECT_TABLE, COUNTING_OF_REFERENCE)
