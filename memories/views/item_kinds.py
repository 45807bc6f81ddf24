"""The kinds of items that share list and edit pages are described here, with words, form, search and services."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from memories.embeddings.active_model import SLOTS
from memories.forms import (
    AgentItemForm,
    DocumentForm,
    DocumentSearch,
    EntityForm,
    EntitySearch,
    ItemSearch,
    PatternForm,
    PatternSearch,
    ThreadForm,
    ThreadSearch,
    ToolForm,
    ToolSearch,
)
from memories.lifecycle.tiered_text import TieredCharacters
from memories.models import Document, Entity, Pattern, Thread, Tool
from memories.models.agent_item import AgentItem
from memories.services.agent_item import agent_item_update, agent_items_create
from memories.services.document import document_update, documents_create
from memories.services.item_hooks import thread_update
from teams.guidance import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """A kind of item on pages. `key` names its URLs and templates; lists are in descending order of `order`.

    `first` is shown on an empty list, and says what the kind is for.
    """

    key: str
    plural: str
    model: type[AgentItem]
    form: type[AgentItemForm]
    search: type[ItemSearch]
    title: Text
    lead: Text
    new: Text
    none: Text
    first: Text
    order: tuple[str, str] = ("created", "id")
    create: Callable[..., Sequence[AgentItem]]
    update: Callable[..., AgentItem] = agent_item_update
    with_counts: Callable[[QuerySet[Any]], QuerySet[Any]] = QuerySet.all

    def rows(self, agent: Agent) -> QuerySet[Any]:
        """Return all items of this kind of the agent."""
        rows: QuerySet[Any] = self.model._default_manager.filter(agent=agent)  # noqa: SLF001 - Django's documented manager
        return rows

    def listed(self, agent: Agent) -> QuerySet[Any]:
        """Return all items of this kind of the agent, with the columns and counts that a list shows."""
        return self.with_counts(self.rows(agent))

    @property
    def list_template(self) -> str:
        """The path of the template that shows an item in a list."""
        return f"memories/agent_item/list_rows/{self.key}.html"

    @property
    def detail_template(self) -> str:
        """The path of the template that shows an item on its page."""
        return f"memories/agent_item/details/{self.key}.html"


def _without_content(rows: QuerySet[Any]) -> QuerySet[Any]:
    current = Count("chunks", filter=Q(split_version=F("version")))
    listed: QuerySet[Any] = rows.defer("content").annotate(characters=TieredCharacters("content"), pieces=current)
    return listed


ENTITY = ItemPage(
    key="entity",
    plural="entities",
    model=Entity,
    form=EntityForm,
    search=EntitySearch,
    title=_("Entities"),
    lead=_("People, places, projects and other things that the agent knows."),
    new=_("New entity"),
    none=_("No entities yet"),
    first=_("Entities are included in contexts whose topic mentions them, with their relations."),
    create=partial(agent_items_create, model=Entity),
    with_counts=lambda rows: rows.defer(*SLOTS),
)
PATTERN = ItemPage(
    key="pattern",
    plural="patterns",
    model=Pattern,
    form=PatternForm,
    search=PatternSearch,
    title=_("Patterns"),
    lead=_("Practices that worked before, with their triggers."),
    new=_("New pattern"),
    none=_("No patterns yet"),
    first=_("Record what works: a pattern is included when the topic has one of its trigger words."),
    create=partial(agent_items_create, model=Pattern),
)
THREAD = ItemPage(
    key="thread",
    plural="threads",
    model=Thread,
    form=ThreadForm,
    search=ThreadSearch,
    title=_("Threads"),
    lead=_("Topics that continue over several sessions. Active threads can be included in every context."),
    new=_("New thread"),
    none=_("No threads yet"),
    first=_("A thread is an ongoing topic: a launch, a complaint, a move. Describe it and its status."),
    order=("touched_at", "id"),
    create=partial(agent_items_create, model=Thread),
    update=thread_update,
)
TOOL = ItemPage(
    key="tool",
    plural="tools",
    model=Tool,
    form=ToolForm,
    search=ToolSearch,
    title=_("Tools"),
    lead=_("Functions that the agent can call. Relevant ones are included in contexts."),
    new=_("New tool"),
    none=_("No tools yet"),
    first=_("Enter the name of a tool, its description and its arguments."),
    create=partial(agent_items_create, model=Tool),
    with_counts=lambda rows: rows.defer(*SLOTS),
)
DOCUMENT = ItemPage(
    key="document",
    plural="documents",
    model=Document,
    form=DocumentForm,
    search=DocumentSearch,
    title=_("Documents"),
    lead=_("Files of the project. They are split into chunks, and relevant chunks are included in contexts."),
    new=_("New document"),
    none=_("No documents yet"),
    first=_("Upload a text file or paste its text. Relevant parts are included in contexts."),
    create=documents_create,
    update=document_update,
    with_counts=_without_content,
)
