"""Who may do what with a memory: what they may do with the agent or the team that keeps it."""

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
    """The memory of that id with its owner. Raises NotFound or Forbidden."""
    memory = Memory.objects.filter(id=id_).defer(*SLOTS, "search").select_related("agent", "team").first()
    if memory is None:
        raise NotFound("This memory")
    owner = owner_of(memory)
    find = agent_for if isinstance(owner, Agent) else team_for
    try:
        find(principal, owner.slug, action)
    except NotFound:
        raise NotFound("This memory") from None  # whose it is, is nobody's business
    return memory


def may_with_owner(principal: Principal, owner: Owner, action: Action) -> bool:
    """Whether somebody who can see the owner may do this with it."""
    return (
        may_with_agent(principal, owner, action) if isinstance(owner, Agent) else may_in_team(principal, owner, action)
    )
