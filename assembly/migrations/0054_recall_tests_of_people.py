"""A recall test knows whether people wrote it, whatever agents' keys changed in it later.

Of the tests that exist, the last author is known: those of agents' keys have the origin of agents.
"""

from django.db import migrations, models

WRITTEN = """
UPDATE recall_tests SET is_written_by_people = NOT (editor_ref LIKE 'key:%' AND origin = 'agent')
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0053_conflicts_not_found_again")]

    operations = [
        migrations.AddField("recalltest", "is_written_by_people", models.BooleanField(db_default=False, default=False)),
        migrations.RunSQL(WRITTEN, migrations.RunSQL.noop),
    ]
