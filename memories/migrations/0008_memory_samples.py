"""Random samples of an owner's memories by index: they tell how rare a word is among very many."""

from django.db import migrations, models

LAST_BYTES = models.Func(
    models.Func("id", function="uuid_send", output_field=models.BinaryField()),
    models.Value(13),
    function="substring",
    output_field=models.BinaryField(),
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0007_embedding_spaces")]

    operations = [
        migrations.AddIndex(
            "memory",
            models.Index("agent", LAST_BYTES, name="memory_agent_sample", condition=models.Q(agent__isnull=False)),
        ),
        migrations.AddIndex(
            "memory",
            models.Index("team", LAST_BYTES, name="memory_team_sample", condition=models.Q(team__isnull=False)),
        ),
    ]
