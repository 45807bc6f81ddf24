"""Whose limits and uses somebody may see, and set."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from agents.access import manages_all_teams
from agents.models import Agent, ApiKey
from config.http.errors import Forbidden, NotFound
from teams.models import Team, User
from teams.principal import Principal

KINDS = ("agent", "key", "person", "team")


@dataclass(frozen=True, slots=True)
class Subject:
    """A key, person, agent or team, with its name and, of a key or person, the kind of its principal."""

    kind: str
    id: UUID
    name: str
    principal_kind: str = ""

    @property
    def ref(self) -> str:
        """Return the name under which its limits and uses are stored."""
        return f"{self.kind}:{self.id}"


def subject_for(principal: Principal, kind: str, id_: UUID) -> Subject:
    """Return the subject, for whoever may see its limits: those who may set them, and a key or person itself.

    Raises NotFound for anybody else.
    """
    for subject in _found(kind, id_):
        if subject.ref == principal.ref or _manages(principal, subject):
            return subject
    raise NotFound(f"The {kind}" if kind in KINDS else "This kind of limits")


def require_limit_setter(principal: Principal, subject: Subject) -> None:
    """Check that the principal may set the limits of a subject that it sees. Raises Forbidden."""
    if not _manages(principal, subject):
        raise Forbidden("Only an admin may set limits. Ask one of your team or of the organisation.")


def own_subjects(principal: Principal) -> list[Subject]:
    """Return the principal itself, and the agent that it speaks for."""
    found = _found("person" if principal.kind == "person" else "key", principal.id)
    return [*found, *(_found("agent", principal.agent_id) if principal.agent_id else [])]


def managed_subjects(principal: Principal) -> list[Subject]:
    """Return all whose limits a person may set, teams first, each followed by what belongs to it by name."""
    teams = [_team(team) for team in Team.objects.manageable_by(principal).order_by("name")]
    agents = _managed_agents(principal)
    keys = ApiKey.objects.filter(revoked=None).select_related("agent").order_by("agent__name", "name", "id")
    keys = keys.filter(Q(agent__in=agents) | Q(agent=None) if principal.is_admin else Q(agent__in=agents))
    people = User.objects.filter(is_active=True).order_by("name") if principal.is_admin else User.objects.none()
    return [*teams, *map(_agent, agents), *map(_key, keys), *map(_person, people)]


def _managed_agents(principal: Principal) -> list[Agent]:
    agents = Agent.objects.visible_to(principal).order_by("name")
    if principal.is_admin:
        return list(agents)
    unmanaged = Team.objects.exclude(id__in=Team.objects.manageable_by(principal).values("id"))
    worked_in = agents.filter(teams__in=Team.objects.manageable_by(principal))
    return list(worked_in.exclude(teams__in=unmanaged).distinct())


def _manages(principal: Principal, subject: Subject) -> bool:
    if principal.is_admin:
        return True
    if principal.kind != "person":
        return False
    if subject.kind == "team":
        return Team.objects.manageable_by(principal).filter(id=subject.id).exists()
    agents = {"agent": Q(id=subject.id), "key": Q(api_keys__id=subject.id)}
    agent = Agent.objects.filter(agents[subject.kind]).first() if subject.kind in agents else None
    return agent is not None and manages_all_teams(principal, agent)


def _found(kind: str, id_: UUID) -> list[Subject]:
    if kind == "team":
        return [_team(team) for team in Team.objects.filter(id=id_)]
    if kind == "agent":
        return [_agent(agent) for agent in Agent.objects.filter(id=id_)]
    if kind == "key":
        return [_key(key) for key in ApiKey.objects.filter(id=id_).select_related("agent")]
    return [_person(person) for person in User.objects.filter(id=id_)] if kind == "person" else []


def _team(team: Team) -> Subject:
    return Subject("team", team.id, team.name)


def _agent(agent: Agent) -> Subject:
    return Subject("agent", agent.id, agent.name)


def _key(key: ApiKey) -> Subject:
    whose = f"{key.agent.name}: " if key.agent else ""
    return Subject("key", key.id, f"{whose}{key.name or key.lookup}", "agent_key" if key.agent else "admin_key")


def _person(person: User) -> Subject:
    return Subject("person", person.id, person.name or person.username, "person")
