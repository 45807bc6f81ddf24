"""Changed levels of texts and clearances of agents count as changes of who may read what: a read replica that lacks one
of them answers nobody.

What is raised together with what it belongs to is not counted by itself.
"""

from django.db import migrations

COLUMNS = {
    "agents": "clearance",
    **dict.fromkeys(
        (
            "agent_md_files",
            "alerts",
            "conflicts",
            "daily_logs",
            "documents",
            "entities",
            "events",
            "external_sources",
            "memories",
            "organisation_files",
            "patterns",
            "proposals",
            "recall_tests",
            "relations",
            "sessions",
            "task_frames",
            "team_md_files",
            "threads",
            "tools",
        ),
        "sensitivity",
    ),
}
TRIGGERS = "".join(
    f"""
    CREATE TRIGGER {table}_{column}_counts_access AFTER UPDATE ON {table} FOR EACH ROW
        WHEN (OLD.{column} IS DISTINCT FROM NEW.{column} AND pg_trigger_depth() = 0)
        EXECUTE FUNCTION count_access_change();
    """
    for table, column in COLUMNS.items()
)
NO_TRIGGERS = "".join(f"DROP TRIGGER {table}_{column}_counts_access ON {table};" for table, column in COLUMNS.items())


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0011_access_changes"),
        ("assembly", "0037_same_answers"),
        ("memories", "0025_cheap_moves"),
        ("teams", "0033_readings"),
    ]

    operations = [migrations.RunSQL(TRIGGERS, NO_TRIGGERS)]
