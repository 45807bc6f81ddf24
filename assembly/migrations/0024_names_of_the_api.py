"""Alerts record the refs of those who acknowledged and resolved them; requested files name filters as the API does now."""

from typing import Any

from django.db import migrations, models

RENAMED = {"contains": "included_ref", "omits": "excluded_ref", "only": "outcome"}
OUTCOMES = {"cut": "truncated", "left_out": "excluded"}


def rename_parameters(apps: Any, editor: Any) -> None:
    files = apps.get_model("assembly", "ContextFile").objects.using(editor.connection.alias)
    for file in files.filter(parameters__has_any_keys=[*RENAMED]):
        given = {RENAMED.get(name, name): value for name, value in file.parameters.items()}
        if "outcome" in given:
            given["outcome"] = OUTCOMES.get(given["outcome"], given["outcome"])
        file.parameters = given
        file.save(update_fields=["parameters"])


class Migration(migrations.Migration):
    dependencies = [("assembly", "0023_file_losses")]

    operations = [
        migrations.AddField(
            "alert", "seen_by_ref", models.CharField(blank=True, db_default="", default="", max_length=80)
        ),
        migrations.AddField(
            "alert", "settled_by_ref", models.CharField(blank=True, db_default="", default="", max_length=80)
        ),
        migrations.RunPython(rename_parameters, migrations.RunPython.noop),
    ]
