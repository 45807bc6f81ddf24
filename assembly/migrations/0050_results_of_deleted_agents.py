"""Sealed results of recall tests for an agent that is deleted can be deleted, so that their key can be destroyed."""

from django.db import migrations

DELETE_RESULTS = """
CREATE FUNCTION prune_sealed_results(of_agent uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone integer;
BEGIN
    IF EXISTS (SELECT FROM agents WHERE id = of_agent) THEN
        RAISE EXCEPTION 'the agent % is not deleted', of_agent USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM recall_results WHERE agent_id = of_agent AND jsonb_typeof(outcomes) = 'string';
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION prune_sealed_results(uuid) FROM PUBLIC;
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0049_keys_of_erasures")]

    operations = [migrations.RunSQL(DELETE_RESULTS, "DROP FUNCTION prune_sealed_results(uuid)")]
