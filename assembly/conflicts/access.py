"""Conflicts are looked up with the permissions of a person or key: who may not read both sides does not find them."""

from uuid import UUID

from assembly.models import Conflict
from config.http.errors import Forbidden, NotFound
from teams.principal import Principal


def conflict_for(principal: Principal, id_: UUID) -> Conflict:
    """Return the conflict. Raises NotFound if the principal may not read both sides."""
    found = Conflict.objects.visible_to(principal).select_related("agent", "team").filter(id=id_).first()
    if found is None:
        raise NotFound("This conflict")
    return found


def require_no_agent(principal: Principal) -> None:
    """Check that the principal decides for people: an agent's key may not. Raises Forbidden."""
    if principal.kind == "agent_key":
        raise Forbidden(
            "People decide on conflicts, and the key of an agent does not. Somebody who may change both texts decides "
            "on the page of the conflict, or with an admin key."
        )


def may_resolve(principal: Principal, conflict: Conflict) -> bool:
    """Return whether a principal who sees the conflict may decide on it: people and admin keys that may change both
    sides.
    """
    return Conflict.objects.resolvable_by(principal).filter(id=conflict.id).exists()


def conflict_to_resolve(principal: Principal, id_: UUID) -> Conflict:
    """Return the conflict, to be decided. Raises NotFound, and Forbidden where a side may not be changed."""
    conflict = conflict_for(principal, id_)
    require_resolvable(principal, conflict)
    return conflict


def require_resolvable(principal: Principal, conflict: Conflict) -> None:
    """Check that the principal is no agent and may change both sides. Raises Forbidden."""
    require_no_agent(principal)
    if not may_resolve(principal, conflict):
        raise Forbidden("Only somebody who may change both texts may decide. Ask an editor of the other team.")
