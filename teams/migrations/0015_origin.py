"""Versioned texts say where they come from. Migration agents.0009 fills the column: keys belong to agents."""

from django.db import migrations, models

ORIGIN = models.CharField(
    choices=[
        ("person", "a person"),
        ("agent", "an agent"),
        ("tool", "a tool"),
        ("external", "an external source"),
    ],
    db_default="person",
    default="person",
    max_length=10,
)


class Migration(migrations.Migration):
    dependencies = [("teams", "0014_organisation_files")]

    operations = [
        migrations.AddField("teamfile", "origin", ORIGIN),
        migrations.AddField("teamfileversion", "origin", ORIGIN),
        migrations.AddField("organisationfile", "origin", ORIGIN),
        migrations.AddField("organisationfileversion", "origin", ORIGIN),
    ]
