"""Files of the whole organisation, with history; their changes are counted for the caches of every agent."""

import django.core.validators
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import CREATE_ERASE, ORGANISATION, append_only, cascade, counts_changes


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0013_notifications"),
        ("assembly", "0005_change_counters"),
    ]

    operations = [
        migrations.AlterField(
            model_name="activity",
            name="action",
            field=models.CharField(
                choices=[
                    ("person.created", "Account created"),
                    ("person.changed", "Account changed"),
                    ("person.password_reset", "Password reset"),
                    ("person.second_factor_removed", "Second factor removed"),
                    ("person.signed_out", "Signed out by an admin"),
                    ("team.created", "Team created"),
                    ("team.changed", "Team settings changed"),
                    ("team.deleted", "Team deleted"),
                    ("member.set", "Role set"),
                    ("member.removed", "Member removed"),
                    ("organisation_file.created", "Organisation knowledge created"),
                    ("organisation_file.renamed", "Organisation knowledge renamed"),
                    ("organisation_file.deleted", "Organisation knowledge deleted"),
                    ("agent.created", "Agent created"),
                    ("agent.changed", "Agent settings changed"),
                    ("agent.team_added", "Agent added to team"),
                    ("agent.team_removed", "Agent removed from team"),
                    ("agent.deleted", "Agent deleted"),
                    ("key.created", "API key created"),
                    ("key.revoked", "API key revoked"),
                    ("key.granted", "API key access granted"),
                    ("key.withdrawn", "API key access withdrawn"),
                    ("retention.set", "Data retention set"),
                    ("retention.cleared", "Data retention removed"),
                    ("limits.set", "Limits set"),
                    ("webhook.created", "Webhook created"),
                    ("webhook.changed", "Webhook changed"),
                    ("webhook.secret_changed", "Webhook secret changed"),
                    ("webhook.deleted", "Webhook deleted"),
                    ("source.created", "External source created"),
                    ("source.changed", "External source changed"),
                    ("source.deleted", "External source deleted"),
                    ("profile.deleted", "Profile deleted"),
                    ("rule.deleted", "Rule deleted"),
                    ("memory.deleted", "Memory deleted"),
                    ("export.downloaded", "Export downloaded"),
                    ("bundle.downloaded", "Audit bundle downloaded"),
                    ("import.begun", "Import started"),
                ],
                max_length=40,
            ),
        ),
        migrations.CreateModel(
            name="OrganisationFile",
            fields=[
                ("updated_by", models.CharField(default="system", max_length=10)),
                ("editor_ref", models.CharField(blank=True, default="", max_length=80)),
                ("editor_name", models.CharField(blank=True, default="", max_length=200)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("content", models.TextField(blank=True, default="")),
                ("version", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "file_key",
                    models.CharField(
                        max_length=60,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-z0-9]+(?:-[a-z0-9]+)*\\Z",
                                "Use lower-case letters, digits and single hyphens between them, as in customer-care.",
                            )
                        ],
                    ),
                ),
                ("title", models.CharField(max_length=120)),
            ],
            options={
                "db_table": "organisation_files",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("version__gte", 1)), name="organisation_file_version_from_1"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OrganisationFileVersion",
            fields=[
                ("updated_by", models.CharField(default="system", max_length=10)),
                ("editor_ref", models.CharField(blank=True, default="", max_length=80)),
                ("editor_name", models.CharField(blank=True, default="", max_length=200)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("content", models.TextField()),
                ("sha256", models.CharField(max_length=64)),
                ("note", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("title", models.CharField(max_length=120)),
                (
                    "file",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="versions",
                        to="teams.organisationfile",
                    ),
                ),
            ],
            options={
                "db_table": "organisation_file_versions",
                "ordering": ["-version"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("file", "version"), name="organisation_file_version_once")
                ],
            },
        ),
        append_only("organisation_file_versions"),
        cascade("organisation_file_versions", "file_id", "organisation_files"),
        counts_changes("organisation_files", f"'{ORGANISATION}'::uuid"),
        migrations.RunSQL(CREATE_ERASE, migrations.RunSQL.noop),
    ]
