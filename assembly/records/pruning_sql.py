"""Two database functions delete records: only with their hashes stored, and only what is no longer needed.

The app's role may call these functions and cannot delete a record in any other way. `prunings` says what they deleted.
"""

# `prunings` lists the records in the order in which they were sealed, with the hashes from their seals.
CREATE_PRUNE_ASSEMBLIES = """
CREATE FUNCTION prune_assemblies(
    pruning uuid, ids uuid[], of_team uuid, after_days integer, flagged_stay boolean, by_ref text
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    leaving uuid[];
    their_hashes bytea;
BEGIN
    IF after_days < 1 THEN
        RAISE EXCEPTION 'records are kept for a day at least';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('dossier seals'));
    SELECT array_agg(old.id) INTO leaving FROM assemblies AS old
        WHERE old.id = ANY(ids) AND old.created < now() - make_interval(days => after_days)
        AND EXISTS (SELECT FROM seals WHERE seals.assemblies @> ARRAY[old.id])
        AND NOT EXISTS (SELECT FROM new_assemblies WHERE assembly = old.id)
        AND NOT (flagged_stay AND EXISTS (SELECT FROM assembly_flags WHERE assembly = old.id));
    -- One whose body another shares goes with the last of these.
    SELECT array_agg(one) INTO leaving FROM unnest(leaving) AS one
        WHERE NOT EXISTS (SELECT FROM assemblies WHERE decided_in = one AND id <> ALL(leaving));
    IF leaving IS NULL THEN
        RETURN 0;
    END IF;
    SELECT array_agg(one ORDER BY number, place),
           string_agg(substr(hashes, (place::integer - 1) * 32 + 1, 32), '' ORDER BY number, place)
        INTO leaving, their_hashes
        FROM seals, unnest(assemblies) WITH ORDINALITY AS sealed (one, place)
        WHERE assemblies && leaving AND one = ANY(leaving);
    INSERT INTO unused_pieces (piece)
        SELECT DISTINCT unnest(told || omitted) FROM assemblies WHERE id = ANY(leaving) ON CONFLICT DO NOTHING;
    DELETE FROM assembly_flags WHERE assembly = ANY(leaving);
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM assemblies WHERE id = ANY(leaving);
    PERFORM set_config('dossier.erasing', 'off', true);
    INSERT INTO prunings (id, created, team_id, days, keep_flagged, by_ref, assemblies, hashes)
        VALUES (pruning, now(), of_team, after_days, flagged_stay, by_ref, leaving, their_hashes);
    RETURN cardinality(leaving);
END $$;
REVOKE ALL ON FUNCTION prune_assemblies(uuid, uuid[], uuid, integer, boolean, text) FROM PUBLIC;
"""

# A statement that writes a record locks the table before it looks up the pieces. So either its record is visible here,
# or it sees that the piece was deleted and sends the piece again.
CREATE_PRUNE_UNUSED = """
CREATE FUNCTION prune_unused(asked bigint[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    leaving bigint[];
    their_texts bytea[];
BEGIN
    LOCK TABLE assemblies IN SHARE MODE;
    SELECT array_agg(one) INTO leaving FROM unnest(asked) AS one
        WHERE NOT EXISTS (SELECT FROM assemblies WHERE told @> ARRAY[one])
        AND NOT EXISTS (SELECT FROM assemblies WHERE omitted @> ARRAY[one]);
    PERFORM set_config('dossier.erasing', 'on', true);
    WITH gone AS (DELETE FROM pieces WHERE id = ANY(leaving) RETURNING text_sha256)
        SELECT array_agg(DISTINCT text_sha256) INTO their_texts FROM gone;
    DELETE FROM stored_texts WHERE sha256 = ANY(their_texts)
        AND NOT EXISTS (SELECT FROM pieces WHERE pieces.text_sha256 = stored_texts.sha256);
    PERFORM set_config('dossier.erasing', 'off', true);
    DELETE FROM unused_pieces WHERE piece = ANY(asked);
    RETURN coalesce(cardinality(leaving), 0);
END $$;
REVOKE ALL ON FUNCTION prune_unused(bigint[]) FROM PUBLIC;
"""
CREATE_PRUNING = CREATE_PRUNE_ASSEMBLIES + CREATE_PRUNE_UNUSED
DROP_PRUNING = """
DROP FUNCTION prune_assemblies(uuid, uuid[], uuid, integer, boolean, text);
DROP FUNCTION prune_unused(bigint[]);
"""
