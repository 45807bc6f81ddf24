"""A check of `manage.py check --deploy`: whether texts above internal lie in plain."""

from typing import Any

from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as DeployWarning
from django.db import DatabaseError

from memories.lifecycle.plain_texts import plain_text_count


@register(Tags.security, deploy=True)
def check_plain_texts(**_: Any) -> list[CheckMessage]:
    """Return a warning if texts above internal lie in plain, as an earlier version of Dossier stored them."""
    try:
        plain = plain_text_count()
    except DatabaseError:  # other checks say that the database does not answer, or is not migrated
        return []
    if not plain:
        return []
    hint = "Run `manage.py seal_texts`, see docs/operations.md."
    return [DeployWarning(f"{plain:,} texts above internal lie in plain.", hint=hint, id="sealing.W001")]
