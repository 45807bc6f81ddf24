"""Answers to repeated requests say which teams their principal reached."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("http", "0001_initial")]

    operations = [migrations.AddField("idempotentrequest", "reach", models.JSONField(default=list))]
