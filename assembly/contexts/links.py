"""Where the things of a context can be read today: the very version that was considered, where it has one."""

from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from agents.models import Agent
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.sources.kinds import KINDS
from teams.access import principal_of
from teams.models import Team

PAGES = {name: kind.page for name, kind in KINDS.items() if kind.page and not kind.versions}
"""By the beginning of a ref, the page of the item, where it has one and no page for each version."""
ANY_SLUG, ANY_ID, ANY_VERSION = "any-slug", UUID(int=0), 1_234_567_890
"""Stand for all others where an address is looked up once, and not for each of the hundreds on a page."""


@dataclass(frozen=True, slots=True)
class ItemLinks:
    """Where the agent and the team of a context are found today; empty for what was deleted."""

    agent: str
    team: str

    def address_of(self, candidate: Candidate) -> str:
        """The page of the version that was considered, or of the thing; empty where there is nothing to read."""
        ref, key = Ref.parse(candidate.ref), candidate.kind
        kind, version = ref.kind, ref.version
        if kind == "agent_file" and self.agent and key:
            return f"/agents/{self.agent}/files/{key}/history/{version}/"
        if kind == "team_file" and self.team and key:
            return f"/teams/{self.team}/files/{key}/history/{version}/"
        if kind == "daily_log" and self.agent:
            return f"/agents/{self.agent}/logs/{candidate.date}/history/{version}/"
        if kind == "memory":
            return address_pattern("memory_version", ANY_ID, ANY_VERSION).format(ref.id, version)
        if kind in PAGES and self.agent:
            return address_pattern(PAGES[kind], ANY_SLUG, ANY_ID).format(self.agent, ref.id)
        return ""


@cache
def address_pattern(page: str, *arguments: object) -> str:
    """The address of the page with a gap for each argument."""
    address = reverse(page, args=arguments)
    for place, argument in enumerate(arguments):
        address = address.replace(str(argument), f"{{{place}}}")
    return address


def item_links(request: HttpRequest, assembly: Assembly) -> ItemLinks:
    """Of the agent and the team, as far as who asks may see them."""
    principal = principal_of(request)
    agent = Agent.objects.visible_to(principal).filter(id=assembly.agent_id).values_list("slug", flat=True).first()
    teams = Team.objects.visible_to(principal).values_list("slug", flat=True)
    team = teams.filter(id=assembly.team_id).first() if assembly.team_id else None
    return ItemLinks(agent or "", team or "")
