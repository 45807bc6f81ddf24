"""A small index of when contexts were recorded, by which searches take one slice of time after another."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assembly", "0018_token_counts")]

    operations = [
        migrations.AddIndex(
            "assembly",
            BrinIndex(fields=["created"], name="assembly_moments", pages_per_range=32, autosummarize=True),
        ),
    ]
