"""Pruning leaves the records and the lines of both logs of whatever a legal hold protects."""

from django.db import migrations

from assembly.records.pruning_sql import CREATE_PRUNE_ASSEMBLIES

# A hold on an agent or a team protects its records, one on a subject those that name the subject itself.
CREATE_HELD_RECORD = """
CREATE FUNCTION is_held(record uuid, of_agent uuid, of_team uuid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM legal_holds AS hold WHERE lifted_at IS NULL AND CASE kind
            WHEN 'agent' THEN target = of_agent
            WHEN 'team' THEN target = of_team
            ELSE EXISTS (
                SELECT FROM subject_mentions
                WHERE subject_id = hold.target AND thing = record AND status <> 'dismissed'
            ) END
    )
$$;
"""
IN_PRUNING = "        AND NOT (flagged_stay AND EXISTS (SELECT FROM assembly_flags WHERE assembly = old.id));"
HELD_IN_PRUNING = IN_PRUNING.removesuffix(";") + "\n        AND NOT is_held(old.id, old.agent_id, old.team_id);"
assert CREATE_PRUNE_ASSEMBLIES.count(IN_PRUNING) == 1  # noqa: S101 - it would not be held otherwise


def replaced(text: str) -> str:
    """Return the statement that creates a function as one that replaces it."""
    return text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


def pruning_of(table: str, held: str) -> str:
    """Return the function that prunes the lines of a log, without those for which the condition holds."""
    return f"""
CREATE OR REPLACE FUNCTION prune_{table}(days integer, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone integer;
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM {table} WHERE id IN (
        SELECT id FROM {table} AS old WHERE created < now() - make_interval(days => greatest(days, 30)) {held}
        ORDER BY created LIMIT most
    );
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
"""  # noqa: S608 - only the constants below are put in


READING_HELD = """
    AND NOT EXISTS (
        SELECT FROM legal_holds AS hold WHERE lifted_at IS NULL AND CASE kind
            WHEN 'agent' THEN target = old.agent_id
            WHEN 'team' THEN target = ANY(old.team_ids)
            ELSE EXISTS (
                SELECT FROM subject_mentions
                WHERE subject_id = hold.target AND thing = ANY(old.things) AND status <> 'dismissed'
            ) END
    )
"""
# An entry has the ids of teams alone: those of the teams of an agent are about the agent, or may be.
ACTIVITY_HELD = """
    AND NOT EXISTS (
        SELECT FROM legal_holds AS hold WHERE lifted_at IS NULL AND CASE kind
            WHEN 'agent' THEN EXISTS (
                SELECT FROM agent_teams WHERE agent_id = hold.target AND team_id = ANY(old.team_ids)
            )
            WHEN 'team' THEN target = ANY(old.team_ids)
            ELSE old.target = 'subject:' || hold.target END
    )
"""


class Migration(migrations.Migration):
    dependencies = [
        ("privacy", "0007_sealed_names"),
        ("teams", "0040_activity_origins"),
        ("assembly", "0047_keys_of_deleted_owners"),
    ]

    operations = [
        migrations.RunSQL(CREATE_HELD_RECORD, "DROP FUNCTION is_held(uuid, uuid, uuid);"),
        migrations.RunSQL(
            replaced(CREATE_PRUNE_ASSEMBLIES).replace(IN_PRUNING, HELD_IN_PRUNING), replaced(CREATE_PRUNE_ASSEMBLIES)
        ),
        migrations.RunSQL(pruning_of("readings", READING_HELD), pruning_of("readings", "")),
        migrations.RunSQL(pruning_of("activities", ACTIVITY_HELD), pruning_of("activities", "")),
    ]
