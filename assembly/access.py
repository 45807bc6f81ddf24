"""Contexts are looked up with the permissions of a person or key."""

from uuid import UUID

from assembly.models import Assembly
from config.http.errors import NotFound
from teams.principal import Principal


def assembly_for(principal: Principal, id_: UUID) -> Assembly:
    """Return the context of this id.

    Raises NotFound if it does not exist, or if the principal may not see its agent and team.
    """
    found = Assembly.objects.visible_to(principal).filter(id=id_).first()
    if found is None:
        raise NotFound("This context")
    return found
