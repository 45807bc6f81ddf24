"""The cast of the pages: an owner, an editor, a teammate who may read, an outsider, an admin, and their agent.

Functions that fixtures are made of; arguments are fixtures of the same names.
"""

from agents.models import Agent
from agents.services import agent_create
from teams.models import Team, User
from teams.principal import Role
from teams.services import membership_set, team_create


def owner() -> User:
    return User.objects.create_user("olga", name="Olga Owner")


def team(owner: User) -> Team:
    return team_create(slug="demo", name="Demo", principal=owner.principal)


def agent(team: Team) -> Agent:
    return agent_create(slug="luna", name="Luna", teams=[team], instructions="Be kind.")


def editor(team: Team) -> User:
    return _member(team, "edda", Role.EDITOR)


def teammate(team: Team) -> User:
    return _member(team, "tim", Role.VIEWER)


def outsider() -> User:
    return User.objects.create_user("otto", name="Otto Outsider")


def admin() -> User:
    return User.objects.create_superuser("ada", name="Ada Admin")


def _member(team: Team, username: str, role: Role) -> User:
    user = User.objects.create_user(username, name=username.title())
    membership_set(team=team, user=user, role=role)
    return user
