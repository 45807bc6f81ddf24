"""Import plans say no more how much text they hold: it counts towards the quota of texts per day."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memories", "0013_import_visibility")]

    operations = [migrations.RemoveField("importplan", "unpacked_bytes")]
