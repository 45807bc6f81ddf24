"""Names of recall tests, alerts, reasons of decisions on conflicts, and facts of pieces are sealed above internal.

What is stored in plain stays as it is: `manage.py seal_texts` seals it. Turned back, this refuses to run while there
are sealed texts, because the former version cannot read them.
"""

from importlib import import_module
from typing import Any

from django.db import migrations, models

from config.db.sealed_columns import MARK_SQL, plain_sql, replaced, sealed_sql, seals_columns

RAISED_LEVELS = import_module("assembly.migrations.0040_raised_levels")
SEALED_TOPICS = import_module("assembly.migrations.0045_sealed_topics")
TEST = {"topic": "text", "expectations": "jsonb"}
NAMED_TEST = {"name": "text", **TEST}
ALERT = {"name": "text", "detail": "jsonb"}
SEALED = {
    "recall_tests": {"name": "text"},
    "alerts": ALERT,
    "conflict_decisions": {"reason": "text"},
    "activities": {"target": "text", "detail": "jsonb"},
    "pieces": {"facts": "jsonb"},
}

# The role of the app changes no record. It may seal one, whose hash is of what it said as it was written.
SEALING = f"""
DROP FUNCTION seal_records(text, uuid[], text[]);
CREATE FUNCTION seal_records(place text, name text, ids text[], texts text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    kind text := CASE place || '.' || name
        WHEN 'assemblies.topic' THEN 'text'
        WHEN 'recall_results.outcomes' THEN 'jsonb'
        WHEN 'pieces.facts' THEN 'jsonb'
        WHEN 'activities.target' THEN 'text'
        WHEN 'activities.detail' THEN 'jsonb'
        WHEN 'conflict_decisions.reason' THEN 'text'
    END;
    key text := CASE place WHEN 'pieces' THEN 'bigint' ELSE 'uuid' END;
    is_plain text;
    changed integer;
BEGIN
    IF kind IS NULL THEN
        RAISE EXCEPTION 'nothing of % can be sealed in %', place, name;
    END IF;
    IF EXISTS (SELECT FROM unnest(texts) AS given WHERE NOT starts_with(
        CASE kind WHEN 'jsonb' THEN given::jsonb #>> '{{}}' ELSE given END, {MARK_SQL})) THEN
        RAISE EXCEPTION 'only sealed texts can replace those of records';
    END IF;
    is_plain := CASE kind
        WHEN 'jsonb' THEN format('NOT (jsonb_typeof(%1$I) = ''string'' AND starts_with(%1$I #>> ''{{}}'', $3))', name)
        ELSE format('NOT starts_with(%I, $3)', name)
    END;
    PERFORM set_config('dossier.erasing', 'spellings', true);
    EXECUTE format('UPDATE %1$I AS record SET %2$I = given.stored::%3$s'
        ' FROM unnest($1::%4$s[], $2) AS given (of, stored) WHERE record.id = given.of AND %5$s',
        place, name, kind, key, is_plain) USING ids, texts, {MARK_SQL};
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION seal_records(text, text, text[], text[]) FROM PUBLIC;
"""  # noqa: S608 - only constants are put in
FORMER_SEALING = f"DROP FUNCTION seal_records(text, text, text[], text[]); {SEALED_TOPICS.SEALING}"
# The statements are composed anew for each item, because indexes answer LIKE for constant patterns alone; the
# conditions are those of the indexes `piece_chunk` and `piece_file_passage`.
PIECES_OF = f"""
CREATE FUNCTION pieces_of(item uuid) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
    found_pieces bigint[];
    more bigint[];
    of_file text;
BEGIN
    SELECT array_agg(id) INTO found_pieces FROM pieces WHERE named = ANY(ARRAY[{RAISED_LEVELS.NAMES}]);
    EXECUTE format(
        'SELECT array_agg(id) FROM pieces WHERE named LIKE ''chunk:%%'' AND named LIKE %L', 'chunk:' || item || '@%'
    ) INTO more;
    found_pieces := found_pieces || more;
    FOREACH of_file IN ARRAY ARRAY['agent_file', 'team_file', 'organisation_file', 'daily_log'] LOOP
        EXECUTE format(
            'SELECT array_agg(id) FROM pieces WHERE named LIKE ''%%@%%#%%'' AND named NOT LIKE ''chunk:%%'''
            ' AND named LIKE %L', of_file || ':' || item || '@%'
        ) INTO more;
        found_pieces := found_pieces || more;
    END LOOP;
    RETURN found_pieces;
END $$;
"""  # noqa: S608 - only constants are put in
# A decision has the level of its conflict.
DECISIONS = f"""
CREATE FUNCTION refuse_plain_decision() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF (SELECT sensitivity FROM conflicts WHERE id = NEW.conflict_id) > 1 THEN
        RAISE EXCEPTION 'a text of % is above internal and not sealed', TG_TABLE_NAME USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER conflict_decisions_written_sealed BEFORE INSERT ON conflict_decisions
    FOR EACH ROW WHEN ({plain_sql("reason", "text", "NEW.")}) EXECUTE FUNCTION refuse_plain_decision();
CREATE FUNCTION conflicts_want_sealed_decisions() RETURNS trigger LANGUAGE plpgsql
SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM conflict_decisions WHERE conflict_id = NEW.id AND {plain_sql("reason", "text")}) THEN
        RAISE EXCEPTION 'a decision on % is above internal and not sealed', TG_TABLE_NAME
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER conflicts_want_sealed_decisions AFTER UPDATE OF sensitivity ON conflicts
    FOR EACH ROW WHEN (NEW.sensitivity > 1 AND OLD.sensitivity <= 1)
    EXECUTE FUNCTION conflicts_want_sealed_decisions();
"""  # noqa: S608 - only constants are put in
NO_DECISIONS = """
DROP TRIGGER conflicts_want_sealed_decisions ON conflicts;
DROP FUNCTION conflicts_want_sealed_decisions();
DROP TRIGGER conflict_decisions_written_sealed ON conflict_decisions;
DROP FUNCTION refuse_plain_decision();
"""


def refuse_while_sealed(_apps: Any, editor: Any) -> None:
    """Refuse to go back while a text is sealed."""
    with editor.connection.cursor() as cursor:
        for table, columns in SEALED.items():
            for column, type_ in columns.items():
                cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE {sealed_sql(column, type_)})")  # noqa: S608
                if cursor.fetchone()[0]:
                    raise RuntimeError(f"{table} has sealed texts, which the former version cannot read.")


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0047_keys_of_deleted_owners"),
        ("memories", "0032_sealed_reasons"),
        ("teams", "0039_sealed_titles"),
    ]

    operations = [
        migrations.AlterField("alert", "name", models.TextField(max_length=200)),
        migrations.AlterField("conflictdecision", "reason", models.TextField(blank=True, default="", max_length=1000)),
        migrations.AlterField("recalltest", "name", models.TextField(max_length=120)),
        migrations.RunSQL(SEALING, FORMER_SEALING),
        migrations.RunSQL(PIECES_OF, "DROP FUNCTION pieces_of(uuid)"),
        migrations.RunSQL(DECISIONS, NO_DECISIONS),
        *replaced(seals_columns("recall_tests", TEST), seals_columns("recall_tests", NAMED_TEST)),
        seals_columns("alerts", ALERT),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_sealed),
    ]
