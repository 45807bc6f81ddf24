"""This index is that by which contexts with passages of a file or a daily log are found."""

from django.db import migrations

PASSAGES = """
CREATE INDEX piece_file_passage ON pieces (named varchar_pattern_ops)
    WHERE named LIKE '%@%#%' AND named NOT LIKE 'chunk:%'
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0025_notifications")]

    operations = [migrations.RunSQL(PASSAGES, "DROP INDEX piece_file_passage")]
