"""Items that wait to be compared have a place in the queue; those from before are noted as of the migration.

PostgreSQL computes the default once, so the table is not written anew.
"""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("assembly", "0055_moved_memories")]

    operations = [
        migrations.AddField("uncompareditem", "noted", models.DateTimeField(db_default=Now())),
        migrations.AddIndex("uncompareditem", models.Index(fields=["noted", "item"], name="uncompared_item_noted")),
    ]
