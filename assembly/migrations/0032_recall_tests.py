"""Recall tests with their append-only results, publication guards, and the alert of a failed test."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import CREATE_ERASE, append_only, cascade

CREATE_PRUNING = """
CREATE FUNCTION prune_recall_results(of_test uuid, of_agent uuid, retained integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone integer;
BEGIN
    PERFORM set_config('dossier.erasing', 'on', true);
    DELETE FROM recall_results WHERE id IN (
        SELECT id FROM recall_results WHERE test_id = of_test AND agent_id = of_agent
        ORDER BY created DESC, id DESC OFFSET greatest(retained, 50)
    );
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN gone;
END $$;
REVOKE ALL ON FUNCTION prune_recall_results(uuid, uuid, integer) FROM PUBLIC;
"""
DROP_PRUNING = "DROP FUNCTION prune_recall_results(uuid, uuid, integer);"


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0009_origin"),
        ("assembly", "0031_quality_and_feedback"),
        ("teams", "0018_recall_test_activity"),
    ]

    operations = [
        migrations.CreateModel(
            name="PublicationGuard",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("about", models.CharField(max_length=160, unique=True)),
                ("set_by", models.CharField(max_length=80)),
                ("setter_name", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "db_table": "publication_guards",
            },
        ),
        migrations.CreateModel(
            name="RecallResult",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("test_version", models.PositiveIntegerField()),
                ("agent_id", models.UUIDField()),
                ("agent_slug", models.CharField(max_length=60)),
                ("agent_name", models.CharField(max_length=120)),
                (
                    "trigger",
                    models.CharField(
                        choices=[("request", "On request"), ("embedder", "After a change of the embedder")],
                        max_length=10,
                    ),
                ),
                ("passed", models.BooleanField()),
                ("fault", models.TextField(blank=True, default="")),
                ("profile_name", models.CharField(max_length=60)),
                ("profile_version", models.PositiveIntegerField()),
                ("tokens", models.PositiveIntegerField()),
                ("outcomes", models.JSONField(default=list)),
                ("requested_by", models.CharField(max_length=80)),
                ("requester_name", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "db_table": "recall_results",
            },
        ),
        migrations.CreateModel(
            name="RecallTest",
            fields=[
                ("updated_by", models.CharField(default="system", max_length=10)),
                ("editor_ref", models.CharField(blank=True, default="", max_length=80)),
                ("editor_name", models.CharField(blank=True, default="", max_length=200)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("person", "a person"),
                            ("agent", "an agent"),
                            ("tool", "a tool"),
                            ("external", "an external source"),
                        ],
                        db_default="person",
                        default="person",
                        max_length=10,
                    ),
                ),
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("name", models.CharField(max_length=120)),
                ("topic", models.CharField(blank=True, default="", max_length=4000)),
                ("profile", models.CharField(blank=True, default="", max_length=60)),
                ("budget", models.PositiveIntegerField(null=True)),
                ("expectations", models.JSONField(default=list)),
                ("archived", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "recall_tests",
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
                    ("recall_test_failed", "test failed"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(model_name="alert", name="context", field=models.UUIDField(null=True)),
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
                            "recall_test_failed",
                        ],
                    )
                ),
                name="alert_kind_known",
            ),
        ),
        migrations.AddField(
            model_name="publicationguard",
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
            model_name="publicationguard",
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
            model_name="recalltest",
            name="agent",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="recall_tests",
                to="agents.agent",
            ),
        ),
        migrations.AddField(
            model_name="recalltest",
            name="team",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="recall_tests",
                to="teams.team",
            ),
        ),
        migrations.AddField(
            model_name="recallresult",
            name="test",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="results",
                to="assembly.recalltest",
            ),
        ),
        migrations.AddConstraint(
            model_name="recalltest",
            constraint=models.CheckConstraint(
                condition=models.Q(("agent__isnull", False), ("team__isnull", False), _connector="OR"),
                name="recall_test_owned",
            ),
        ),
        migrations.AddConstraint(
            model_name="recalltest",
            constraint=models.CheckConstraint(
                condition=models.Q(("version__gte", 1)), name="recall_test_version_from_1"
            ),
        ),
        migrations.AddIndex(
            model_name="recallresult",
            index=models.Index(fields=["test", "agent_id", "-created", "-id"], name="recall_result_newest"),
        ),
        append_only("recall_results"),
        cascade("recall_results", "test_id", "recall_tests"),
        cascade("recall_tests", "agent_id", "agents"),
        cascade("recall_tests", "team_id", "teams"),
        cascade("publication_guards", "agent_id", "agents"),
        cascade("publication_guards", "team_id", "teams"),
        migrations.RunSQL(CREATE_PRUNING, DROP_PRUNING),
        migrations.RunSQL(CREATE_ERASE, migrations.RunSQL.noop),
    ]
