"""The database functions by which erasures change history; the role of the app can do it in no other way.

Each of them refuses to work unless the erasure that is named is running. Its row in `subject_erasures` cannot be
deleted, so there is always a trace. Texts become `[erased]` in part or whole; no other text can be written.

- `erase_spellings` replaces what a pattern matches in the text, JSON and array columns of a table. Hashes of texts in
  the row are computed again, and its vectors are removed.
- `erase_rows` deletes rows in which the pattern matches, `erase_things` rows by their ids.
- `erase_record_parts` deletes pieces of records with texts that no other piece has, and empties columns of records.
"""

from assembly.models.assembly import EMPTIED_BODY, ERASED

# As `refuse_change` of `config.db.migration_helpers`, which `erase_spellings` and `erase_record_parts` pass as well.
CREATE_REFUSAL = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    table_owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID);
    allowed text := current_setting('dossier.erasing', true);
BEGIN
    -- Only inside the audited functions is the current user the owner while the setting is on; the app's role can set
    -- the setting, but not become the owner.
    IF TG_OP = 'DELETE' AND current_user = table_owner AND allowed = 'on' THEN
        RETURN OLD;
    END IF;
    IF TG_OP = 'UPDATE' AND current_user = table_owner AND allowed = 'spellings' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% keeps history: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
"""
FORMER_REFUSAL = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    table_owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID);
BEGIN
    IF TG_OP = 'DELETE' AND current_user = table_owner AND current_setting('dossier.erasing', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% keeps history: % is refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
"""

# An erasure that began can only go on; one that is finished is proof.
CREATE_ERASURE_GUARD = """
CREATE FUNCTION keep_subject_erasures() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR OLD.state = 'finished' THEN
        RAISE EXCEPTION 'subject_erasures keeps history: % is refused', TG_OP
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER subject_erasures_keeps_rows BEFORE UPDATE OR DELETE ON subject_erasures
    FOR EACH ROW EXECUTE FUNCTION keep_subject_erasures();
CREATE TRIGGER subject_erasures_keeps_all BEFORE TRUNCATE ON subject_erasures
    FOR EACH STATEMENT EXECUTE FUNCTION keep_subject_erasures();
CREATE FUNCTION require_running_erasure(erasing uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM subject_erasures WHERE id = erasing AND state = 'running') THEN
        RAISE EXCEPTION 'the erasure % is not running', erasing USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;
"""

CREATE_REPLACEMENTS = f"""
CREATE FUNCTION erased_text(value text, pattern text, note text DEFAULT '{ERASED}') RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT regexp_replace(value, pattern, note, 'gi') $$;
CREATE FUNCTION erased_json(value jsonb, pattern text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    CASE jsonb_typeof(value)
        WHEN 'string' THEN RETURN to_jsonb(erased_text(value #>> '{{}}', pattern));
        WHEN 'number' THEN
            RETURN CASE WHEN value #>> '{{}}' ~* pattern THEN to_jsonb('{ERASED}'::text) ELSE value END;
        WHEN 'array' THEN
            RETURN (SELECT coalesce(jsonb_agg(erased_json(item, pattern) ORDER BY place), '[]')
                FROM jsonb_array_elements(value) WITH ORDINALITY AS one (item, place));
        WHEN 'object' THEN
            RETURN (SELECT coalesce(jsonb_object_agg(erased_text(key, pattern), erased_json(item, pattern)), '{{}}')
                FROM jsonb_each(value) AS one (key, item));
        ELSE RETURN value;
    END CASE;
END $$;
"""  # noqa: S608 - only constants are put in

# `condition` is what finds a column's rows, `replaced` its new value; $1 is the pattern, $2 the looser one for JSON
# text, where a line break is two characters. %1$I is the column, %2$s its type.
CREATE_COLUMN_EXPRESSIONS = """
CREATE FUNCTION erasure_columns(place text, names text[], OUT conditions text, OUT replacements text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    one record;
    condition text;
    replaced text;
BEGIN
    FOR one IN
        SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
        WHERE attrelid = format('public.%I', place)::regclass AND attname = ANY(names) AND attnum > 0
            AND NOT attisdropped AND attgenerated = ''
    LOOP
        IF one.type = 'jsonb' THEN
            condition := format('(%1$I::text ~* $2 AND erased_json(%1$I, $1) <> %1$I)', one.attname);
            replaced := format('erased_json(%1$I, $1)', one.attname);
        ELSIF one.type LIKE '%[]' THEN
            condition := format('EXISTS (SELECT FROM unnest(%1$I) AS item WHERE item ~* $1)', one.attname);
            replaced := format('(SELECT coalesce(array_agg(erased_text(item, $1) ORDER BY at), ''{}'')'
                ' FROM unnest(%1$I) WITH ORDINALITY AS of (item, at))::%2$s', one.attname, one.type);
        ELSE
            condition := format('(%1$I ~* $1)', one.attname);
            replaced := format('erased_text(%1$I, $1, $4)::%2$s', one.attname, one.type);
        END IF;
        conditions := concat_ws(' OR ', conditions, condition);
        replacements := concat_ws(', ', replacements, format('%I = %s', one.attname, replaced));
    END LOOP;
END $$;
"""

# Reading needs no right beyond those of the caller.
CREATE_SEARCHES = """
CREATE FUNCTION keys_with_spellings(
    place text, names text[], pattern text, loose text, thing text, spared text[]
) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
DECLARE
    key name := (SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE indrelid = format('public.%I', place)::regclass AND indisprimary);
BEGIN
    RETURN QUERY EXECUTE format('SELECT %I::text FROM %I WHERE (%s) AND NOT coalesce(%I::text = ANY($3), false)',
        key, place, (erasure_columns(place, names)).conditions, thing) USING pattern, loose, spared;
END $$;
CREATE FUNCTION count_spellings(
    place text, names text[], pattern text, loose text, thing text, spared text[]
) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM keys_with_spellings(place, names, pattern, loose, thing, spared)
$$;
"""

CREATE_ERASE_SPELLINGS = f"""
CREATE OR REPLACE FUNCTION erase_spellings(
    erasing uuid, place text, names text[], pattern text, loose text, thing text, spared text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    found record;
    also text := '';
    chosen text;
    changed bigint;
    one record;
BEGIN
    PERFORM require_running_erasure(erasing);
    IF '' ~* pattern OR place = 'subject_erasures' THEN
        RAISE EXCEPTION 'this pattern or place is refused';
    END IF;
    SELECT * INTO found FROM erasure_columns(place, names);
    -- What follows from the text: its hash in a version, and vectors, which a job computes again.
    FOR one IN
        SELECT attname FROM pg_attribute WHERE attrelid = format('public.%I', place)::regclass AND NOT attisdropped
            AND attname IN ('sha256', 'embedding', 'embedding_model', 'second_embedding', 'second_embedding_model')
    LOOP
        IF one.attname = 'sha256' AND 'content' = ANY(names) THEN
            also := also || ', sha256 = encode(sha256(convert_to(erased_text(content, $1), ''UTF8'')), ''hex'')';
        ELSIF one.attname LIKE '%embedding' THEN
            also := also || format(', %I = NULL', one.attname);
        ELSIF one.attname LIKE '%model' THEN
            also := also || format(', %I = ''''', one.attname);
        END IF;
    END LOOP;
    chosen := format('(%s) AND NOT coalesce(%I::text = ANY($3), false)', found.conditions, thing);
    PERFORM set_config('dossier.erasing', 'spellings', true);
    BEGIN
        EXECUTE format('UPDATE %I SET %s%s WHERE %s', place, found.replacements, also, chosen)
            USING pattern, loose, spared, '{ERASED}';
        GET DIAGNOSTICS changed = ROW_COUNT;
    EXCEPTION WHEN unique_violation THEN
        -- Two names become the same, where names are unique: each gets a note of its own.
        changed := 0;
        FOR one IN EXECUTE format('SELECT ctid, tableoid FROM %I WHERE %s', place, chosen)
            USING pattern, loose, spared
        LOOP
            EXECUTE format('UPDATE %I SET %s%s WHERE ctid = $5 AND tableoid = $6', place, found.replacements, also)
                USING pattern, loose, spared, '[erased ' || left(gen_random_uuid()::text, 8) || ']', one.ctid,
                    one.tableoid;
            changed := changed + 1;
        END LOOP;
    END;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION erase_spellings(uuid, text, text[], text, text, text, text[]) FROM PUBLIC;
"""  # noqa: S608 - only constants are put in

CREATE_ERASE_ROWS = """
CREATE FUNCTION erase_rows(
    erasing uuid, place text, names text[], pattern text, loose text, thing text, spared text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    found record;
    gone bigint;
BEGIN
    PERFORM require_running_erasure(erasing);
    IF '' ~* pattern OR place = 'subject_erasures' THEN
        RAISE EXCEPTION 'this pattern or place is refused';
    END IF;
    SELECT * INTO found FROM erasure_columns(place, names);
    PERFORM set_config('dossier.erasing', 'on', true);
    EXECUTE format('DELETE FROM %I WHERE (%s) AND NOT coalesce(%I::text = ANY($3), false)',
        place, found.conditions, thing) USING pattern, loose, spared;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION erase_rows(uuid, text, text[], text, text, text, text[]) FROM PUBLIC;
CREATE FUNCTION erase_things(erasing uuid, place text, ids uuid[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM require_running_erasure(erasing);
    IF place NOT IN ('memories', 'events', 'entities', 'relations', 'patterns', 'documents', 'threads', 'tools',
        'task_frames', 'sessions', 'daily_logs', 'organisation_files') THEN
        RAISE EXCEPTION 'nothing of % can be erased as a whole', place;
    END IF;
    PERFORM set_config('dossier.erasing', 'on', true);
    EXECUTE format('DELETE FROM %I WHERE id = ANY($1)', place) USING ids;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION erase_things(uuid, text, uuid[]) FROM PUBLIC;
"""

CREATE_ERASE_RECORD_PARTS = f"""
CREATE FUNCTION erase_record_parts(
    erasing uuid, gone_pieces bigint[], topics uuid[], bodies uuid[], agents uuid[], teams uuid[], requesters uuid[]
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    their_texts bytea[];
    gone integer;
BEGIN
    PERFORM require_running_erasure(erasing);
    IF EXISTS (SELECT FROM new_assemblies WHERE assembly = ANY(topics || bodies || agents || teams || requesters)) THEN
        RAISE EXCEPTION 'a record that is not sealed yet cannot be changed'
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM set_config('dossier.erasing', 'on', true);
    WITH deleted AS (DELETE FROM pieces WHERE id = ANY(gone_pieces) RETURNING text_sha256)
        SELECT array_agg(DISTINCT text_sha256), count(*) INTO their_texts, gone FROM deleted;
    DELETE FROM stored_texts WHERE sha256 = ANY(their_texts)
        AND NOT EXISTS (SELECT FROM pieces WHERE pieces.text_sha256 = stored_texts.sha256);
    DELETE FROM unused_pieces WHERE piece = ANY(gone_pieces);
    PERFORM set_config('dossier.erasing', 'spellings', true);
    UPDATE assemblies SET
        topic = CASE WHEN id = ANY(topics) THEN '{ERASED}' ELSE topic END,
        body = CASE WHEN id = ANY(bodies) THEN '\\x{EMPTIED_BODY.hex()}'::bytea ELSE body END,
        agent_name = CASE WHEN id = ANY(agents) THEN '{ERASED}' ELSE agent_name END,
        team_name = CASE WHEN id = ANY(teams) THEN '{ERASED}' ELSE team_name END,
        requester_name = CASE WHEN id = ANY(requesters) THEN '{ERASED}' ELSE requester_name END
        WHERE id = ANY(topics || bodies || agents || teams || requesters);
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION
    erase_record_parts(uuid, bigint[], uuid[], uuid[], uuid[], uuid[], uuid[]) FROM PUBLIC;
"""  # noqa: S608 - only constants are put in

CREATE_ERASE_SUBJECT_VERSIONS = f"""
CREATE FUNCTION erase_subject_versions(erasing uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed bigint;
BEGIN
    PERFORM require_running_erasure(erasing);
    PERFORM set_config('dossier.erasing', 'spellings', true);
    UPDATE subject_versions SET name = '{ERASED}', note = '', identifiers = '[]'
        WHERE subject_id = (SELECT one.subject_id FROM subject_erasures AS one WHERE one.id = erasing)
        AND (name <> '{ERASED}' OR note <> '' OR identifiers <> '[]');
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION erase_subject_versions(uuid) FROM PUBLIC;
"""  # noqa: S608 - only constants are put in

CREATE_FUNCTIONS = (
    CREATE_REFUSAL
    + CREATE_ERASURE_GUARD
    + CREATE_REPLACEMENTS
    + CREATE_COLUMN_EXPRESSIONS
    + CREATE_SEARCHES
    + CREATE_ERASE_SPELLINGS
    + CREATE_ERASE_ROWS
    + CREATE_ERASE_RECORD_PARTS
    + CREATE_ERASE_SUBJECT_VERSIONS
)
DROP_FUNCTIONS = f"""
DROP FUNCTION erase_subject_versions(uuid);
DROP FUNCTION erase_record_parts(uuid, bigint[], uuid[], uuid[], uuid[], uuid[], uuid[]);
DROP FUNCTION erase_things(uuid, text, uuid[]);
DROP FUNCTION erase_rows(uuid, text, text[], text, text, text, text[]);
DROP FUNCTION erase_spellings(uuid, text, text[], text, text, text, text[]);
DROP FUNCTION count_spellings(text, text[], text, text, text, text[]);
DROP FUNCTION keys_with_spellings(text, text[], text, text, text, text[]);
DROP FUNCTION erasure_columns(text, text[]);
DROP FUNCTION erased_json(jsonb, text);
DROP FUNCTION erased_text(text, text, text);
DROP TRIGGER subject_erasures_keeps_rows ON subject_erasures;
DROP TRIGGER subject_erasures_keeps_all ON subject_erasures;
DROP FUNCTION keep_subject_erasures();
DROP FUNCTION require_running_erasure(uuid);
{FORMER_REFUSAL}
"""
