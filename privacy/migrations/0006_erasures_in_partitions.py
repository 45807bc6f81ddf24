"""Erasures that change rows one by one name them by their place in a partition."""

from django.db import migrations

from privacy.erasure.database_functions import CREATE_ERASE_SPELLINGS


class Migration(migrations.Migration):
    dependencies = [("privacy", "0005_sealed_texts"), ("memories", "0028_memory_owners")]

    operations = [migrations.RunSQL(CREATE_ERASE_SPELLINGS, migrations.RunSQL.noop)]
