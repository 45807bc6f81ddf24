"""Withholding things counts as raising texts: a stored answer from before is not told again."""

from django.db import migrations

TRIGGER = """
CREATE TRIGGER withheld_things_count_raised AFTER INSERT ON withheld_things
    FOR EACH ROW EXECUTE FUNCTION count_raised();
"""
NO_TRIGGER = "DROP TRIGGER withheld_things_count_raised ON withheld_things;"


class Migration(migrations.Migration):
    dependencies = [("privacy", "0010_encrypted_copies"), ("assembly", "0052_counted_raises")]
    operations = [migrations.RunSQL(TRIGGER, NO_TRIGGER)]
