"""A document is a text file of a project that an agent works on; search finds the chunks of its text."""

from typing import ClassVar
from uuid import UUID

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models

from memories.lifecycle.half_vectors import TieredVector
from memories.lifecycle.tiered_text import TieredPassage, TieredText
from memories.lifecycle.tiers import Tiered
from memories.models.agent_item import AgentItem, newest_first_index, sealed_index, unique_external_id
from memories.models.embedding import Embedded
from memories.search.languages import DEFAULT, LANGUAGES
from teams.sealing.fields import SealedText
from teams.sealing.names import SealedName
from teams.sensitivity import Sensitive

WORDS = models.Case(
    *(models.When(language=name, then=SearchVector("text", config=name)) for name in LANGUAGES if name != DEFAULT),
    default=SearchVector("text", config=DEFAULT),
)


class Document(Tiered, AgentItem):
    """A document is a text file, identified by its path.

    `split_version` is the version whose text was split into chunks, 0 before the first time. `is_open` says that the
    agent has the file open in its editor now.
    """

    ref_kind = "document"
    context_fields = frozenset({"path", "content"})

    path = SealedName(max_length=500)
    language = models.CharField(max_length=40, blank=True, default="")
    content = TieredText(blank=True, default="")
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
            sealed_index("document"),
            models.Index(fields=["agent", "-updated"], condition=models.Q(is_open=True), name="document_agent_open"),
        ]

    def __str__(self) -> str:
        return str(self.path)


class Passage(Sensitive, Embedded):
    """A passage is a piece of one version of a text: characters `start` to `end`, beginning on line `line`. It is as
    sensitive as the whole text.

    Full-text search uses the text search configuration named by `language`; code counts as English.
    """

    id = models.BigAutoField(primary_key=True)
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    line = models.PositiveIntegerField()
    text = SealedText()
    language = models.CharField(
        max_length=20, choices=[(name, name) for name in LANGUAGES], default=DEFAULT, db_default=DEFAULT
    )
    search = models.GeneratedField(expression=WORDS, output_field=SearchVectorField(), db_persist=True)

    class Meta:
        abstract = True


class Chunk(Passage):
    """A chunk is a passage of one version of a document. Where the document is packed, the chunk's text is read from
    it, and its vectors are stored in half precision; a cold or frozen document has no chunks.
    """

    owner_columns: ClassVar = {"agent": "agent_id"}

    text = TieredPassage()
    embedding = TieredVector(null=True)
    second_embedding = TieredVector(null=True)
    document = models.ForeignKey(Document, models.DO_NOTHING, db_constraint=False, related_name="chunks")
    agent = models.ForeignKey("agents.Agent", models.DO_NOTHING, db_constraint=False, related_name="+")
    document_version = models.PositiveIntegerField()

    class Meta:
        db_table = "chunks"
        constraints = [models.UniqueConstraint(fields=["document", "position"], name="chunk_once")]
        indexes = [
            GinIndex(fields=["search"], name="chunk_search"),
            # The index on languages is partial: most owners have texts in English alone, for which it has no entries.
            models.Index(
                fields=["agent", "language"], name="chunk_agent_languages", condition=~models.Q(language=DEFAULT)
            ),
        ]

    @property
    def ref(self) -> str:
        """Return the ref that names this chunk in its version of the document, as chunk:<document>@3#7."""
        return chunk_ref(self.document_id, self.document_version, self.position)


def chunk_ref(document: UUID, version: int, position: int) -> str:
    """Return the ref that names the chunk at a position of a version of a document."""
    return f"chunk:{document}@{version}#{position}"
