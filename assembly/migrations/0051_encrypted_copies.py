"""Prepared lists of contexts are encrypted.

The columns keep their types, and what is stored already is read as it is until it expires.
"""

from django.db import migrations

from config.http.encrypted_fields import EncryptedBytesField


class Migration(migrations.Migration):
    dependencies = [("assembly", "0050_results_of_deleted_agents")]
    operations = [
        migrations.AlterField("contextfilepart", "content", EncryptedBytesField()),
    ]
