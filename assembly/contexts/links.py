"""This module links the items of a context to pages, to the page of the considered version where there is one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from agents.models import Agent
from assembly.engine.refs import Ref
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.sources.kinds import KINDS, ORGANISATION_FILE
from teams.access import principal_of
from teams.models import OrganisationFile, Team

PAGES = {name: kind.page for name, kind in KINDS.items() if kind.page and not kind.versions}
"""URL name of an item's page by the item's kind, for kinds without a page per version."""
ANY_SLUG, ANY_ID, ANY_VERSION = "any-slug", UUID(int=0), 1_234_567_890
"""Placeholders with which a URL pattern is resolved once, instead of resolving hundreds of URLs per page."""


@dataclass(frozen=True)  # without slots, because of the cached property
class ItemLinks:
    """The current slugs of a context's agent and team, for links; empty for a deleted or invisible owner."""

    agent: str
    team: str

    def address_of(self, candidate: Candidate) -> str:
        """Return the address of the considered version, or of the item; empty if there is no page to read."""
        ref, key = Ref.parse(candidate.ref), candidate.kind
        kind, version = ref.kind, ref.version
        if kind == "agent_file" and self.agent and key:
            return f"/agents/{self.agent}/files/{key}/history/{version}/"
        if kind == "team_file" and self.team and key:
            return f"/teams/{self.team}/files/{key}/history/{version}/"
        if kind == "daily_log" and self.agent:
            return f"/agents/{self.agent}/logs/{candidate.date}/history/{version}/"
        if kind == ORGANISATION_FILE:
            file_key = self.organisation_file_keys.get(ref.id, "")
            return f"/organisation/files/{file_key}/history/{version}/" if file_key else ""
        if kind == "memory":
            return address_pattern("memory_version", ANY_ID, ANY_VERSION).format(ref.id, version)
        if kind in PAGES and self.agent:
            return address_pattern(PAGES[kind], ANY_SLUG, ANY_ID).format(self.agent, ref.id)
        return ""

    @cached_property
    def organisation_file_keys(self) -> Mapping[str, str]:
        """The keys of the organisation's files by their ids, read once for all items."""
        return {str(id_): key for id_, key in OrganisationFile.objects.values_list("id", "file_key")}


@cache
def address_pattern(page: str, *arguments: object) -> str:
    """Return the address of a page with a placeholder ({0}, {1}, …) for each argument."""
    address = reverse(page, args=arguments)
    for place, argument in enumerate(arguments):
        address = address.replace(str(argument), f"{{{place}}}")
    return address


def item_links(request: HttpRequest, assembly: Assembly) -> ItemLinks:
    """Return the links for a context's agent and team, as far as the user may see these."""
    principal = principal_of(request)
    agent = Agent.objects.visible_to(principal).filter(id=assembly.agent_id).values_list("slug", flat=True).first()
    teams = Team.objects.visible_to(principal).values_list("slug", flat=True)
    team = teams.filter(id=assembly.team_id).first() if assembly.team_id else None
    return ItemLinks(agent or "", team or "")
