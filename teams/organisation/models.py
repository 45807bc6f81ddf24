"""These models store the files of the whole organisation with their versions."""

from typing import Any, ClassVar, cast
from uuid import UUID

from django.db import models

from teams.sealing.fields import SealedText
from teams.sensitivity import OF_VERSION, Sensitive
from teams.slugs import MAX_SLUG_CHARACTERS, valid_slug
from teams.versioned_text.versioned_file import Version, VersionedFile

MAX_TITLE_CHARACTERS = 120
ORGANISATION_TEXT = "ORGANISATION"
"""The key by which the size of every file of the organisation is measured: by itself, because contexts have passages
of it that are found by meaning, not its beginning.
"""


class OrganisationFile(Sensitive, VersionedFile):
    """An organisation file is a Markdown file of the organisation, such as a style guide. Its key never changes.

    The title belongs to the versioned state: a file with a new title has a new version.
    """

    owner_columns: ClassVar = {"organisation": ""}

    file_key = models.CharField(max_length=MAX_SLUG_CHARACTERS, unique=True, validators=[valid_slug])
    title = SealedText(max_length=MAX_TITLE_CHARACTERS)

    class Meta:
        db_table = "organisation_files"
        constraints: ClassVar[list[Any]] = [
            models.CheckConstraint(condition=models.Q(version__gte=1), name="organisation_file_version_from_1"),
        ]

    def __str__(self) -> str:
        return str(self.title)

    @property
    def ref(self) -> str:
        return self.ref_of(self.id, self.version)

    @staticmethod
    def ref_of(file_id: UUID | str, version: int) -> str:
        """Return the ref of a version of a file; a passage's ref has its number after it, as in `#3`."""
        return f"organisation_file:{file_id}@{version}"

    def as_version(self, note: str = "") -> "OrganisationFileVersion":
        version = cast("OrganisationFileVersion", super().as_version(note))
        version.title = self.title
        return version


class OrganisationFileVersion(Sensitive, Version):
    """This is a version of a file of the organisation, which is never changed."""

    owner_columns: ClassVar = {"organisation": ""}
    level_columns = OF_VERSION

    file = models.ForeignKey(OrganisationFile, models.DO_NOTHING, db_constraint=False, related_name="versions")
    title = SealedText(max_length=MAX_TITLE_CHARACTERS)

    class Meta(Version.Meta):
        db_table = "organisation_file_versions"
        constraints: ClassVar[list[Any]] = [
            models.UniqueConstraint(fields=["file", "version"], name="organisation_file_version_once"),
        ]
