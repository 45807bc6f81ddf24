"""Documents: the files of a project that an agent works on, and the chunks that search finds."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models

from memories.models.agent_item import AgentItem, newest_first_index, unique_external_id
from memories.models.embedding import Embedded
from memories.search.languages import DEFAULT, LANGUAGES

WORDS = models.Case(
    *(models.When(language=name, then=SearchVector("text", config=name)) for name in LANGUAGES if name != DEFAULT),
    default=SearchVector("text", config=DEFAULT),
)


class Document(AgentItem):
    """A text file by its path. `split_version` is the version that its chunks were made from; 0: none yet.

    `is_open`: the agent has it open in its editor now.
    """

    ref_kind = "document"

    path = models.CharField(max_length=500)
    language = models.CharField(max_length=40, blank=True, default="")
    content = models.TextField(blank=True, default="")
    is_open = models.BooleanField(default=False)
    split_version = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "documents"
        constraints = [
            unique_external_id("document"),
            models.UniqueConstraint(fields=["agent", "path"], name="document_once"),
        ]
        indexes = [
            newest_first_index("document"),
            models.Index(fields=["agent", "-updated"], condition=models.Q(is_open=True), name="document_agent_open"),
        ]

    def __str__(self) -> str:
        return self.path


class Chunk(Embedded):
    """A piece of one version of a document, with its place: characters from `start` to `end`, first line `line`.

    Its words are found by the text search configuration of its `language`; code counts as English.
    """

    id = models.BigAutoField(primary_key=True)
    document = models.ForeignKey(Document, models.DO_NOTHING, db_constraint=False, related_name="chunks")
    agent = models.ForeignKey("agents.Agent", models.DO_NOTHING, db_constraint=False, related_name="+")
    document_version = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    line = models.PositiveIntegerField()
    text = models.TextField()
    language = models.CharField(
        max_length=20, choices=[(name, name) for name in LANGUAGES], default=DEFAULT, db_default=DEFAULT
    )
    search = models.GeneratedField(expression=WORDS, output_field=SearchVectorField(), db_persist=True)

    class Meta:
        db_table = "chunks"
        constraints = [models.UniqueConstraint(fields=["document", "position"], name="chunk_once")]
        indexes = [
            GinIndex(fields=["search"], name="chunk_search"),
            # Which other languages an agent's chunks are in: for most agents, a look at nothing.
            models.Index(
                fields=["agent", "language"], name="chunk_agent_languages", condition=~models.Q(language=DEFAULT)
            ),
        ]

    @property
    def ref(self) -> str:
        """Names the piece of that version: chunk:<document>@3#7."""
        return f"chunk:{self.document_id}@{self.document_version}#{self.position}"
