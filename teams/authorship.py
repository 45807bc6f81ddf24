"""Agents change what agents wrote: their keys leave alone what people wrote in a team, unless the team allows it.

A text counts as people's if any of its versions that is not empty was made by anybody but a key: by a person, or by an
import that an administrator ran. What a person only corrected or pinned counts as well.
"""

from typing import Any

from django.db.models import QuerySet

from config.http.errors import Forbidden
from teams.models import Team
from teams.principal import Principal

KEY_REF = "key:"
"""What the refs of keys begin with, as `Principal.ref` makes them."""


def is_written_by_people(versions: QuerySet[Any]) -> bool:
    """Whether anybody but a key made one of these versions."""
    return versions.exclude(content="").exclude(editor_ref__startswith=KEY_REF).exists()


def require_change_allowed(principal: Principal, team: Team | None, versions: QuerySet[Any]) -> None:
    """Check that the principal may change or delete a text of the team that has these versions.

    Only agents' keys are restricted, and only in teams that do not allow it. Raises Forbidden.
    """
    if principal.kind != "agent_key" or team is None:
        return
    if Team.objects.filter(id=team.id, agents_may_change_texts=True).exists():
        return
    if is_written_by_people(versions):
        raise Forbidden(
            "A person wrote this, and the team does not let agents change what people wrote. Nothing was changed. "
            "Ask an admin of the team to change it, or to allow it in the team's settings."
        )
