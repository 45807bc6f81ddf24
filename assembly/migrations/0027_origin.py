"""All signed rows have an origin. What people configure here comes from people: only their keys may write it."""

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
MODELS = (
    "externalsource",
    "retentionpolicy",
    "storedprofile",
    "storedprofileversion",
    "storedrule",
    "storedruleversion",
    "webhook",
)


class Migration(migrations.Migration):
    dependencies = [("assembly", "0026_file_passages"), ("teams", "0015_origin")]

    operations = [migrations.AddField(model, "origin", ORIGIN) for model in MODELS]
