"""Profiles as versioned data: a YAML text that admins edit, with every state it ever had."""

from django.db import models

from teams.models import valid_slug
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
