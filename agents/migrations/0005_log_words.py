"""Daily logs are found by their words with an index; others read and write while it is built."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.contrib.postgres.search import SearchVector
from django.db import migrations
from django.db.models.functions import Left


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("agents", "0004_notes")]

    operations = [
        AddIndexConcurrently(
            "dailylog",
            GinIndex(SearchVector(Left("content", 100_000), config="english"), name="daily_log_words"),
        )
    ]
