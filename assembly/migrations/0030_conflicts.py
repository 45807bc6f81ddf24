"""Conflicts of stored texts: found by a job, decided by people, and gone with the items whose texts they compare."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import CREATE_ERASE, ORGANISATION, append_only, cascade, counts_changes

TABLES = ("memories", "documents", "agent_md_files", "team_md_files", "organisation_files", "entities")

# It deletes as the owner of the tables, which alone may do so: see `refuse_change`. It may run inside `erase`, whose
# setting it must not end.
CREATE_FUNCTION = """
CREATE FUNCTION forget_conflicts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    before text := coalesce(current_setting('dossier.erasing', true), '');
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM conflicts WHERE left_item IN (SELECT id FROM old_rows) OR right_item IN (SELECT id FROM old_rows);
    PERFORM set_config('dossier.erasing', before, true);
    RETURN NULL;
END $$;
"""


def forgets_conflicts(table: str) -> migrations.RunSQL:
    """Return a trigger with which the conflicts of the table's rows are deleted together with the rows."""
    return migrations.RunSQL(
        f"CREATE TRIGGER {table}_forgets_conflicts AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows"
        " FOR EACH STATEMENT EXECUTE FUNCTION forget_conflicts()",
        f"DROP TRIGGER {table}_forgets_conflicts ON {table}",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0009_origin"),
        ("assembly", "0029_memory_requests"),
        ("teams", "0016_conflict_activities"),
    ]

    operations = [
        migrations.CreateModel(
            name="Conflict",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("of_organisation", models.BooleanField(default=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("number", "Number"),
                            ("date", "Date"),
                            ("negation", "Negation"),
                            ("state", "State"),
                            ("property", "Property"),
                            ("duplicate", "Duplicate"),
                        ],
                        max_length=10,
                    ),
                ),
                ("cue", models.CharField(max_length=500)),
                ("similarity", models.FloatField()),
                ("subject", models.FloatField()),
                ("severity", models.FloatField()),
                ("probability", models.FloatField()),
                ("left_ref", models.CharField(max_length=160)),
                ("left_item", models.UUIDField()),
                ("left_sha256", models.BinaryField(max_length=32)),
                ("left_statement", models.CharField(max_length=2000)),
                ("right_ref", models.CharField(max_length=160)),
                ("right_item", models.UUIDField()),
                ("right_sha256", models.BinaryField(max_length=32)),
                ("right_statement", models.CharField(max_length=2000)),
                (
                    "strategy",
                    models.CharField(
                        choices=[
                            ("precedence", "By precedence"),
                            ("merge", "Merged"),
                            ("flag", "Flagged for review"),
                            ("user_choice", "Decided by a person"),
                        ],
                        max_length=12,
                    ),
                ),
                ("confidence", models.FloatField()),
                ("reasoning", models.CharField(max_length=500)),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("resolved", "Resolved"), ("gone", "Gone")],
                        default="open",
                        max_length=10,
                    ),
                ),
                (
                    "resolution",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("left", "The first holds"),
                            ("right", "The second holds"),
                            ("both", "Both hold"),
                            ("edited", "Edited"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=1000)),
                ("resolved_by", models.CharField(blank=True, default="", max_length=80)),
                ("resolver_name", models.CharField(blank=True, default="", max_length=200)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("found", models.DateTimeField(auto_now_add=True)),
                ("closed", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "conflicts",
                "ordering": ["-found", "-id"],
            },
        ),
        migrations.CreateModel(
            name="ConflictDecision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("action", models.CharField(choices=[("resolve", "Resolved"), ("undo", "Undone")], max_length=10)),
                (
                    "resolution",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("left", "The first holds"),
                            ("right", "The second holds"),
                            ("both", "Both hold"),
                            ("edited", "Edited"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=1000)),
                ("effects", models.JSONField(default=list)),
                ("by_ref", models.CharField(max_length=80)),
                ("by_name", models.CharField(blank=True, max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "conflict_decisions",
                "ordering": ["created", "id"],
            },
        ),
        migrations.CreateModel(
            name="UncomparedItem",
            fields=[
                ("item", models.UUIDField(primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=40)),
            ],
            options={
                "db_table": "uncompared_items",
            },
        ),
        migrations.RemoveConstraint(
            model_name="alert",
            name="alert_kind_known",
        ),
        migrations.AlterField(
            model_name="alert",
            name="kind",
            field=models.CharField(
                choices=[
                    ("file_cut", "truncated"),
                    ("file_left_out", "excluded"),
                    ("section_missing", "missing"),
                    ("budget_exceeded", "over the budget"),
                    ("rule_not_kept", "not satisfied"),
                    ("conflict_open", "disputed"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="alert",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "file_cut",
                            "file_left_out",
                            "section_missing",
                            "budget_exceeded",
                            "rule_not_kept",
                            "conflict_open",
                        ],
                    )
                ),
                name="alert_kind_known",
            ),
        ),
        migrations.AddField(
            model_name="conflict",
            name="agent",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="agents.agent",
            ),
        ),
        migrations.AddField(
            model_name="conflict",
            name="team",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="teams.team",
            ),
        ),
        migrations.AddField(
            model_name="conflictdecision",
            name="conflict",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="decisions",
                to="assembly.conflict",
            ),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(fields=["-found", "-id"], name="conflict_newest"),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(condition=models.Q(("status", "open")), fields=["-found", "-id"], name="conflict_open"),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(fields=["left_item"], name="conflict_left"),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(fields=["right_item"], name="conflict_right"),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(
                condition=models.Q(("status", "gone"), _negated=True), fields=["agent", "-found"], name="conflict_agent"
            ),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(
                condition=models.Q(("agent", None), models.Q(("status", "gone"), _negated=True)),
                fields=["team", "-found"],
                name="conflict_team",
            ),
        ),
        migrations.AddIndex(
            model_name="conflict",
            index=models.Index(
                condition=models.Q(("agent", None), ("team", None), models.Q(("status", "gone"), _negated=True)),
                fields=["-found"],
                name="conflict_organisation",
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.UniqueConstraint(
                fields=("left_item", "left_sha256", "right_item", "right_sha256"), name="conflict_once_per_texts"
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["open", "resolved", "gone"])), name="conflict_status_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["number", "date", "negation", "state", "property", "duplicate"])),
                name="conflict_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("resolution", ""), ("resolved_at", None)),
                    models.Q(models.Q(("resolution", ""), _negated=True), ("resolved_at__isnull", False)),
                    _connector="OR",
                ),
                name="conflict_resolved_by_somebody",
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "resolved"), _negated=True),
                    models.Q(("resolution", ""), _negated=True),
                    _connector="OR",
                ),
                name="conflict_resolved_has_resolution",
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("agent__isnull", False), ("team__isnull", False), ("of_organisation", True), _connector="OR"
                ),
                name="conflict_has_owner",
            ),
        ),
        append_only("conflict_decisions"),
        cascade("conflicts", "agent_id", "agents"),
        cascade("conflicts", "team_id", "teams"),
        cascade("conflict_decisions", "conflict_id", "conflicts"),
        counts_changes("conflicts", f"coalesce(agent_id, team_id, '{ORGANISATION}'::uuid)"),
        migrations.RunSQL(CREATE_ERASE, migrations.RunSQL.noop),
        migrations.RunSQL(CREATE_FUNCTION, "DROP FUNCTION forget_conflicts()"),
        *(forgets_conflicts(table) for table in TABLES),
    ]
