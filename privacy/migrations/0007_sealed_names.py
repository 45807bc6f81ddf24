"""Erasures change sealed names, too, which may lie in lists."""

from importlib import import_module

from django.db import migrations

from config.db.sealed_columns import MARK_SQL

SEALED_TEXTS = import_module("privacy.migrations.0005_sealed_texts")

# As before, and with lists of texts, of which all are sealed or none. They are given as JSON.
ERASE_SEALED_TEXTS = f"""
CREATE OR REPLACE FUNCTION erase_sealed_texts(
    erasing uuid, place text, name text, keys text[], texts text[], hashes text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    kind text;
    also text := '';
    changed bigint;
    one record;
BEGIN
    PERFORM require_running_erasure(erasing);
    SELECT format_type(atttypid, atttypmod) INTO kind FROM pg_attribute
        WHERE attrelid = format('public.%I', place)::regclass AND attname = name AND attnum > 0 AND NOT attisdropped;
    IF place = 'subject_erasures' OR kind NOT IN ('text', 'text[]', 'jsonb') THEN
        RAISE EXCEPTION 'this place is refused';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(texts) AS given, LATERAL (
            SELECT given AS text WHERE kind = 'text'
            UNION ALL SELECT given::jsonb #>> '{{}}' WHERE kind = 'jsonb'
            UNION ALL SELECT jsonb_array_elements_text(given::jsonb) WHERE kind = 'text[]'
        ) AS member WHERE NOT starts_with(member.text, {MARK_SQL}) AND given <> ''
    ) THEN
        RAISE EXCEPTION 'only sealed texts can replace sealed ones';
    END IF;
    FOR one IN
        SELECT attname FROM pg_attribute WHERE attrelid = format('public.%I', place)::regclass AND NOT attisdropped
            AND attname IN ('sha256', 'embedding', 'embedding_model', 'second_embedding', 'second_embedding_model')
    LOOP
        IF one.attname = 'sha256' AND name = 'content' THEN
            also := also || ', sha256 = given.hash';
        ELSIF one.attname LIKE '%embedding' THEN
            also := also || format(', %I = NULL', one.attname);
        ELSIF one.attname LIKE '%model' THEN
            also := also || format(', %I = ''''', one.attname);
        END IF;
    END LOOP;
    PERFORM set_config('dossier.erasing', 'spellings', true);
    EXECUTE format('UPDATE %1$I AS changed SET %2$I = %3$s%4$s'
        ' FROM unnest($1, $2, $3) AS given (key, text, hash) WHERE changed.id::text = given.key'
        ' AND starts_with(changed.%2$I %5$s, $4)',
        place, name, CASE WHEN kind = 'text[]' THEN 'ARRAY(SELECT jsonb_array_elements_text(given.text::jsonb))'
            ELSE 'given.text::' || kind END, also,
        CASE kind WHEN 'jsonb' THEN '#>> ''{{}}''' WHEN 'text[]' THEN '[1]' ELSE '' END)
        USING keys, texts, hashes, {MARK_SQL};
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
"""  # noqa: S608 - only the constant above is put in
FORMER = f"DROP FUNCTION erase_sealed_rows(uuid, text, text[]); {SEALED_TEXTS.FUNCTIONS}".replace(
    "CREATE FUNCTION erase_sealed_texts", "CREATE OR REPLACE FUNCTION erase_sealed_texts"
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0031_sealed_names"), ("privacy", "0006_erasures_in_partitions")]

    operations = [migrations.RunSQL(ERASE_SEALED_TEXTS, FORMER)]
