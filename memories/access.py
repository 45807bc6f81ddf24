"""Permissions on a memory are the permissions on the agent or team that owns the memory."""

from uuid import UUID

from agents.access import agent_for
from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from config.http.errors import NotFound
from memories.embeddings.active_model import SLOTS
from memories.models import Memory
from memories.services import Owner, owner_of
from teams.access import is_permitted as may_in_team
from teams.access import team_for
from teams.principal import Action, Principal


def memory_for(principal: Principal, id_: UUID, action: Action = Action.READ) -> Memory:
    """Return the memory with this id and its owner. Raises NotFound or Forbidden."""
    memory = Memory.objects.filter(id=id_).defer(*SLOTS, "search").select_related("agent", "team").first()
    if memory is None:
        raise NotFound("This memory")
    owner = owner_of(memory)
    find = agent_for if isinstance(owner, Agent) else team_for
    try:
        find(principal, owner.slug, action)
    except NotFound:
        raise NotFound("This memory") from None  # whoever may not see the owner must not learn that the memory exists
    return memory


def may_with_owner(principal: Principal, owner: Owner, action: Action) -> bool:
    """Return whether a principal who can see the owner, an agent or a team, may do this action with its memories."""
    return (
        may_with_agent(principal, owner, action) if isinstance(owner, Agent) else may_in_team(principal, owner, action)
    )
