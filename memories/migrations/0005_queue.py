"""The queue through which PostgreSQL itself wakes workers: pgmq's schema from its package, and our one queue in it."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from pgmq.install import get_embedded_install_sql

QUEUE = "dossier_jobs"


def install(_: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(get_embedded_install_sql())
        cursor.execute("SELECT pgmq.create(%s)", [QUEUE])


def remove(_: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    schema_editor.execute("DROP SCHEMA pgmq CASCADE")


class Migration(migrations.Migration):
    dependencies = [("memories", "0004_librarian_cascades")]

    operations = [migrations.RunPython(install, remove)]
