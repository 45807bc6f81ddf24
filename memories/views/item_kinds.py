"""The kinds of items that share list and edit pages are described here, with words, form, search and services."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Length
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
    listed: QuerySet[Any] = rows.defer("content").annotate(characters=Length("content"), pieces=current)
    return listed


ENTITY = ItemPage(
    key="entity",
    plural="entities",
    model=Entity,
    form=EntityForm,
    search=EntitySearch,
    title=_("Entities"),
    lead=_("People, places, projects and things that the agent knows by name."),
    new=_("New entity"),
    none=_("No entities yet"),
    first=_("When somebody mentions one of them, the agent is told what is known about it and how it is related."),
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
    lead=_("What has worked before, and when to think of it."),
    new=_("New pattern"),
    none=_("No patterns yet"),
    first=_("Write down what works: the agent is told of it whenever a question has one of its words."),
    create=partial(agent_items_create, model=Pattern),
)
THREAD = ItemPage(
    key="thread",
    plural="threads",
    model=Thread,
    form=ThreadForm,
    search=ThreadSearch,
    title=_("Threads"),
    lead=_("What goes on over several sessions. The active ones can be told in every context."),
    new=_("New thread"),
    none=_("No threads yet"),
    first=_("A thread is a story that goes on: a launch, a complaint, a move. Say what it is and how it stands."),
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
    lead=_("What the agent can call. Those that fit the question are told."),
    new=_("New tool"),
    none=_("No tools yet"),
    first=_("Name a tool, say what it does and which arguments it takes."),
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
    lead=_("Files of the project. Each is made into pieces, and the pieces that fit the question are told."),
    new=_("New document"),
    none=_("No documents yet"),
    first=_("Upload a text file or paste its text: the agent then finds in it what a question needs."),
    create=documents_create,
    update=document_update,
    with_counts=_without_content,
)
