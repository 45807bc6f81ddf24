"""What somebody could see when a copy of texts was made for them, so that it is checked again when it is fetched.

A prepared list of contexts and the plan of an import hold texts of agents and teams for a day. Roles change meanwhile:
the copy is shown to its requester only while they still see every agent and team that they saw when it was made.
"""

from typing import Any

from agents.models import Agent
from teams.models import Team
from teams.principal import Principal

EVERYTHING = {"everything": True}


def visibility_of(principal: Principal) -> dict[str, Any]:
    """Return the ids of the agents and teams that the principal sees now, as JSON to be stored with the copy."""
    if principal.is_admin:
        return dict(EVERYTHING)
    return {
        "agents": [str(id_) for id_ in Agent.objects.visible_to(principal).order_by("id").values_list("id", flat=True)],
        "teams": [str(id_) for id_ in Team.objects.visible_to(principal).order_by("id").values_list("id", flat=True)],
    }


def still_sees(principal: Principal, visibility: dict[str, Any]) -> bool:
    """Whether the principal sees at least what the stored visibility names.

    A copy from before visibilities were stored has an empty one; only admins of the organisation may still have it.
    """
    if principal.is_admin:
        return True
    if not visibility or visibility == EVERYTHING:
        return False
    now = visibility_of(principal)
    return all(set(visibility[kind]) <= set(now[kind]) for kind in ("agents", "teams"))
