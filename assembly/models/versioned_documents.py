"""Profiles and rules are YAML texts that people edit, stored with all their versions.

A profile is for everybody; a rule is for everybody, a team or an agent.
"""

from django.db import models
from django.db.models import Q

from agents.models import Agent
from assembly.engine.rules import Scope
from teams.models import Team, valid_slug
from teams.principal import Principal
from teams.versioned_text.versioned_file import Version, VersionedFile


class StoredProfile(VersionedFile):
    """A profile, identified by its name. Its content is YAML; invalid content is refused when it is saved."""

    name = models.CharField(max_length=60, unique=True, validators=[valid_slug])
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "profiles"

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        return f"profile:{self.name}@{self.version}"


class StoredProfileVersion(Version):
    """One immutable version of a profile."""

    file = models.ForeignKey(StoredProfile, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "profile_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="profile_version_once")]


class StoredRuleQuerySet(models.QuerySet["StoredRule"]):
    def visible_to(self, principal: Principal) -> "StoredRuleQuerySet":
        """Return the rules for everybody, and those of the agents and teams that the principal may read."""
        if principal.is_admin:
            return self
        agents, teams = Agent.objects.visible_to(principal), Team.objects.visible_to(principal)
        return self.filter(Q(agent=None, team=None) | Q(agent__in=agents.values("id")) | Q(team__in=teams.values("id")))

    def in_force(self, agent: Agent, team: Team | None) -> "StoredRuleQuerySet":
        """Return the enabled rules for everybody, for the agent and, if given, for the team, sorted by name."""
        owned = Q(agent=None, team=None) | Q(agent=agent)
        return self.filter(owned | Q(team=team) if team else owned, enabled=True).order_by("name")


class StoredRule(VersionedFile):
    """A rule, identified by its name. Its content is YAML; without an agent and a team, it applies to everybody."""

    name = models.CharField(max_length=60, unique=True, validators=[valid_slug])
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="rules")
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="rules")
    enabled = models.BooleanField(default=True)
    created = models.DateTimeField(auto_now_add=True)

    objects = StoredRuleQuerySet.as_manager()

    class Meta:
        db_table = "rules"
        constraints = [
            models.CheckConstraint(condition=Q(agent=None) | Q(team=None), name="rule_one_owner"),
            models.CheckConstraint(condition=Q(version__gte=1), name="rule_version_from_1"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        return f"rule:{self.name}@{self.version}"

    @property
    def owner(self) -> Agent | Team | None:
        """The agent or team that the rule applies to; None: everybody."""
        return self.agent or self.team

    @property
    def scope(self) -> Scope:
        """The rule's scope: agent, team or everywhere."""
        return "agent" if self.agent_id else "team" if self.team_id else "everywhere"


class StoredRuleVersion(Version):
    """One immutable version of a rule."""

    file = models.ForeignKey(StoredRule, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "rule_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="rule_version_once")]
