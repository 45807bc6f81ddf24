"""Files with everything about a subject are encrypted.

The columns keep their types, and what is stored already is read as it is until it expires.
"""

from django.db import migrations

from config.http.encrypted_fields import EncryptedBytesField


class Migration(migrations.Migration):
    dependencies = [("privacy", "0009_keys_due")]
    operations = [
        migrations.AlterField("subjectfile", "content", EncryptedBytesField(default=b"")),
    ]
