"""It is counted how often texts became more sensitive: a stored answer from before is not told again."""

from django.db import migrations

from config.db.migration_helpers import CREATE_RAISED_COUNTING

# Raised texts of all kinds are noted in one table; recall tests are not texts of contexts, so they are not in it.
TRIGGERS = """
CREATE TRIGGER raised_texts_count_raised AFTER INSERT OR UPDATE OF level ON raised_texts
    FOR EACH ROW WHEN (NEW.level > 1) EXECUTE FUNCTION count_raised();
CREATE TRIGGER recall_tests_count_raised AFTER UPDATE OF sensitivity ON recall_tests
    FOR EACH ROW WHEN (NEW.sensitivity > OLD.sensitivity AND NEW.sensitivity > 1) EXECUTE FUNCTION count_raised();
"""
NO_TRIGGERS = """
DROP TRIGGER recall_tests_count_raised ON recall_tests;
DROP TRIGGER raised_texts_count_raised ON raised_texts;
DROP FUNCTION count_raised();
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0051_encrypted_copies")]
    operations = [migrations.RunSQL(CREATE_RAISED_COUNTING + TRIGGERS, NO_TRIGGERS)]
