"""REST: the things that an agent keeps: one implementation, told which noun it serves."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from config.http.errors import Conflict
from config.http.etags import etag
from config.http.idempotency import idempotent
from memories.api.kept_schema import (
    KeptSchema,
    batch_operations,
    detail_operations,
    items_serializer,
    list_operations,
)
from memories.api.noun import Noun
from memories.api.sessions import SESSIONS
from memories.models import Memory
from memories.models.kept import Kept
from memories.services import Flawed, kept_delete
from teams.access import Action
from teams.api.versioned import VersionedView
from teams.api.view import ApiView


class KeptList(ApiView):
    noun: ClassVar[Noun] = SESSIONS
    schema = KeptSchema(list_operations)

    def get(self, request: Request, slug: str) -> Response:
        """The agent's {name}, newest first."""
        query = self.query(*self.noun.filters, "cursor", "limit")
        things = self.noun.list_of(agent_for(self.principal, slug), query)
        return self.page(things, lambda thing: dict(self.noun.listed(thing).data), self.noun.order, query=query)

    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """A new {word} of the agent."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        facts = self.validated(self.noun.create)
        created = self.noun.creates(agent=agent, facts=[facts], principal=self.principal)
        if not created:
            raise Conflict(f"The agent has a {self.noun.word} with this external id already. Change that one instead.")
        [thing] = created
        headers = {"Location": f"{request.path}/{thing.id}", "ETag": etag(thing.version)}
        return Response(self.noun.document(thing).data, status.HTTP_201_CREATED, headers=headers)


class KeptDetail(VersionedView):
    noun: ClassVar[Noun] = SESSIONS
    schema = KeptSchema(detail_operations)

    def document_of(self, thing: Any) -> dict[str, Any]:
        return dict(self.noun.document(thing).data)

    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """The {word}."""
        self.query()
        return self.answer_if_newer(self.noun.thing_for(agent_for(self.principal, slug), id_))

    def patch(self, request: Request, slug: str, id_: UUID) -> Response:
        """Change the {word}; what changes nothing makes no version. What is not named stays as it is."""
        self.query()
        thing = self.noun.thing_for(agent_for(self.principal, slug, Action.WRITE), id_)
        expected = self.expected(thing)
        changes = self.validated(self.noun.update)
        saved = self.noun.updates(thing=thing, expected_version=expected, changes=changes, principal=self.principal)
        return self.answer(saved)

    def delete(self, request: Request, slug: str, id_: UUID) -> Response:
        """Delete the {word} and what hangs on it. Assemblies that used it keep its text in their record."""
        self.query()
        thing = self.noun.thing_for(agent_for(self.principal, slug, Action.WRITE), id_)
        self.check_if_match(thing)
        kept_delete(thing=thing, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeptBatch(ApiView):
    noun: ClassVar[Noun] = SESSIONS
    schema = KeptSchema(batch_operations)

    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Several new {name} at once, all or none. Those whose external id is there already are passed over."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        items = self.validated(items_serializer(self.noun.create))["items"]
        try:
            created = self.noun.creates(agent=agent, facts=items, principal=self.principal)
        except Flawed as flawed:
            raise flawed.among("items") from None
        return batch_answer(items, created)


def batch_answer(items: Sequence[dict[str, Any]], created: Sequence[Kept | Memory]) -> Response:
    """What became of the items, in their order."""
    ids = ids_in_order(items, created)
    document = {"created": len(created), "passed_over": len(items) - len(created), "ids": ids}
    return Response(document, status.HTTP_201_CREATED)


def ids_in_order(facts: Sequence[dict[str, Any]], created: Sequence[Kept | Memory]) -> list[UUID | None]:
    """The ids of what was created, None where a fact was passed over; both are in the same order."""
    waiting: list[Kept | Memory] = list(reversed(created))
    ids: list[UUID | None] = []
    for fact in facts:
        is_next = bool(waiting) and waiting[-1].external_id == fact["external_id"]
        ids.append(waiting.pop().id if is_next else None)
    return ids
