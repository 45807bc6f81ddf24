"""These helpers of migrations use PostgreSQL itself: append-only tables, cascades, counted changes, rights.

Two layers protect history. The app connects with a role that has only SELECT and INSERT on append-only tables. Triggers
refuse everything else to everyone, the owner included, except to the one audited function `erase`.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import connections, migrations, transaction

ERASABLE_TABLES = (
    *("agents", "teams", "organisation_files", "memories", "daily_logs", "profiles", "rules"),
    *("conflicts", "recall_tests", "subjects"),
)
AUDITED_FUNCTIONS = (
    "erase(text, uuid, text)",
    "prune_assemblies(uuid, uuid[], uuid, integer, boolean, text)",
    "prune_unused(bigint[])",
    "prune_levels(uuid, bytea[])",
    "prune_recall_results(uuid, uuid, integer)",
    "prune_sealed_results(uuid)",
    "prune_readings(integer, integer)",
    "prune_activities(integer, integer)",
    "erase_spellings(uuid, text, text[], text, text, text, text[])",
    "erase_rows(uuid, text, text[], text, text, text, text[])",
    "erase_things(uuid, text, uuid[])",
    "erase_subject_versions(uuid)",
    "erase_record_parts(uuid, bigint[], uuid[], uuid[], uuid[], uuid[], uuid[])",
    "contexts_below(uuid, smallint, integer)",
    "raise_contexts(smallint, uuid[])",
    "renew_stored_texts(bytea[], bytea[])",
    "seal_versions(text, text, uuid[], text[])",
    "seal_records(text, text, text[], text[])",
    "erase_sealed_texts(uuid, text, text, text[], text[], text[])",
    "erase_sealed_rows(uuid, text, text[])",
)
"""The only functions by which the role of the app can delete history, raise the level of a record, or encrypt a text
again. Later migrations create most of them.
"""
ORGANISATION = UUID(int=0)
"""The owner under which changes are counted that belong to no single agent or team."""
ACCESS = UUID(int=1)
"""The owner under which changes are counted of who belongs to which team, and which agents work where."""
RAISED = UUID(int=2)
"""The owner under which is counted how often texts became more sensitive: confidential, restricted or withheld."""

_ERASABLE = ", ".join(f"'{table}'" for table in ERASABLE_TABLES)

CREATE_REFUSAL = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    table_owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID);
BEGIN
    -- Only inside erase() is the current user the owner while the setting is on; the app's role can set the setting,
    -- but not become the owner.
    IF TG_OP = 'DELETE' AND current_user = table_owner AND current_setting('dossier.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% keeps history: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
"""

CREATE_ERASE = f"""
CREATE OR REPLACE FUNCTION erase(kind text, target uuid, by_ref text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    found_rows integer;
BEGIN
    IF kind NOT IN ({_ERASABLE}) THEN
        RAISE EXCEPTION 'nothing of kind % can be erased', kind;
    END IF;
    PERFORM set_config('dossier.erasing', 'on', true);
    EXECUTE format('DELETE FROM %I WHERE id = $1', kind) USING target;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    IF found_rows > 0 THEN
        INSERT INTO erasures (kind, target, by_ref, created) VALUES (kind, target, by_ref, now());
    END IF;
    RETURN found_rows > 0;
END $$;
REVOKE ALL ON FUNCTION erase(text, uuid, text) FROM PUBLIC;
"""  # noqa: S608 - only the constant names above are put in

COUNT_CHANGES = f"""
CREATE OR REPLACE FUNCTION count_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed uuid;
    free integer;
BEGIN
    IF current_setting('dossier.same_answers', true) = 'on' THEN
        RETURN NULL;  -- what is stored in another way makes no answer invalid
    END IF;
    FOR changed IN EXECUTE format(
        CASE TG_OP
            WHEN 'INSERT' THEN 'SELECT DISTINCT %1$s FROM new_rows'
            WHEN 'UPDATE' THEN 'SELECT %1$s FROM old_rows UNION SELECT %1$s FROM new_rows'
            WHEN 'DELETE' THEN 'SELECT DISTINCT %1$s FROM old_rows'
            WHEN 'TRUNCATE' THEN 'SELECT %2$L::uuid'  -- whose rows they were is not told
        END,
        TG_ARGV[0], '{ORGANISATION}')
    LOOP
        SELECT shard INTO free FROM change_counters
            WHERE owner = changed ORDER BY shard LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE change_counters SET value = value + 1 WHERE owner = changed AND shard = free;
        ELSE
            -- Others hold them all until they commit. A number from the sequence is nobody else's, so even the
            -- unique index gives no reason to wait.
            INSERT INTO change_counters VALUES (changed, nextval('change_counter_shards'), 1);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
"""  # noqa: S608 - only the constant above is put in
CREATE_COUNTING = f"""
CREATE SEQUENCE change_counter_shards AS integer OWNED BY change_counters.shard;
{COUNT_CHANGES}
"""
# One trigger for each table, whatever a statement changes, and even if it changes nothing: such statements are rare.
CREATE_ACCESS_COUNTING = f"""
CREATE FUNCTION count_access_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    free integer;
BEGIN
    SELECT shard INTO free FROM change_counters
        WHERE owner = '{ACCESS}' ORDER BY shard LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE change_counters SET value = value + 1 WHERE owner = '{ACCESS}' AND shard = free;
    ELSE
        INSERT INTO change_counters VALUES ('{ACCESS}', nextval('change_counter_shards'), 1);
    END IF;
    RETURN NULL;
END $$;
"""  # noqa: S608 - only the constant above is put in
# Once for each statement, however many rows it raises.
CREATE_RAISED_COUNTING = f"""
CREATE FUNCTION count_raised() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    free integer;
    told text := statement_timestamp();
BEGIN
    IF current_setting('dossier.raised_counted', true) = told THEN
        RETURN NULL;
    END IF;
    PERFORM set_config('dossier.raised_counted', told, true);
    SELECT shard INTO free FROM change_counters
        WHERE owner = '{RAISED}' ORDER BY shard LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        UPDATE change_counters SET value = value + 1 WHERE owner = '{RAISED}' AND shard = free;
    ELSE
        INSERT INTO change_counters VALUES ('{RAISED}', nextval('change_counter_shards'), 1);
    END IF;
    RETURN NULL;
END $$;
"""  # noqa: S608 - only the constant above is put in
DROP_COUNTING = "DROP FUNCTION count_changes(); DROP SEQUENCE change_counter_shards;"

CREATE_GUARDS = CREATE_REFUSAL + CREATE_ERASE
DROP_GUARDS = "DROP FUNCTION erase(text, uuid, text); DROP FUNCTION refuse_change();"


def append_only(table: str) -> migrations.RunSQL:
    """Return triggers with which the table refuses UPDATE, DELETE and TRUNCATE."""
    return migrations.RunSQL(
        f"""
        CREATE TRIGGER {table}_keeps_rows BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION refuse_change();
        CREATE TRIGGER {table}_keeps_all BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
        """,
        f"DROP TRIGGER {table}_keeps_rows ON {table}; DROP TRIGGER {table}_keeps_all ON {table};",
    )


def cascade(table: str, column: str, target: str, *, key: str = "id") -> migrations.RunSQL:
    """Return a foreign key with which the database deletes the table's rows together with the row that
    they refer to.
    """
    name = f"{table}_{column}_cascade"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name}"
        f" FOREIGN KEY ({column}) REFERENCES {target} ({key}) ON DELETE CASCADE",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


def counts_changes(table: str, owner: str) -> migrations.RunSQL:
    """Return triggers with which every statement that changes rows increments the counters of the owners of the rows.

    `owner` is an SQL expression over the table's columns that gives the UUID of an agent, a team or ORGANISATION.
    """
    rows = {"INSERT": "NEW TABLE AS new_rows", "DELETE": "OLD TABLE AS old_rows"}
    rows["UPDATE"] = f"{rows['DELETE']} {rows['INSERT']}"
    tables = {operation: f"REFERENCING {named}" for operation, named in rows.items()} | {"TRUNCATE": ""}
    quoted = owner.replace("'", "''")
    create = [
        f"CREATE TRIGGER {table}_counts_{operation.lower()} AFTER {operation} ON {table} {referencing}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION count_changes('{quoted}');"
        for operation, referencing in tables.items()
    ]
    drop = [f"DROP TRIGGER {table}_counts_{operation.lower()} ON {table};" for operation in tables]
    return migrations.RunSQL("\n".join(create), "\n".join(drop))


def forgets_levels(table: str) -> migrations.RunSQL:
    """Return a trigger with which the levels of detail of the table's rows are deleted together with the rows.

    The table's key is `id`, a UUID. The function `forget_levels` is created by a migration of `assembly`.
    """
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_forgets_levels AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows"
        " FOR EACH STATEMENT EXECUTE FUNCTION forget_levels()",
        f"DROP TRIGGER {table}_forgets_levels ON {table}",
    )


def counts_sensitive_rows(table: str, owners: str) -> migrations.RunSQL:
    """Return an index of the rows above internal by their owners: few rows, which every context counts."""
    return migrations.RunSQL(
        f"CREATE INDEX {table}_sensitive ON {table} ({owners}, sensitivity) WHERE sensitivity > 1",
        f"DROP INDEX {table}_sensitive",
    )


def as_sensitive_as(table: str, columns: Mapping[str, str]) -> migrations.RunSQL:
    """Return triggers by which the table's rows are at least as sensitive as the rows whose ids are in these columns,
    given with their tables.

    Without a table, the function `sensitivity_of` searches all. A trigger of each of these tables raises the parts when
    a row is raised: see `raises_parts`. A part does not become less sensitive again.
    """
    found = (
        f"(SELECT sensitivity FROM {whole} WHERE id = NEW.{column})" if whole else f"sensitivity_of(NEW.{column})"  # noqa: S608
        for column, whole in columns.items()
    )
    needed = f"greatest(NEW.sensitivity, {', '.join(found)})"
    named = " OR ".join(f"NEW.{column} IS NOT NULL" for column in columns)
    watched = ", ".join(("sensitivity", *columns))
    changed = " OR ".join(f"OLD.{one} IS DISTINCT FROM NEW.{one}" for one in ("sensitivity", *columns))
    create = f"""
        CREATE FUNCTION {table}_as_sensitive() RETURNS trigger LANGUAGE plpgsql
        SET search_path = public, pg_temp AS $$
        BEGIN
            NEW.sensitivity := {needed};
            RETURN NEW;
        END $$;
        CREATE TRIGGER {table}_inserted_as_sensitive BEFORE INSERT ON {table}
            FOR EACH ROW WHEN ({named}) EXECUTE FUNCTION {table}_as_sensitive();
        CREATE TRIGGER {table}_updated_as_sensitive BEFORE UPDATE OF {watched} ON {table}
            FOR EACH ROW WHEN (({named}) AND ({changed})) EXECUTE FUNCTION {table}_as_sensitive();
    """
    drop = f"""
        DROP TRIGGER {table}_inserted_as_sensitive ON {table};
        DROP TRIGGER {table}_updated_as_sensitive ON {table};
        DROP FUNCTION {table}_as_sensitive();
    """
    return migrations.RunSQL(create, drop)


def raises_parts(
    table: str, parts: Mapping[str, Sequence[str]], derived: Mapping[str, Sequence[str]]
) -> migrations.RunSQL:
    """Return a trigger by which the parts of a row are raised together with it, and what is derived from it follows it.

    Both have the columns that name the row, by table. The trigger of `as_sensitive_as` finds the level of derived rows.
    """
    raised = [
        f"UPDATE {part} SET sensitivity = NEW.sensitivity WHERE {column} = NEW.id AND sensitivity < NEW.sensitivity;"  # noqa: S608
        for part, columns in parts.items()
        for column in columns
    ]
    followed = [
        f"UPDATE {part} SET sensitivity = -1 WHERE {column} = NEW.id;"  # noqa: S608
        for part, columns in derived.items()
        for column in columns
    ]
    create = f"""
        CREATE FUNCTION {table}_raises_parts() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            {" ".join([*raised, *followed])}
            RETURN NULL;
        END $$;
        CREATE TRIGGER {table}_raised AFTER UPDATE OF sensitivity ON {table}
            FOR EACH ROW WHEN (NEW.sensitivity IS DISTINCT FROM OLD.sensitivity)
            EXECUTE FUNCTION {table}_raises_parts();
    """
    return migrations.RunSQL(create, f"DROP TRIGGER {table}_raised ON {table}; DROP FUNCTION {table}_raises_parts();")


def derive_origin(table: str, *, append_only: bool = False) -> migrations.RunSQL:
    """Return SQL that sets the origin of rows which an agent's key wrote; all others come from a person, the default.

    A key that is gone was an agent's: it went with its agent, while admin keys stay.
    """
    fill = f"""
        UPDATE {table} SET origin = 'agent' WHERE editor_ref LIKE 'key:%'
            AND editor_ref NOT IN (SELECT 'key:' || id FROM api_keys WHERE agent_id IS NULL);
    """  # noqa: S608 - only names of tables are put in
    if append_only:
        fill = (
            f"ALTER TABLE {table} DISABLE TRIGGER {table}_keeps_rows; {fill}"
            f"ALTER TABLE {table} ENABLE TRIGGER {table}_keeps_rows;"
        )
    return migrations.RunSQL(f"{fill} SET CONSTRAINTS ALL IMMEDIATE;", migrations.RunSQL.noop)


def grant_to_app_role(using: str, **_: Any) -> None:
    """Grant the role of the app its rights after a migration by the owner; on append-only tables only SELECT and
    INSERT.
    """
    role = settings.DATABASES["default"]["USER"]
    connection = connections[using]
    if connection.settings_dict["USER"] == role:
        return  # one role for everything: the triggers alone protect history
    quote = connection.ops.quote_name
    with transaction.atomic(using=using), connection.cursor() as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname IN ('public', 'pgmq')")
        for (schema,) in cursor.fetchall():
            cursor.execute(f"GRANT USAGE ON SCHEMA {schema} TO {quote(role)}")
            cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {quote(role)}")
            cursor.execute(f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {quote(role)}")
        cursor.execute(
            "SELECT name FROM unnest(%s::text[]) AS name WHERE to_regprocedure(name) IS NOT NULL",
            [[*AUDITED_FUNCTIONS]],
        )
        for (function,) in cursor.fetchall():
            cursor.execute(f"GRANT EXECUTE ON FUNCTION {function} TO {quote(role)}")
        there = set(connection.introspection.table_names())  # on the way back, not all are
        for table in there.intersection(ERASABLE_TABLES):
            cursor.execute(f"REVOKE DELETE, TRUNCATE ON {quote(table)} FROM {quote(role)}")
        for table in there.intersection(append_only_tables()):
            cursor.execute(f"REVOKE UPDATE, DELETE, TRUNCATE ON {quote(table)} FROM {quote(role)}")
        cursor.execute(PARTITIONS_SQL)
        for (partition,) in cursor.fetchall():  # who writes one by its own name passes by what the whole table refuses
            cursor.execute(f"REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON {partition} FROM {quote(role)}")


PARTITIONS_SQL = """
SELECT oid::regclass::text FROM pg_class WHERE relispartition AND relkind IN ('r', 'p')
    AND relnamespace = to_regnamespace('public')
"""


def append_only_tables() -> list[str]:
    """Return the tables of all models with `append_only = True`."""
    return [model._meta.db_table for model in apps.get_models() if getattr(model, "append_only", False)]  # noqa: SLF001
