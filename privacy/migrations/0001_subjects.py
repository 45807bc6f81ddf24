"""Subjects: people about whom things are stored, and what mentions them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import CREATE_ERASE, append_only, cascade


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("memories", "0025_cheap_moves"),
    ]

    operations = [
        migrations.CreateModel(
            name="Subject",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("customer", "Customer"),
                            ("visitor", "Visitor"),
                            ("colleague", "Colleague"),
                            ("other", "Other"),
                        ],
                        default="customer",
                        max_length=10,
                    ),
                ),
                ("note", models.TextField(blank=True, default="", max_length=2000)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.CharField(max_length=80)),
                ("creator_name", models.CharField(blank=True, default="", max_length=200)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("updated_by", models.CharField(max_length=80)),
                ("updater_name", models.CharField(blank=True, default="", max_length=200)),
                ("restricted_at", models.DateTimeField(null=True)),
                ("restricted_by", models.CharField(blank=True, default="", max_length=80)),
                ("restricter_name", models.CharField(blank=True, default="", max_length=200)),
                ("scanned_at", models.DateTimeField(null=True)),
                ("erased_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "subjects",
                "indexes": [models.Index(fields=["name", "id"], name="subject_by_name")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["customer", "visitor", "colleague", "other"])),
                        name="subject_kind_known",
                    ),
                    models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="subject_version_from_1"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SubjectFile",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("requested_by", models.CharField(max_length=80)),
                ("requester_name", models.CharField(blank=True, default="", max_length=200)),
                ("content", models.BinaryField(default=b"")),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="memories.job"
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="files",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "subject_files",
                "indexes": [
                    models.Index(fields=["subject", "-created"], name="subject_file_newest"),
                    models.Index(fields=["created"], name="subject_file_oldest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SubjectIdentifier",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("name", "Name"),
                            ("email", "E-mail"),
                            ("phone", "Phone"),
                            ("iban", "IBAN"),
                            ("national_id", "National identity number"),
                            ("customer_number", "Customer number"),
                            ("username", "User name"),
                            ("other", "Other"),
                        ],
                        max_length=20,
                    ),
                ),
                ("value", models.CharField(max_length=200)),
                ("normalised", models.CharField(max_length=200)),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="identifiers",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "subject_identifiers",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["normalised"], name="subject_identifier_normalised")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "name",
                                    "email",
                                    "phone",
                                    "iban",
                                    "national_id",
                                    "customer_number",
                                    "username",
                                    "other",
                                ],
                            )
                        ),
                        name="subject_identifier_kind_known",
                    ),
                    models.UniqueConstraint(fields=("subject", "kind", "normalised"), name="subject_identifier_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SubjectMention",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ref_kind", models.CharField(max_length=20)),
                ("thing", models.UUIDField()),
                ("agent_id", models.UUIDField(null=True)),
                ("team_id", models.UUIDField(null=True)),
                (
                    "spellings",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("found", "To review"), ("linked", "Linked"), ("dismissed", "Not about them")],
                        default="found",
                        max_length=10,
                    ),
                ),
                (
                    "pieces",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("contexts", models.PositiveIntegerField(default=0)),
                ("scan", models.UUIDField(null=True)),
                ("found_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, default="", max_length=80)),
                ("decider_name", models.CharField(blank=True, default="", max_length=200)),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="mentions",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "subject_mentions",
                "indexes": [
                    models.Index(fields=["subject", "status", "ref_kind", "id"], name="subject_mention_reviewed"),
                    models.Index(fields=["thing"], name="subject_mention_of_thing"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["found", "linked", "dismissed"])),
                        name="subject_mention_status_known",
                    ),
                    models.UniqueConstraint(fields=("subject", "thing"), name="subject_mention_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SubjectScan",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("since", models.DateTimeField(null=True)),
                ("place", models.JSONField(default=dict)),
                ("texts", models.PositiveIntegerField(default=0)),
                ("found", models.PositiveIntegerField(default=0)),
                ("requested_by", models.CharField(max_length=80)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="memories.job"
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="scans",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "subject_scans",
                "indexes": [models.Index(fields=["subject", "-created"], name="subject_scan_newest")],
            },
        ),
        migrations.CreateModel(
            name="SubjectVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("kind", models.CharField(max_length=10)),
                ("note", models.TextField(blank=True, default="")),
                ("identifiers", models.JSONField(default=list)),
                ("restricted", models.BooleanField(default=False)),
                ("by_ref", models.CharField(max_length=80)),
                ("by_name", models.CharField(blank=True, default="", max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="versions",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "subject_versions",
                "ordering": ["-version"],
                "constraints": [models.UniqueConstraint(fields=("subject", "version"), name="subject_version_once")],
            },
        ),
        migrations.CreateModel(
            name="WithheldThing",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("table_name", models.CharField(max_length=40)),
                ("thing", models.UUIDField()),
                ("former_sensitivity", models.SmallIntegerField()),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="withheld_things",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "withheld_things",
                "indexes": [models.Index(fields=["thing"], name="withheld_thing_of_subjects")],
                "constraints": [models.UniqueConstraint(fields=("subject", "thing"), name="withheld_thing_once")],
            },
        ),
        append_only("subject_versions"),
        *(
            cascade(table, "subject_id", "subjects")
            for table in (
                *("subject_versions", "subject_identifiers", "subject_mentions", "withheld_things"),
                *("subject_scans", "subject_files"),
            )
        ),
        cascade("subject_mentions", "agent_id", "agents"),
        cascade("subject_mentions", "team_id", "teams"),
        migrations.RunSQL(CREATE_ERASE, migrations.RunSQL.noop),
    ]
