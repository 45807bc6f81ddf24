"""Profiles as versioned data: a YAML text that admins edit, with every state it ever had.

Rules as versioned data: a YAML text, for everybody, a team or an agent, with every state it ever had.
"""

from django.db import models
from django.db.models import Q

from agents.models import Agent
from assembly.engine.rules import Scope
from teams.models import Team, valid_slug
from teams.principal import Principal
from teams.versioned_text.versioned_file import Version, VersionedFile


class StoredProfile(VersionedFile):
    """A profile by its name. Its content is YAML; saving one that is invalid is refused."""

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
    """One saved state of a profile, for ever."""

    file = models.ForeignKey(StoredProfile, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "profile_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="profile_version_once")]


class StoredRuleQuerySet(models.QuerySet["StoredRule"]):
    def visible_to(self, principal: Principal) -> "StoredRuleQuerySet":
        """The rules that the principal may read: those for everybody, and those of the agents and teams it sees."""
        if principal.is_admin:
            return self
        agents, teams = Agent.objects.visible_to(principal), Team.objects.visible_to(principal)
        return self.filter(Q(agent=None, team=None) | Q(agent__in=agents.values("id")) | Q(team__in=teams.values("id")))

    def in_force(self, agent: Agent, team: Team | None) -> "StoredRuleQuerySet":
        """The enabled rules for the agent, in the team if one is given, and for everybody; by name."""
        owned = Q(agent=None, team=None) | Q(agent=agent)
        return self.filter(owned | Q(team=team) if team else owned, enabled=True).order_by("name")


class StoredRule(VersionedFile):
    """A rule by its name. Its content is YAML; without an agent and a team it is for everybody."""

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
        """Whom it is for; None: everybody."""
        return self.agent or self.team

    @property
    def scope(self) -> Scope:
        """How narrow that is."""
        return "agent" if self.agent_id else "team" if self.team_id else "everywhere"


class StoredRuleVersion(Version):
    """One saved state of a rule, for ever."""

    file = models.ForeignKey(StoredRule, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "rule_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="rule_version_once")]
