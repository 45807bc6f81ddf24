"""Recall tests say what the contexts of an agent must and must not include; their results are append-only.

A publication guard makes a text wait until the recall tests that it concerns pass.
"""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from uuid_utils.compat import uuid7

from agents.models import Agent
from teams.models import Team
from teams.principal import Principal
from teams.sealing.fields import SealedJson, SealedText
from teams.sensitivity import Sensitive, SensitiveManager
from teams.versioned_text.versioned_file import Signed

MAX_TEST_NAME_CHARACTERS = 120


class RecallTrigger(models.TextChoices):
    """Why a recall test was run and its result stored."""

    REQUEST = "request", "On request"
    EMBEDDER = "embedder", "After a change of the embedder"


class RecallTestQuerySet(models.QuerySet["RecallTest"]):
    def visible_to(self, principal: Principal) -> "RecallTestQuerySet":
        """Return the tests whose team, or else agent, the principal may read; for a key, only those of its agent."""
        if principal.is_admin:
            return self
        agents, teams = Agent.objects.visible_to(principal).values("id"), Team.objects.visible_to(principal)
        of_team = Q(team__in=teams.values("id"))
        if principal.kind != "person":
            of_team &= Q(agent=None) | Q(agent__in=agents)
        return self.filter(of_team | Q(team=None, agent__in=agents))

    def active(self) -> "RecallTestQuerySet":
        """Return the tests that are not archived."""
        return self.filter(archived=None)


class RecallTest(Sensitive, Signed):
    """A question, and what the context for it must and must not include.

    Without a team, it is the agent's own and its contexts have no team. With a team, it belongs to the team, and is run
    for the given agent or for each agent of the team. `expectations` is a list of objects with `kind` (include or
    exclude), `ref` or `text`, and `label`; see `assembly.recall_tests.expectations`. `profile` is empty for the agent's
    own, `budget` is in tokens, None for the profile's. `is_written_by_people` says whether anybody but agents' keys
    wrote a version of it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    version = models.PositiveIntegerField(default=1)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="recall_tests")
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="recall_tests")
    name = SealedText(max_length=MAX_TEST_NAME_CHARACTERS)
    topic = SealedText(blank=True, default="")
    profile = models.CharField(max_length=60, blank=True, default="")
    budget = models.PositiveIntegerField(null=True)
    expectations: Any = SealedJson(default=list)
    archived = models.DateTimeField(null=True)
    is_written_by_people = models.BooleanField(default=False, db_default=False)

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id"}
    owners_together = True

    objects: ClassVar = SensitiveManager.from_queryset(RecallTestQuerySet)()
    everything: ClassVar = models.Manager()

    class Meta:
        db_table = "recall_tests"
        constraints = [
            models.CheckConstraint(condition=Q(agent__isnull=False) | Q(team__isnull=False), name="recall_test_owned"),
            models.CheckConstraint(condition=Q(version__gte=1), name="recall_test_version_from_1"),
        ]

    def __str__(self) -> str:
        return str(self.name)

    @property
    def owner(self) -> Agent | Team:
        """The team that the test belongs to, or else its agent."""
        owner = self.team or self.agent
        if owner is None:
            raise ValueError("A recall test belongs to an agent or a team.")
        return owner


class RecallResult(Sensitive):
    """The result of one run of a test for one agent, stored by value.

    `outcomes` are the expectations, each with `passed`, `code` and `reason`. `fault` says why the test could not be
    run; it is empty otherwise. Only the newest results of a test and agent are retained.
    """

    append_only = True
    owner_columns: ClassVar = {"agent": "agent_id", "team": "test__team_id"}
    level_columns = ("sensitivity", "test__sensitivity")
    owners_together = True
    outlives_agent = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    test = models.ForeignKey(RecallTest, models.DO_NOTHING, db_constraint=False, related_name="results", db_index=False)
    test_version = models.PositiveIntegerField()
    agent_id = models.UUIDField()
    agent_slug = models.CharField(max_length=60)
    agent_name = models.CharField(max_length=120)
    trigger = models.CharField(max_length=10, choices=RecallTrigger.choices)
    passed = models.BooleanField()
    fault = models.TextField(blank=True, default="")
    profile_name = models.CharField(max_length=60)
    profile_version = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    outcomes: Any = SealedJson(default=list)
    requested_by = models.CharField(max_length=80)
    requester_name = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "recall_results"
        indexes = [models.Index(fields=["test", "agent_id", "-created", "-id"], name="recall_result_newest")]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The expectations that were not met."""
        return [outcome for outcome in self.outcomes if not outcome["passed"]]


class PublicationGuard(models.Model):
    """A file or profile whose next version is refused if it breaks a recall test that it concerns.

    `about` is the ref of the text without a version (`VersionedFile.about`).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    about = models.CharField(max_length=160, unique=True)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    set_by = models.CharField(max_length=80)
    setter_name = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "publication_guards"
