"""Who keeps memories, an agent or a team, as the pages of its memories show it."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.models import Agent
from memories.access import may_with_owner
from memories.services import Owner
from memories.views.agent_item import crumbs_to
from teams.access import asking
from teams.principal import Action
from teams.versioned_text.presentation import Crumb


def frame(request: HttpRequest, owner: Owner) -> dict[str, Any]:
    """What every page of the owner's memories shows."""
    kind = "agent" if isinstance(owner, Agent) else "team"
    list_address = reverse(f"{kind}_memories", args=[owner.slug])
    return {
        "owner": owner,
        "kind": kind,
        "may_write": may_with_owner(asking(request), owner, Action.WRITE),
        "crumbs": (*_crumbs(owner), Crumb(_("Memories"), list_address)),
        "list_address": list_address,
        "new_address": reverse(f"{kind}_memory_new", args=[owner.slug]),
        "merge_address": reverse(f"{kind}_memory_merge", args=[owner.slug]),
    }


def _crumbs(owner: Owner) -> tuple[Crumb, ...]:
    if isinstance(owner, Agent):
        return crumbs_to(owner)
    return Crumb(_("Teams"), reverse("team_list")), Crumb(owner.name, reverse("team_page", args=[owner.slug]))
