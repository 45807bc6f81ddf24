"""Levels of detail of texts are only added, and deleted together with the item whose text it is."""

from django.db import migrations, models

from config.db.migration_helpers import append_only, forgets_levels

TABLES = ("memories", "documents", "agent_md_files", "team_md_files", "organisation_files", "daily_logs")

# Both functions delete as the owner of the table, which alone may do so: see `refuse_change`. The trigger may run inside
# `erase`, whose setting it must not end.
CREATE_FUNCTIONS = """
CREATE FUNCTION forget_levels() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    before text := coalesce(current_setting('dossier.erasing', true), '');
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM text_levels WHERE item IN (SELECT id FROM old_rows);
    PERFORM set_config('dossier.erasing', before, true);
    RETURN NULL;
END $$;
CREATE FUNCTION prune_levels(of_item uuid, present bytea[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    pruned integer;
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM text_levels WHERE item = of_item AND text_sha256 <> ALL(present);
    GET DIAGNOSTICS pruned = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN pruned;
END $$;
REVOKE ALL ON FUNCTION prune_levels(uuid, bytea[]) FROM PUBLIC;
"""
DROP_FUNCTIONS = "DROP FUNCTION prune_levels(uuid, bytea[]); DROP FUNCTION forget_levels();"


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0027_origin"),
        ("memories", "0003_librarian"),
        ("agents", "0001_initial"),
        ("teams", "0014_organisation_files"),
    ]

    operations = [
        migrations.CreateModel(
            name="TextLevel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.UUIDField(db_index=True)),
                ("text_sha256", models.BinaryField(max_length=32)),
                ("level", models.CharField(max_length=5)),
                ("deriver", models.CharField(max_length=160)),
                ("text", models.TextField()),
            ],
            options={
                "db_table": "text_levels",
                "constraints": [
                    models.UniqueConstraint(fields=("text_sha256", "level", "deriver", "item"), name="text_level_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="UnlevelledItem",
            fields=[
                ("item", models.UUIDField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=40)),
            ],
            options={"db_table": "unlevelled_items"},
        ),
        append_only("text_levels"),
        migrations.RunSQL(CREATE_FUNCTIONS, DROP_FUNCTIONS),
        *(forgets_levels(table) for table in TABLES),
    ]
