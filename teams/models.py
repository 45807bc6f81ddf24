"""Models of people, teams, memberships, and the files of teams."""

from collections.abc import Iterable
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from teams.activity.models import Activity
from teams.organisation.models import OrganisationFile, OrganisationFileVersion
from teams.principal import EDIT_TEAM_FILES, ROLES_FOR, Action, Principal, Role, key_permits
from teams.readings.models import Reading, ReadingReasons
from teams.secret_scanning.handling import SecretHandling
from teams.sensitivity import OF_VERSION, Sensitive
from teams.sign_in.models import BrowserSession, SignInLimit
from teams.slugs import MAX_SLUG_CHARACTERS, valid_slug
from teams.versioned_text.drafts import Draft, TextSetAside
from teams.versioned_text.presence import Presence
from teams.versioned_text.versioned_file import Version, VersionedFile

__all__ = [
    "Activity",
    "BrowserSession",
    "Draft",
    "Erasure",
    "Membership",
    "OrganisationFile",
    "OrganisationFileVersion",
    "Presence",
    "Reading",
    "Role",
    "SignInLimit",
    "Team",
    "TeamFile",
    "TeamFileVersion",
    "TextSetAside",
    "Theme",
    "User",
    "admins_of",
    "valid_slug",
]


class UserManager(BaseUserManager["User"]):
    def create_user(self, username: str, password: str | None = None, **fields: Any) -> "User":
        """Create a person. Without a password, the person cannot sign in until one is set."""
        user = self.model(username=username, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> "User":
        """Create an organisation admin."""
        return self.create_user(username, password, is_admin=True, **fields)

    def permitted(self, action: Action, team_ids: Iterable[UUID]) -> models.QuerySet["User"]:
        """Return the active people whose role in one of the teams permits the action, or else the organisation's
        admins.
        """
        active = self.filter(is_active=True)
        members = Membership.objects.filter(team_id__in=team_ids, role__in=ROLES_FOR[action])
        people = active.filter(id__in=members.values("user_id"))
        return people if people.exists() else active.filter(is_admin=True)


class Theme(models.TextChoices):
    """The colours of pages."""

    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class User(AbstractBaseUser):
    """A person who signs in. `is_admin` makes an organisation admin, who sees and may do everything."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    username = models.CharField(max_length=60, unique=True)
    name = models.CharField(max_length=120, blank=True)
    email = models.EmailField(blank=True)
    time_zone = models.CharField(max_length=63, blank=True)
    """The IANA name of the zone in which pages show times; empty for UTC."""
    theme = models.CharField(max_length=5, blank=True, choices=Theme.choices)
    """The colours of pages; empty to follow the device."""
    hides_first_steps = models.BooleanField(default=False)
    """Whether the person hid the checklist of first steps, which admins see on the start page."""
    email_notifications = models.BooleanField(default=False, db_default=False)
    """Whether the person gets notifications by e-mail, too."""
    unread_notifications = models.PositiveIntegerField(default=0, db_default=0)
    """The number that the menu shows; it is counted anew when the page of notifications is opened."""
    open_conflicts = models.PositiveIntegerField(default=0, db_default=0)
    """The number of conflicts for the person to decide, which the menu shows: see `assembly.conflicts.counts`."""
    is_admin = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        db_table = "users"

    def __str__(self) -> str:
        return self.name or self.username

    @property
    def wants_mail(self) -> bool:
        """Whether notifications are also sent to the person's e-mail address."""
        return bool(self.is_active and self.email and self.email_notifications)

    @property
    def principal(self) -> Principal:
        return Principal(kind="person", id=self.id, name=str(self), is_admin=self.is_admin)


class TeamQuerySet(models.QuerySet["Team"]):
    def permitting(self, action: Action, principal: Principal) -> "TeamQuerySet":
        """Return the teams in which the principal may perform the action. No other code checks roles for this.

        The roles are read in a subquery: a further `filter` on joined memberships would match other people's roles.
        """
        if principal.is_admin:
            return self
        if principal.kind == "person":
            own = Membership.objects.filter(user_id=principal.id, role__in=ROLES_FOR[action])
            return self.filter(id__in=own.values("team_id"))
        return (
            self.filter(id__in=principal.team_ids) if key_permits(principal, action, EDIT_TEAM_FILES) else self.none()
        )

    def visible_to(self, principal: Principal) -> "TeamQuerySet":
        """The teams that the principal may read."""
        return self.permitting(Action.READ, principal)

    def editable_by(self, principal: Principal) -> "TeamQuerySet":
        """The teams whose files the principal may edit."""
        return self.permitting(Action.EDIT, principal)

    def manageable_by(self, principal: Principal) -> "TeamQuerySet":
        """Return the teams that the principal administers, and whose name, members and agents the
        principal may change.
        """
        return self.permitting(Action.MANAGE, principal)


class Team(models.Model):
    """A group of people and agents with shared goals, context and rules.

    `agents_may_change_texts`: agents' keys may change and delete what people wrote in the team.
    `secret_handling`: what happens to texts with keys or passwords. `reading_reasons`: what people read only after they
    gave a reason.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.CharField(max_length=MAX_SLUG_CHARACTERS, unique=True, validators=[valid_slug])
    name = models.CharField(max_length=120)
    agents_may_change_texts = models.BooleanField(default=False, db_default=False)
    secret_handling = models.CharField(
        max_length=10,
        choices=SecretHandling.choices,
        default=SecretHandling.REFUSE,
        db_default=SecretHandling.REFUSE,
    )
    reading_reasons = models.CharField(
        max_length=12,
        choices=ReadingReasons.choices,
        default=ReadingReasons.NEVER,
        db_default=ReadingReasons.NEVER,
    )
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        db_table = "teams"

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What a person may do in a team."""

    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "memberships"
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]


def admins_of(team: Team) -> models.QuerySet[User]:
    """Return the people who administer the team and may sign in, by name."""
    administering = Membership.objects.filter(team=team, role__in=ROLES_FOR[Action.MANAGE])
    return User.objects.filter(id__in=administering.values("user_id"), is_active=True).order_by("name", "username")


def readers_of(teams: Iterable[UUID]) -> models.QuerySet[User]:
    """Return the people who may read in one of the teams."""
    members = Membership.objects.filter(team__in=teams, role__in=ROLES_FOR[Action.READ])
    return User.objects.filter(models.Q(id__in=members.values("user_id")) | models.Q(is_admin=True))


def teams_administered_alone(person: User) -> models.QuerySet["Team"]:
    """Return the teams of which the person is the only admin who may sign in, by name."""
    administering = Membership.objects.filter(role__in=ROLES_FOR[Action.MANAGE])
    others = administering.filter(user__is_active=True).exclude(user=person)
    own = administering.filter(user=person, user__is_active=True)
    return Team.objects.filter(id__in=own.values("team_id")).exclude(id__in=others.values("team_id")).order_by("name")


class TeamFile(Sensitive, VersionedFile):
    """One of the three files of a team: GOALS, CONTEXT or RULES. The seed calls the table `team_md_files`."""

    class Key(models.TextChoices):
        GOALS = "GOALS", "Goals"
        CONTEXT = "CONTEXT", "Background"
        RULES = "RULES", "Guidelines"

    owner_columns: ClassVar = {"team": "team_id"}

    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, related_name="files")
    file_key = models.CharField(max_length=20, choices=Key.choices)

    class Meta:
        db_table = "team_md_files"
        constraints = [
            models.UniqueConstraint(fields=["team", "file_key"], name="team_file_once"),
            models.CheckConstraint(
                condition=models.Q(file_key__in=["GOALS", "CONTEXT", "RULES"]), name="team_file_key_known"
            ),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="team_file_version_from_1"),
        ]

    @property
    def ref(self) -> str:
        return self.ref_of(self.id, self.version)

    @staticmethod
    def ref_of(file_id: UUID | str, version: int) -> str:
        """Return the ref of a version of a file."""
        return f"team_file:{file_id}@{version}"


class TeamFileVersion(Sensitive, Version):
    """A version of a team's file, which is never changed."""

    owner_columns: ClassVar = {"team": "file__team_id"}
    level_columns = OF_VERSION

    file = models.ForeignKey(TeamFile, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "team_md_file_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="team_file_version_once")]


class Erasure(models.Model):
    """A row of the audit trail about the deletion of something with its history, written by the database."""

    append_only = True

    kind = models.CharField(max_length=40)
    target = models.UUIDField()
    by_ref = models.CharField(max_length=80)
    created = models.DateTimeField()

    class Meta:
        db_table = "erasures"
