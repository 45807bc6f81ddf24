"""Uploaded archives, and what their imports would change, are encrypted.

The columns keep their types, and what is stored already is read as it is until it expires.
"""

from django.db import migrations

from config.http.encrypted_fields import EncryptedBytesField, EncryptedJSONField


class Migration(migrations.Migration):
    dependencies = [("memories", "0033_tier_checks")]
    operations = [
        migrations.AlterField("importplan", "archive", EncryptedBytesField()),
        migrations.AlterField("importplan", "steps", EncryptedJSONField(default=list)),
        migrations.AlterField("importplan", "aside", EncryptedJSONField(default=list)),
        migrations.AlterField("importplan", "outcome", EncryptedJSONField(default=dict)),
    ]
