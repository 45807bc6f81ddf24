"""A file passage is a piece of a versioned text (a Markdown file or a daily log); search finds passages by meaning.

Passages are derived from the text by a background job. Only those of the text's current version are valid.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import Coalesce

from agents.models import Agent, AgentFile, DailyLog
from config.db.migration_helpers import ORGANISATION
from memories.models.document import Passage
from memories.search.languages import DEFAULT
from teams.models import OrganisationFile, Team, TeamFile
from teams.versioned_text.versioned_file import VersionedFile

FILE_MODELS: Mapping[str, type[VersionedFile]] = {
    "agent_file": AgentFile,
    "team_file": TeamFile,
    "organisation_file": OrganisationFile,
    "daily_log": DailyLog,
}
"""The versioned texts that have passages, by their kind, which is the prefix of their refs."""
FILE_KINDS: Mapping[type[Any], str] = {model: kind for kind, model in FILE_MODELS.items()}
OWNER_OF_FILE = Coalesce("agent_id", "team_id", models.Value(ORGANISATION, models.UUIDField()))


class FilePassage(Passage):
    """A file passage is a passage of one version of a file.

    The file belongs to an agent or a team; if both are null, to the organisation. `owner` is the id of the agent, the
    team or ORGANISATION.
    """

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id", "organisation": ""}

    file_kind = models.CharField(max_length=20, choices=[(kind, kind) for kind in FILE_MODELS])
    file_id = models.UUIDField()
    file_version = models.PositiveIntegerField()
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    owner = models.GeneratedField(expression=OWNER_OF_FILE, output_field=models.UUIDField(), db_persist=True)

    class Meta:
        db_table = "file_passages"
        constraints = [
            models.UniqueConstraint(fields=["file_id", "position"], name="file_passage_once"),
            models.CheckConstraint(
                condition=models.Q(agent=None) | models.Q(team=None), name="file_passage_one_owner_at_most"
            ),
        ]
        indexes = [
            GinIndex(fields=["search"], name="file_passage_search"),
            models.Index(
                fields=["owner", "language"], name="file_passage_languages", condition=~models.Q(language=DEFAULT)
            ),
        ]

    @property
    def ref(self) -> str:
        """Return the ref that names this passage in its version of the file, as team_file:<uuid>@3#7."""
        return f"{self.file_kind}:{self.file_id}@{self.file_version}#{self.position}"
