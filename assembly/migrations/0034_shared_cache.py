"""The shared cache: an unlogged table, which costs no write-ahead log and is emptied by a crash of PostgreSQL.

Values are compressed and encrypted, so PostgreSQL need not try to compress them. Rows live for seconds: autovacuum is
to follow their number, not their share.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assembly", "0033_learned_weights")]

    operations = [
        migrations.RunSQL(
            """
            CREATE UNLOGGED TABLE shared_cache (
                key bytea PRIMARY KEY,
                value bytea NOT NULL,
                size integer NOT NULL,
                expires timestamptz NOT NULL
            ) WITH (
                autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
                autovacuum_vacuum_insert_threshold = -1,
                toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000
            );
            ALTER TABLE shared_cache ALTER COLUMN value SET STORAGE EXTERNAL;
            """,
            "DROP TABLE shared_cache;",
        ),
    ]
