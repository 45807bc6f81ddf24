"""The walk through the graph reads the strongest relations of an agent from an index alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0023_sensitivity")]

    operations = [
        migrations.AddIndex(
            "relation",
            models.Index(
                fields=["agent", "-weight"],
                include=["source", "target", "id", "sensitivity"],
                name="relation_agent_strongest",
            ),
        ),
    ]
