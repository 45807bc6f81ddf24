"""A conflict may be found by a language model, which names no values: its kind is `meaning`, and its row has the model.

Turned back, such conflicts are those of a property.
"""

from django.db import migrations, models

KINDS = [
    ("number", "Number"),
    ("date", "Date"),
    ("negation", "Negation"),
    ("state", "State"),
    ("property", "Property"),
    ("meaning", "Meaning"),
    ("duplicate", "Duplicate"),
]


class Migration(migrations.Migration):
    dependencies = [("assembly", "0038_levels_are_access")]

    operations = [
        migrations.RemoveConstraint(model_name="conflict", name="conflict_kind_known"),
        migrations.RunSQL(migrations.RunSQL.noop, "UPDATE conflicts SET kind = 'property' WHERE kind = 'meaning'"),
        migrations.AddField(
            model_name="conflict",
            name="model",
            field=models.CharField(blank=True, db_default="", default="", max_length=120),
        ),
        migrations.AlterField(model_name="conflict", name="kind", field=models.CharField(choices=KINDS, max_length=10)),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", [kind for kind, _ in KINDS])), name="conflict_kind_known"
            ),
        ),
    ]
