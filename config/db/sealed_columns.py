"""SQL about sealed columns: triggers by which the database refuses texts above internal that are not sealed.

The first characters of a sealed text are those of `config.keys.sealed_texts.MARK`.
"""

from collections.abc import Mapping, Sequence

from django.db import migrations

MARK_SQL = "E'\\x03sealed:'"
BEHIND_MARK_SQL = "E'\\x03sealed;'"
"""The text that is sorted directly behind all texts that begin with the mark, byte by byte."""
MARK_BYTES = 8
OVERHEAD_BYTES = 48
"""The bytes that sealing adds to a text before base64."""


def plain_sql(column: str, type_: str, row: str = "") -> str:
    """Return the SQL condition that a column of type `text`, `text[]` or `jsonb` has a value that is not sealed."""
    name = f"{row}{column}"
    if type_ == "text[]":  # without a subquery, which conditions of triggers cannot have
        return f"""(NOT ({MARK_SQL} COLLATE "C" <= ALL ({name}) AND {BEHIND_MARK_SQL} COLLATE "C" > ALL ({name})))"""
    if type_ == "jsonb":
        is_sealed = f"jsonb_typeof({name}) = 'string' AND starts_with({name} #>> '{{}}', {MARK_SQL})"
        return f"({name} NOT IN ('{{}}', '[]', 'null', '\"\"') AND NOT ({is_sealed}))"
    return f"({name} <> '' AND NOT starts_with({name}, {MARK_SQL}))"


def sealed_sql(column: str, type_: str) -> str:
    """Return the SQL condition that a column of type `text`, `text[]` or `jsonb` has a sealed value."""
    if type_ == "text[]":
        return f"EXISTS (SELECT FROM unnest({column}) AS member WHERE starts_with(member, {MARK_SQL}))"
    if type_ == "jsonb":
        return f"(jsonb_typeof({column}) = 'string' AND starts_with({column} #>> '{{}}', {MARK_SQL}))"
    return f"starts_with({column}, {MARK_SQL})"


def stored_text_sql(column: str, type_: str) -> str:
    """Return the SQL expression of the sealed text of a column, or its text or JSON text if it is not sealed.

    Of an array it is the JSON text of the array, whose members are sealed or not.
    """
    if type_ == "text[]":
        return f"to_json({column})::text"
    return (
        f"CASE WHEN {sealed_sql(column, type_)} THEN {column} #>> '{{}}' ELSE {column}::text END"
        if type_ == "jsonb"
        else column
    )


def written_octets_sql(column: str) -> str:
    """Return the SQL expression of the size in bytes of a text as it was written; {column} is text."""
    sealed = (
        f"(octet_length({column}) - {MARK_BYTES}) / 4 * 3 - octet_length({column}) + octet_length(rtrim({column}, '='))"
    )
    return (
        f"CASE WHEN starts_with({column}, {MARK_SQL}) THEN {sealed} - {OVERHEAD_BYTES} ELSE octet_length({column}) END"
    )


def records_owner_sql(agent: str) -> str:
    """Return the SQL expression of `config.keys.sealed_texts.records_owner` of the agent in a column."""
    return f"md5('records:' || {agent}::text)::uuid"


REFUSE_PLAIN_TEXT = """
CREATE FUNCTION refuse_plain_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('dossier.erasing', true) = 'spellings' THEN
        RETURN NEW;  -- an erasure replaces a part of a text that was stored in plain before there were sealed ones
    END IF;
    RAISE EXCEPTION 'a text of % is above internal and not sealed', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;
"""


def seals_columns(
    table: str, columns: Mapping[str, str], *, in_tiers: bool = False, names: Mapping[str, str] | None = None
) -> migrations.RunSQL:
    """Return triggers by which a table refuses rows above internal with texts in these columns that are not sealed.

    `columns` and `names` have types, `text`, `text[]` or `jsonb`; names are never packed. Texts that were
    stored in plain before stay until `seal_texts` seals them.
    The triggers come after those that raise rows: triggers of one kind are executed in the order of their names. With
    `in_tiers`, a text in the first column that is packed or frozen cannot be raised: it is stored as it was written
    first.
    """
    both = {**columns, **(names or {})}
    written = " OR ".join(plain_sql(column, type_, "NEW.") for column, type_ in both.items())
    changed = " OR ".join(
        f"({plain_sql(column, type_, 'NEW.')} AND (OLD.sensitivity <= 1 OR NEW.{column} IS DISTINCT FROM OLD.{column}))"
        for column, type_ in both.items()
    )
    if in_tiers:
        changed += f" OR (OLD.sensitivity <= 1 AND NEW.{next(iter(columns))} IS NULL)"
    create = f"""
        CREATE TRIGGER {table}_written_sealed BEFORE INSERT ON {table}
            FOR EACH ROW WHEN (NEW.sensitivity > 1 AND ({written})) EXECUTE FUNCTION refuse_plain_text();
        CREATE TRIGGER {table}_wants_sealed BEFORE UPDATE ON {table}
            FOR EACH ROW WHEN (NEW.sensitivity > 1 AND ({changed})) EXECUTE FUNCTION refuse_plain_text();
    """
    drop = f"DROP TRIGGER {table}_written_sealed ON {table}; DROP TRIGGER {table}_wants_sealed ON {table};"
    return migrations.RunSQL(create, drop)


def replaced(former: migrations.RunSQL, present: migrations.RunSQL) -> list[migrations.RunSQL]:
    """Return the operations that drop what the first one created, and create the second one."""
    return [migrations.RunSQL(former.reverse_sql or "", former.sql), present]


def seals_versions(table: str, versions: str, columns: Sequence[str] = ("content",)) -> migrations.RunSQL:
    """Return a trigger by which a row is not raised above internal while a version of it has a text that is not
    sealed.
    """
    plain = " OR ".join(plain_sql(column, "text") for column in columns)
    create = f"""
        CREATE FUNCTION {table}_wants_sealed_versions() RETURNS trigger LANGUAGE plpgsql
        SET search_path = public, pg_temp AS $$
        BEGIN
            IF EXISTS (SELECT FROM {versions} WHERE file_id = NEW.id AND ({plain})) THEN
                RAISE EXCEPTION 'a version of % is above internal and not sealed', TG_TABLE_NAME
                    USING ERRCODE = 'check_violation';
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER {table}_wants_sealed_versions AFTER UPDATE OF sensitivity ON {table}
            FOR EACH ROW WHEN (NEW.sensitivity > 1 AND OLD.sensitivity <= 1)
            EXECUTE FUNCTION {table}_wants_sealed_versions();
    """
    drop = f"""
        DROP TRIGGER {table}_wants_sealed_versions ON {table};
        DROP FUNCTION {table}_wants_sealed_versions();
    """
    return migrations.RunSQL(create, drop)
