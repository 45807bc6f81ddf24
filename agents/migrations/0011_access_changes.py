"""Changes of who may read what are counted: a read replica that lacks one of them answers nobody."""

from django.db import migrations

from config.db.migration_helpers import CREATE_ACCESS_COUNTING

TABLES = ("memberships", "agent_teams")
TRIGGERS = "".join(
    f"""
    CREATE TRIGGER {table}_counts_access AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION count_access_change();
    """
    for table in TABLES
)
NO_TRIGGERS = "".join(f"DROP TRIGGER {table}_counts_access ON {table};" for table in TABLES)


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0010_sensitivity"),
        ("teams", "0002_history"),
        ("assembly", "0005_change_counters"),
    ]

    operations = [
        migrations.RunSQL(CREATE_ACCESS_COUNTING, "DROP FUNCTION count_access_change();"),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
    ]
