"""The activity log says from where and why, and its entries go when their time is over.

The address of the entries that are there is unknown (null), which changes the catalogue alone and no row.
"""

from django.db import migrations, models

CREATE_PRUNING = """
CREATE FUNCTION prune_activities(days integer, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone integer;
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM activities WHERE id IN (
        SELECT id FROM activities WHERE created < now() - make_interval(days => greatest(days, 30))
        ORDER BY created LIMIT most
    );
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION prune_activities(integer, integer) FROM PUBLIC;
"""
DROP_PRUNING = "DROP FUNCTION prune_activities(integer, integer);"


class Migration(migrations.Migration):
    dependencies = [("teams", "0039_sealed_titles")]

    operations = [
        migrations.AddField("activity", "address", models.CharField(blank=True, max_length=45, null=True)),
        migrations.AddField(
            "activity", "reason", models.CharField(blank=True, db_default="", default="", max_length=1000)
        ),
        migrations.RunSQL(CREATE_PRUNING, DROP_PRUNING),
    ]
