"""The checklist of the first steps that admins see on the start page until all are done, or until they hide it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, AgentFile, ApiKey
from assembly.models import Assembly
from teams.models import Team


@dataclass(frozen=True, slots=True)
class Step:
    """A first step: what to do, why, the page on which it is done (empty: it is done elsewhere), whether it is done."""

    label: str | Promise
    why: str | Promise
    address: str
    is_done: bool
    command: str = ""


def first_steps(base_url: str) -> Sequence[Step]:
    """Return the first steps in their order. `base_url` is the address of this installation, for the command."""
    agent = Agent.objects.order_by("created", "id").first()
    team = Team.objects.order_by("created", "id").first()
    of_agent = [agent.slug] if agent else []
    identity = reverse("agent_file", args=[*of_agent, "IDENTITY"]) if agent else ""
    return (
        Step(_("Create a team"), _("Its goals, background and guidelines are shared by its agents."),
             reverse("team_new"), team is not None),
        Step(_("Create an agent"), _("It works in one or more teams."), reverse("agent_new"), agent is not None),
        Step(_("Write its Identity"), _("Who it is. It is included in full in each of its contexts."), identity,
             AgentFile.objects.filter(file_key=AgentFile.Key.IDENTITY).exclude(content="").exists()),
        Step(_("Preview its context"), _("See what the agent receives, and why."),
             f"{reverse('preview')}?agent={agent.slug}" if agent else "", Assembly.objects.exists()),
        Step(_("Create an API key"), _("With it, the agent requests its contexts."),
             reverse("agent_keys", args=of_agent) if agent else "", ApiKey.objects.exists()),
        Step(_("Request a context with the API"), _("Run this command with the key:"), "",
             ApiKey.objects.exclude(last_used=None).exists(), _command(base_url, agent.slug) if agent else ""),
    )  # fmt: skip


def _command(base_url: str, slug: str) -> str:
    body = f'{{"agent": "{slug}"}}'
    return (
        f"curl -s {base_url}/api/v1/assemblies -H 'Authorization: Bearer YOUR_KEY' "
        f"-H 'Content-Type: application/json' -d '{body}'"
    )
