"""ItemEndpoint describes a kind of agents' items for the REST API: names, serializers, services and filters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet
from pgvector.django import VectorField
from rest_framework import serializers

from agents.models import Agent
from config.http.errors import Invalid, NotFound
from config.http.serializers import NotesField, StrictSerializer
from memories.api.filters import Filter, parse_id
from memories.models.agent_item import AgentItem
from memories.services import agent_item_update
from teams.api.serializers import LEVEL_HELP, ActorField, LevelField, OriginField


class AgentItemSerializer(serializers.Serializer[Any]):
    """What every thing has; each noun adds its own."""

    id = serializers.UUIDField()
    external_id = serializers.CharField(help_text="Its id elsewhere; empty without one.")
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField(source="created")
    updated_at = serializers.DateTimeField(source="updated")
    updated_by = ActorField("editor")
    origin = OriginField()
    sensitivity = LevelField(help_text=LEVEL_HELP)
    notes = NotesField()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEndpoint:
    """A kind of item in the REST API. `name` is used in URLs, `word` in messages; `creates` and `updates` are its
    services.

    Lists use the serializer `listed`, in descending order of `order`, and do not read the columns `omitted_fields`.
    `related` are the lookups of other rows that documents name.
    """

    name: str
    word: str
    model: type[AgentItem]
    document: type[AgentItemSerializer]
    listed: type[AgentItemSerializer]
    create: type[StrictSerializer]
    update: type[StrictSerializer]
    creates: Callable[..., list[Any]]
    updates: Callable[..., Any] = agent_item_update
    filters: Mapping[str, Filter] = field(default_factory=dict)
    order: tuple[str, str] = ("created", "id")
    omitted_fields: tuple[str, ...] = ()
    related: "tuple[Prefetch[Any], ...]" = ()

    def things_of(self, agent: Agent) -> QuerySet[Any]:
        """Return the agent's items of this kind, without their vectors, which the API never shows."""
        fields = self.model._meta.fields  # noqa: SLF001 - Django's documented introspection
        hidden = [column.name for column in fields if isinstance(column, VectorField)]
        items = self.model._default_manager.filter(agent=agent).defer(*hidden)  # noqa: SLF001
        return items.prefetch_related(*self.related)

    def filtered_queryset(self, agent: Agent, query: Mapping[str, str]) -> QuerySet[Any]:
        """Return the agent's items that match the filters in the query parameters. Raises Invalid."""
        wanted = Q()
        rows = self.things_of(agent)
        for name in self.filters.keys() & query.keys():
            wanted &= self.filters[name].applied(name, query[name], rows, agent.pk)
        return rows.filter(wanted).defer(*self.omitted_fields)

    def find_item(self, agent: Agent, id_: UUID) -> Any:
        """Return the agent's item with that id. Raises NotFound."""
        thing = self.things_of(agent).filter(id=id_).first()
        if thing is None:
            raise NotFound(f"The {self.word} “{id_}”")
        return thing

    def find_by_parameter(self, agent: Agent, query: Mapping[str, str], name: str) -> Any:
        """Return the agent's item whose id is in a query parameter; None without the parameter. Raises Invalid."""
        try:
            id_ = parse_id(query[name]) if name in query else None
        except ValueError as error:
            raise Invalid(name, str(error)) from None
        return self.named(agent, name, id_)

    def named(self, agent: Agent, name: str, id_: UUID | None) -> Any:
        """Return the agent's item with the id that a field `name` of the request has; None for null. Raises Invalid."""
        thing = self.things_of(agent).filter(id=id_).first() if id_ is not None else None
        if thing is None and id_ is not None:
            raise Invalid(name, f"The agent has no {self.word} with this id. Use the id of one that it has.")
        return thing
