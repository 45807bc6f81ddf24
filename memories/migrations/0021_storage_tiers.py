"""Memories, events and documents are stored in tiers, with counts of their uses, policies, and reports of the runs.

No table is written anew: new columns are NULL or have constant defaults, and a generated column that becomes one that
a trigger computes keeps its values. Each of the four tables is read once, to check its new constraints.
"""

import json

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import memories.lifecycle.tiered_text
from config.db.migration_helpers import append_only, cascade
from memories.lifecycle.frozen_texts import thaw
from memories.lifecycle.packing import unpack

TIERS = [("hot", "Hot"), ("warm", "Warm"), ("cold", "Cold"), ("frozen", "Frozen")]
TABLES = {"memories": "text", "documents": "content", "events": "content"}
LANGUAGES = (
    "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish", "danish", "norwegian", "finnish",
    "hungarian", "russian", "turkish",
)  # fmt: skip

# The same words as the generated columns had. The columns are text, so a language is named when it is used.
CREATE_WORDS = f"""
CREATE FUNCTION word_configuration(language text) RETURNS regconfig LANGUAGE sql STABLE AS $$
    SELECT (CASE WHEN language IN ({", ".join(f"'{name}'" for name in LANGUAGES)}) THEN language ELSE 'english' END)
        ::regconfig
$$;
CREATE FUNCTION memory_words(configuration regconfig, said text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT setweight(to_tsvector(configuration, coalesce(substring(said, '^([^:\\n]{{1,60}}):\\s'), '')), 'A')
        || setweight(to_tsvector(configuration, coalesce(said, '')), 'D')
$$;
"""
DROP_WORDS = "DROP FUNCTION memory_words(regconfig, text); DROP FUNCTION word_configuration(text);"

# A statement of the lifecycle changes the tier; any other that writes a text makes the row hot.
KEEP_TIER = """
    IF NEW.{column} IS NOT NULL THEN
        IF TG_OP = 'UPDATE' AND NEW.{column} IS DISTINCT FROM OLD.{column} AND NEW.tier = OLD.tier
                AND NEW.tier <> 'hot' THEN
            NEW.tier := 'hot';
            NEW.tier_since := clock_timestamp();
        END IF;
        NEW.packed := NULL;
        NEW.frozen := NULL;
        NEW.text_bytes := NULL;
        NEW.text_characters := NULL;
        NEW.text_asks := NULL;
    END IF;
"""
KEEP_WORDS = """
    IF NEW.tier IN ('cold', 'frozen') THEN
        NEW.search := NULL;
    ELSIF NEW.text IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.search IS NULL
            OR NEW.text IS DISTINCT FROM OLD.text OR NEW.language <> OLD.language) THEN
        NEW.search := memory_words(word_configuration(NEW.language), NEW.text);
    END IF;
"""


def stored_in_tiers(table: str, column: str) -> migrations.RunSQL:
    words = KEEP_WORDS if table == "memories" else ""
    watched = f"{column}, tier, language" if words else f"{column}, tier"
    return migrations.RunSQL(
        f"""
        ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL,
            ADD COLUMN packed bytea, ADD COLUMN frozen jsonb, ADD COLUMN text_bytes integer,
            ADD COLUMN text_characters integer, ADD COLUMN text_asks boolean,
            ADD CONSTRAINT {table}_one_text CHECK (num_nonnulls({column}, packed, frozen) = 1),
            ADD CONSTRAINT {table}_tier_known CHECK (tier IN ('hot', 'warm', 'cold', 'frozen'));
        {f"ALTER TABLE {table} ALTER COLUMN search DROP EXPRESSION;" if words else ""}
        CREATE FUNCTION keep_tier_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            {KEEP_TIER.format(column=column)}{words}
            RETURN NEW;
        END $$;
        CREATE TRIGGER {table}_keeps_tier BEFORE INSERT OR UPDATE OF {watched} ON {table}
            FOR EACH ROW EXECUTE FUNCTION keep_tier_of_{table}();
        CREATE INDEX {table}_hot ON {table} ((coalesce(tier_since, created))) WHERE tier = 'hot';
        CREATE INDEX {table}_cold ON {table} (tier_since) WHERE tier = 'cold';
        """,
        f"""
        DROP TRIGGER {table}_keeps_tier ON {table};
        DROP FUNCTION keep_tier_of_{table}();
        DROP INDEX {table}_hot;
        DROP INDEX {table}_cold;
        ALTER TABLE {table} DROP COLUMN packed, DROP COLUMN frozen, DROP COLUMN text_bytes,
            DROP COLUMN text_characters, DROP COLUMN text_asks, DROP CONSTRAINT {table}_tier_known,
            ALTER COLUMN {column} SET NOT NULL;
        {"ALTER TABLE memories DROP COLUMN search;" if words else ""}
        """,
    )


CHUNKS = """
ALTER TABLE chunks ALTER COLUMN text DROP NOT NULL, ADD COLUMN text_bytes integer,
    ADD CONSTRAINT chunks_one_text CHECK (num_nonnulls(text, text_bytes) = 1);
ALTER TABLE chunks ALTER COLUMN search DROP EXPRESSION;
CREATE FUNCTION keep_words_of_chunks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.text IS NOT NULL THEN
        NEW.text_bytes := NULL;
        NEW.search := to_tsvector(word_configuration(NEW.language), NEW.text);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER chunks_keep_words BEFORE INSERT OR UPDATE OF text, language ON chunks
    FOR EACH ROW EXECUTE FUNCTION keep_words_of_chunks();
"""
DROP_CHUNKS = """
DROP TRIGGER chunks_keep_words ON chunks;
DROP FUNCTION keep_words_of_chunks();
ALTER TABLE chunks DROP COLUMN text_bytes, ALTER COLUMN text SET NOT NULL, DROP COLUMN search;
"""


def unpack_all(_apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Write every text into its column again."""
    with editor.connection.cursor() as cursor:
        for table, column in TABLES.items():
            cursor.execute(f"SELECT id, packed, frozen::text FROM {table} WHERE {column} IS NULL")  # noqa: S608
            for id_, packed, frozen in cursor.fetchall():
                text = thaw(json.loads(frozen)) if packed is None else unpack(bytes(packed))
                type_ = "jsonb" if table == "events" else "text"
                cursor.execute(f"UPDATE {table} SET {column} = %s::{type_} WHERE id = %s", [text, id_])  # noqa: S608
        chunks = 'SELECT id, start, "end", (SELECT content FROM documents WHERE id = document_id) FROM chunks'
        cursor.execute(f"{chunks} WHERE text IS NULL")
        for id_, start, end, content in cursor.fetchall():
            cursor.execute("UPDATE chunks SET text = %s WHERE id = %s", [content[start:end], id_])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def generate_words(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Let the database generate the columns of words again."""
    for name in ("Memory", "Chunk"):
        model = apps.get_model("memories", name)
        meta = model._meta  # noqa: SLF001 - Django's documented introspection
        editor.add_field(model, meta.get_field("search"))
        editor.add_index(model, next(one for one in meta.indexes if one.fields == ["search"]))


def tier_fields(model: str) -> list[migrations.AddField]:
    return [
        migrations.AddField(
            model, "tier", models.CharField(choices=TIERS, db_default="hot", default="hot", max_length=6)
        ),
        migrations.AddField(model, "tier_since", models.DateTimeField(null=True)),
    ]


class Migration(migrations.Migration):
    dependencies = [("memories", "0020_origin"), ("teams", "0020_learned_weights_activities")]

    operations = [
        *tier_fields("document"),
        *tier_fields("event"),
        *tier_fields("memory"),
        migrations.AlterField("chunk", "text", memories.lifecycle.tiered_text.TieredPassage()),
        migrations.AlterField("document", "content", memories.lifecycle.tiered_text.TieredText(blank=True, default="")),
        migrations.AlterField("event", "content", memories.lifecycle.tiered_text.TieredJson()),
        migrations.AlterField("memory", "text", memories.lifecycle.tiered_text.TieredText()),
        migrations.RunPython(migrations.RunPython.noop, generate_words),
        migrations.RunSQL(CREATE_WORDS, DROP_WORDS),
        *(stored_in_tiers(table, column) for table, column in TABLES.items()),
        migrations.RunSQL(CHUNKS, DROP_CHUNKS),
        migrations.RunPython(migrations.RunPython.noop, unpack_all),
        migrations.CreateModel(
            name="ThingUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("thing", models.UUIDField()),
                ("day", models.DateField()),
                ("kind", models.CharField(max_length=40)),
                ("told", models.PositiveIntegerField(default=0)),
                ("considered", models.PositiveIntegerField(default=0)),
            ],
            options={
                "db_table": "thing_uses",
                "indexes": [models.Index(fields=["day"], name="thing_use_day")],
                "constraints": [models.UniqueConstraint(fields=("thing", "day"), name="thing_use_once_a_day")],
            },
        ),
        migrations.CreateModel(
            name="KVPolicyVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("content_type", models.CharField(max_length=20)),
                ("version", models.PositiveIntegerField()),
                ("policy", models.JSONField(null=True)),
                ("by_ref", models.CharField(max_length=80)),
                ("by_name", models.CharField(max_length=200)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "team",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="teams.team",
                    ),
                ),
            ],
            options={
                "db_table": "kv_policy_versions",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("team", "content_type", "version"), name="kv_policy_version_once", nulls_distinct=False
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LifecycleReport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("run", models.UUIDField()),
                ("step", models.CharField(max_length=20)),
                ("started", models.DateTimeField()),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("changed", models.PositiveIntegerField()),
                ("things", models.JSONField(default=list)),
                ("detail", models.JSONField(default=dict)),
            ],
            options={
                "db_table": "lifecycle_reports",
                "indexes": [
                    models.Index(fields=["-created", "-id"], name="lifecycle_report_newest"),
                    models.Index(fields=["run"], name="lifecycle_report_run"),
                ],
            },
        ),
        append_only("kv_policy_versions"),
        cascade("kv_policy_versions", "team_id", "teams"),
        append_only("lifecycle_reports"),
    ]
