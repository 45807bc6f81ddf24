"""Erasures change sealed texts, which are searched outside of the database, by two functions of it."""

from django.db import migrations

from config.db.sealed_columns import MARK_SQL

# Both refuse to work unless the erasure is running. A text is replaced by a sealed one alone.
FUNCTIONS = f"""
CREATE FUNCTION erase_sealed_texts(
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
    IF place = 'subject_erasures' OR kind NOT IN ('text', 'jsonb') THEN
        RAISE EXCEPTION 'this place is refused';
    END IF;
    IF EXISTS (SELECT FROM unnest(texts) AS given WHERE NOT starts_with(
        CASE WHEN kind = 'jsonb' THEN given::jsonb #>> '{{}}' ELSE given END, {MARK_SQL}) AND given <> '') THEN
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
    EXECUTE format('UPDATE %1$I AS changed SET %2$I = given.text::%3$s%4$s'
        ' FROM unnest($1, $2, $3) AS given (key, text, hash) WHERE changed.id::text = given.key'
        ' AND starts_with(changed.%2$I %5$s, $4)',
        place, name, kind, also, CASE WHEN kind = 'jsonb' THEN '#>> ''{{}}''' ELSE '' END)
        USING keys, texts, hashes, {MARK_SQL};
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION erase_sealed_texts(uuid, text, text, text[], text[], text[]) FROM PUBLIC;
CREATE FUNCTION erase_sealed_rows(erasing uuid, place text, keys text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM require_running_erasure(erasing);
    IF place NOT IN ('chunks', 'file_passages', 'text_levels') THEN
        RAISE EXCEPTION 'nothing of % can be erased by its keys', place;
    END IF;
    PERFORM set_config('dossier.erasing', 'on', true);
    EXECUTE format('DELETE FROM %I WHERE id::text = ANY($1) AND starts_with(text, $2)', place) USING keys, {MARK_SQL};
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION erase_sealed_rows(uuid, text, text[]) FROM PUBLIC;
"""  # noqa: S608 - only the constant above is put in
DROP_FUNCTIONS = """
DROP FUNCTION erase_sealed_rows(uuid, text, text[]);
DROP FUNCTION erase_sealed_texts(uuid, text, text, text[], text[], text[]);
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0026_sealed_texts"), ("privacy", "0004_repeated_erasures")]

    operations = [migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS)]
