"""An index by which contexts with passages of one of the organisation's files are found."""

from django.db import migrations

PASSAGES = """
CREATE INDEX piece_organisation_passage ON pieces (named varchar_pattern_ops) WHERE named LIKE 'organisation_file:%'
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0025_notifications")]

    operations = [migrations.RunSQL(PASSAGES, "DROP INDEX piece_organisation_passage")]
