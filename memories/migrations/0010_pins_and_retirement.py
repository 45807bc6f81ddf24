"""Memories are pinned and retired, and their versions say which others they took the place of.

A table of a million memories is neither written anew nor locked for long: new columns have constant defaults, and what
takes a look at every row, the indexes and the constraint, lets others read and write meanwhile.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models


def reason() -> models.CharField:
    return models.CharField(blank=True, db_default="", default="", max_length=200)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0009_notes")]

    operations = [
        migrations.AddField("memory", "pinned", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("memory", "retired_because", reason()),
        migrations.AddField("memoryversion", "pinned", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("memoryversion", "retired_because", reason()),
        migrations.AddField(
            "memoryversion",
            "merged",
            ArrayField(
                models.UUIDField(),
                db_default=models.Value([], ArrayField(models.UUIDField())),
                default=list,
            ),
        ),
        AddIndexConcurrently(
            "memory",
            models.Index(fields=["agent"], name="memory_agent_pinned", condition=models.Q(pinned=True)),
        ),
        AddIndexConcurrently(
            "memory",
            models.Index(fields=["team"], name="memory_team_pinned", condition=models.Q(pinned=True)),
        ),
        AddConstraintNotValid(
            "memory",
            models.CheckConstraint(
                condition=models.Q(pinned=False) | models.Q(superseded_by=None, retired_because=""),
                name="memory_pinned_stands",
            ),
        ),
        ValidateConstraint("memory", "memory_pinned_stands"),
    ]
