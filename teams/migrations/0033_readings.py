"""The log of readings, and the function by which its lines go when their time is over."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import append_only


CREATE_PRUNING = """
CREATE FUNCTION prune_readings(days integer, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone integer;
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM readings WHERE id IN (
        SELECT id FROM readings WHERE created < now() - make_interval(days => greatest(days, 30))
        ORDER BY created LIMIT most
    );
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION prune_readings(integer, integer) FROM PUBLIC;
"""
DROP_PRUNING = "DROP FUNCTION prune_readings(integer, integer);"


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0032_sensitivity"),
    ]

    operations = [
        migrations.CreateModel(
            name="Reading",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField()),
                ("actor", models.CharField(max_length=80)),
                ("actor_name", models.CharField(blank=True, max_length=120)),
                (
                    "kind",
                    models.CharField(
                        choices=[("read", "Opened"), ("listed", "Seen in a list"), ("exported", "Downloaded")],
                        max_length=10,
                    ),
                ),
                (
                    "level",
                    models.SmallIntegerField(
                        choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")]
                    ),
                ),
                ("things", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ("counts", models.JSONField()),
                ("agent_id", models.UUIDField(null=True)),
                ("team_id", models.UUIDField(null=True)),
                ("team_ids", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("route", models.CharField(max_length=200)),
            ],
            options={
                "db_table": "readings",
                "ordering": ["-created", "-id"],
                "indexes": [
                    models.Index(fields=["-created", "-id"], name="readings_newest"),
                    models.Index(fields=["actor", "-created"], name="readings_of_actor"),
                    django.contrib.postgres.indexes.GinIndex(fields=["things"], name="readings_of_things"),
                    django.contrib.postgres.indexes.GinIndex(fields=["team_ids"], name="readings_of_teams"),
                ],
            },
        ),
        append_only("readings"),
        migrations.RunSQL(CREATE_PRUNING, DROP_PRUNING),
    ]
