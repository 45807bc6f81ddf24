"""A conflict is gone for one of two reasons, and times of day are a kind of their own.

A conflict that is gone already had a text that was changed; conflicts of times of day keep the kind `date` until their
texts are compared again.
"""

from django.db import migrations, models

KINDS = [
    ("number", "Number"),
    ("date", "Date"),
    ("time", "Time"),
    ("negation", "Negation"),
    ("state", "State"),
    ("property", "Property"),
    ("meaning", "Meaning"),
    ("duplicate", "Duplicate"),
]
REASONS = [("text_changed", "A text was changed"), ("not_found", "Not found again")]


class Migration(migrations.Migration):
    dependencies = [("assembly", "0052_counted_raises")]

    operations = [
        migrations.RemoveConstraint(model_name="conflict", name="conflict_kind_known"),
        migrations.RunSQL(migrations.RunSQL.noop, "UPDATE conflicts SET kind = 'date' WHERE kind = 'time'"),
        migrations.AddField(
            model_name="conflict",
            name="gone_because",
            field=models.CharField(blank=True, choices=REASONS, db_default="", default="", max_length=12),
        ),
        migrations.AlterField(model_name="conflict", name="kind", field=models.CharField(choices=KINDS, max_length=10)),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", [kind for kind, _ in KINDS])), name="conflict_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="conflict",
            constraint=models.CheckConstraint(
                condition=models.Q(("gone_because__in", ["", *(reason for reason, _ in REASONS)])),
                name="conflict_gone_reason_known",
            ),
        ),
        migrations.RunSQL(
            "UPDATE conflicts SET gone_because = 'text_changed' WHERE status = 'gone'", migrations.RunSQL.noop
        ),
    ]
