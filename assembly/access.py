"""Who may read a context."""

from uuid import UUID

from assembly.models import Assembly
from config.http.errors import NotFound
from teams.principal import Principal


def assembly_for(principal: Principal, id_: UUID) -> Assembly:
    """The assembly, if the principal may see its agent and its team. Raises NotFound."""
    found = Assembly.objects.visible_to(principal).filter(id=id_).first()
    if found is None:
        raise NotFound("This context")
    return found
