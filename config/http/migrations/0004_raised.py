"""Answers to repeated requests say how often texts had become more sensitive when their requests began."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("http", "0003_last_writes")]

    operations = [migrations.AddField("idempotentrequest", "raised", models.BigIntegerField(default=0, db_default=0))]
