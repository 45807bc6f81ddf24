"""These functions decide who may see and set whose limits."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from agents.access import agent_for, require_manager_of_all_teams
from agents.models import Agent, AgentTeam, ApiKey
from config.http.errors import Forbidden, NotFound
from teams.access import require_admin, team_for
from teams.models import Team, User
from teams.principal import Action, Principal

SubjectKind = Literal["agent", "key", "person", "team"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A key, person, agent or team that has limits, with its name; keys and people also have the kind of their
    principal.

    `slug` is that of the team or the agent; for a key, that of its agent.
    """

    kind: SubjectKind
    id: UUID
    name: str
    principal_kind: str = ""
    slug: str = ""

    @property
    def ref(self) -> str:
        """The ref under which the limits and the usage of the subject are stored."""
        return f"{self.kind}:{self.id}"

    @property
    def address(self) -> str:
        """The path of the page of the subject's limits."""
        if self.kind in {"team", "agent"}:
            return reverse(f"{self.kind}_limits", args=[self.slug])
        if self.kind == "person":
            return reverse("person_limits", args=[self.id])
        return (
            reverse("agent_key_limits", args=[self.slug, self.id])
            if self.slug
            else reverse("key_limits", args=[self.id])
        )


def team_ids_of(subject: Subject) -> list[UUID]:
    """Return the ids of the teams whose admins read in the activity log of the subject's limits."""
    if subject.kind == "team":
        return [subject.id]
    of = Q(agent=subject.id) if subject.kind == "agent" else Q(agent__slug=subject.slug)
    return list(AgentTeam.objects.filter(of).values_list("team_id", flat=True))


def team_subject(principal: Principal, slug: str) -> Subject:
    """Return a team as a subject, for its admins. Raises NotFound or Forbidden."""
    return _team(team_for(principal, slug, Action.MANAGE))


def agent_subject(principal: Principal, slug: str) -> Subject:
    """Return an agent as a subject, for admins of all its teams. Raises NotFound or Forbidden."""
    return _agent(_managed_agent(principal, slug))


def agent_key_subject(principal: Principal, slug: str, key_id: UUID) -> Subject:
    """Return a key of the agent as a subject, for admins of all its teams. Raises NotFound or Forbidden."""
    key = ApiKey.objects.filter(agent=_managed_agent(principal, slug), id=key_id).select_related("agent").first()
    if key is None:
        raise NotFound("The key")
    return _key(key)


def key_subject(principal: Principal, key_id: UUID) -> Subject:
    """Return any key as a subject, for organisation admins. Raises Forbidden or NotFound."""
    require_admin(principal)
    key = ApiKey.objects.filter(id=key_id).select_related("agent").first()
    if key is None:
        raise NotFound("The key")
    return _key(key)


def person_subject(principal: Principal, id_: UUID) -> Subject:
    """Return a person as a subject, for that person and organisation admins. Raises Forbidden or NotFound."""
    if principal.ref != f"person:{id_}":
        require_admin(principal)
    person = User.objects.filter(id=id_).first()
    if person is None:
        raise NotFound("The person")
    return _person(person)


def may_set(principal: Principal, subject: Subject) -> bool:
    """Return whether the principal, who sees the subject's limits, may set them. Nobody may set their own."""
    return principal.is_admin or subject.ref != principal.ref


def require_limit_setter(principal: Principal, subject: Subject) -> None:
    """Check that the principal, who sees the subject's limits, may set them. Raises Forbidden."""
    if not may_set(principal, subject):
        raise Forbidden("Only an admin of the organisation may set your limits. Ask one of them.")


def own_subjects(principal: Principal) -> list[Subject]:
    """Return the principal itself, and the agent of its key."""
    if principal.kind == "person":
        return [_person(person) for person in User.objects.filter(id=principal.id)]
    keys = ApiKey.objects.filter(id=principal.id).select_related("agent")
    return [subject for key in keys for subject in (_key(key), *([_agent(key.agent)] if key.agent else []))]


def managed_subjects(principal: Principal) -> list[Subject]:
    """Return all subjects whose limits a person may set: teams, agents, keys and people, each by name."""
    teams = [_team(team) for team in Team.objects.manageable_by(principal).order_by("name")]
    agents = _managed_agents(principal)
    of_agents = Q(agent__in=agents)
    keys = ApiKey.objects.filter(of_agents | Q(agent=None) if principal.is_admin else of_agents, revoked=None)
    people = User.objects.filter(is_active=True).order_by("name") if principal.is_admin else User.objects.none()
    by_name = keys.select_related("agent").order_by("agent__name", "name", "id")
    return [*teams, *map(_agent, agents), *map(_key, by_name), *map(_person, people)]


def _managed_agent(principal: Principal, slug: str) -> Agent:
    agent = agent_for(principal, slug, Action.MANAGE)
    require_manager_of_all_teams(principal, agent)
    return agent


def _managed_agents(principal: Principal) -> list[Agent]:
    agents = Agent.objects.visible_to(principal).order_by("name")
    if principal.is_admin:
        return list(agents)
    managed = Team.objects.manageable_by(principal)
    others = Team.objects.exclude(id__in=managed.values("id"))
    worked_in = agents.filter(team_links__team__in=managed)
    return list(worked_in.exclude(team_links__team__in=others).distinct())


def _team(team: Team) -> Subject:
    return Subject("team", team.id, team.name, slug=team.slug)


def _agent(agent: Agent) -> Subject:
    return Subject("agent", agent.id, agent.name, slug=agent.slug)


def _key(key: ApiKey) -> Subject:
    name = key.name or key.lookup
    if key.agent is None:
        return Subject("key", key.id, name, "admin_key")
    return Subject("key", key.id, f"{key.agent.name}: {name}", "agent_key", key.agent.slug)


def _person(person: User) -> Subject:
    return Subject("person", person.id, person.name or person.username, "person")
