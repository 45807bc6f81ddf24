"""Functions and tables with the names of Citus's own, which record their calls, for a database without the extension.

Like Citus, `create_distributed_table` refuses a foreign key to a table that is neither distributed nor a reference
table (https://docs.citusdata.com/en/stable/develop/reference_ddl.html), so that the order of the calls is tested, too.
"""

from collections.abc import Mapping

from config.db.distribution.citus_rules import SETTINGS
from config.db.partitions.divided_tables import OWNER
from config.db.statements import execute_sql, fetch_rows

STANDIN = """
CREATE TABLE citus_calls (id bigint GENERATED ALWAYS AS IDENTITY, called text);
CREATE TABLE pg_dist_partition (logicalrelid regclass);
CREATE TABLE pg_dist_node (nodeid integer, nodename text, nodeport integer, groupid integer, isactive boolean);
INSERT INTO pg_dist_node VALUES
    (1, 'coordinator', 5432, 0, true), (2, 'worker-1', 5432, 1, true), (3, 'worker-2', 5432, 2, true);
CREATE FUNCTION run_command_on_all_nodes(command text) RETURNS TABLE (nodeid integer, success boolean, result text)
LANGUAGE plpgsql AS $$ BEGIN
    FOR nodeid IN SELECT pg_dist_node.nodeid FROM pg_dist_node LOOP
        EXECUTE command INTO result;
        success := true;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE citus_shards (
    table_name regclass, shardid bigint, citus_table_type text, nodename text, nodeport integer, shard_size bigint
);
CREATE FUNCTION citus_version() RETURNS text LANGUAGE sql AS $$ SELECT 'Citus 13.0.1 on x86_64' $$;
CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO citus_calls (called) VALUES (format('reference %s', table_name));
    INSERT INTO pg_dist_partition VALUES (table_name);
END $$;
CREATE FUNCTION create_distributed_function(function_name regprocedure) RETURNS void LANGUAGE sql AS $$
    INSERT INTO citus_calls (called) VALUES (format('function %s', function_name))
$$;
CREATE FUNCTION create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
    colocate_with text DEFAULT 'default', shard_count integer DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (
        SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = table_name AND confrelid <> conrelid
            AND confrelid NOT IN (SELECT logicalrelid FROM pg_dist_partition)
    ) THEN
        RAISE 'cannot create foreign key constraint'
            USING DETAIL = 'Referenced table must be a distributed table or a reference table.';
    END IF;
    INSERT INTO citus_calls (called) VALUES (
        format('table %s by %s with %s%s', table_name, distribution_column, colocate_with, ', ' || shard_count)
    );
    INSERT INTO pg_dist_partition VALUES (table_name);
    INSERT INTO citus_shards
        SELECT table_name, 102000 + number, 'distributed', 'worker-' || 1 + number % 2, 5432, 8192
        FROM generate_series(0, 3) AS number;
END $$;
CREATE FUNCTION truncate_local_data_after_distributing_table(function_name regclass) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (
        SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid = function_name
            AND conrelid NOT IN (SELECT logicalrelid FROM pg_dist_partition)
    ) THEN
        RAISE 'cannot truncate a table referenced in a foreign key constraint by a local table';
    END IF;
    INSERT INTO citus_calls (called) VALUES (format('truncate %s', function_name));
    EXECUTE format('TRUNCATE %s CASCADE', function_name);
END $$;
CREATE FUNCTION get_shard_id_for_distribution_column(table_name regclass, distribution_value anyelement)
RETURNS bigint LANGUAGE sql AS $$ SELECT 102000 + abs(hashtext(distribution_value::text)) % 4 $$
"""


def install_standin(**settings: str) -> None:
    """Create the functions in the database of the test, with the settings that Citus needs, or others."""
    execute_sql(STANDIN, using=OWNER)
    named: Mapping[str, str] = {name: value for name, (value, _) in SETTINGS.items()} | {
        f"citus.{name}": value for name, value in settings.items()
    }
    for name, value in named.items():
        fetch_rows("SELECT set_config(%s, %s, false)", [name, value], using=OWNER)


def calls() -> list[str]:
    """Return what was called, in order."""
    return [called for (called,) in fetch_rows("SELECT called FROM citus_calls ORDER BY id", using=OWNER)]
