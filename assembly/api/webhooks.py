"""REST: webhooks. For admins of the organisation, and for those of a team about its own."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.api.webhook_serializers import (
    DeliverySerializer,
    SecretSerializer,
    WebhookCreateSerializer,
    WebhookSerializer,
    WebhookUpdateSerializer,
)
from assembly.models import Webhook
from assembly.webhooks.access import delivery_for, webhook_for, webhooks_of
from assembly.webhooks.delivering import webhook_test
from assembly.webhooks.resending import deliveries_of, delivery_resend
from assembly.webhooks.services import (
    WebhookFacts,
    secret_of,
    webhook_create,
    webhook_delete,
    webhook_secret_change,
    webhook_update,
)
from config.http.encryption import SecretLost
from config.http.errors import Conflict
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from teams.api.serializers import page_serializer
from teams.api.versioned import VersionedView
from teams.api.view import ApiView


def webhook_document(webhook: Webhook) -> dict[str, Any]:
    """A webhook as JSON, without its secret."""
    document = dict(WebhookSerializer(webhook).data)
    return {**document, "team": webhook.team.slug if webhook.team else None}


class WebhookList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(WebhookSerializer))
    def get(self, request: Request) -> Response:
        """The webhooks that you manage, the newest first."""
        return self.page(webhooks_of(self.principal), webhook_document)

    @extend_schema(parameters=[ETAG, LOCATION], request=WebhookCreateSerializer, responses={201: WebhookSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Register an address. Its secret is at `/webhooks/{id}/secret`."""
        self.query()
        given = self.validated(WebhookCreateSerializer)
        team = given.pop("team")
        facts = WebhookFacts(**{**given, "events": tuple(given["events"])})
        webhook = webhook_create(facts=facts, team=team, principal=self.principal)
        headers = {"Location": f"/api/v1/webhooks/{webhook.id}", "ETag": etag(webhook.version)}
        return Response(webhook_document(webhook), status.HTTP_201_CREATED, headers=headers)


class WebhookDetail(VersionedView):
    document = WebhookSerializer

    def document_of(self, thing: Webhook) -> dict[str, Any]:
        return webhook_document(thing)

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=WebhookSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """A webhook, without its secret."""
        self.query()
        return self.answer_if_newer(webhook_for(self.principal, id_))

    @extend_schema(parameters=[ETAG, IF_MATCH], request=WebhookUpdateSerializer, responses=WebhookSerializer)
    def patch(self, request: Request, id_: UUID) -> Response:
        """Change what is named, also to switch it on or off."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        expected = self.expected(webhook)
        given = self.validated(WebhookUpdateSerializer)
        if "events" in given:
            given["events"] = tuple(given["events"])
        facts = replace(WebhookFacts.of(webhook), **given)
        changed = webhook_update(webhook=webhook, facts=facts, expected_version=expected, principal=self.principal)
        return self.answer(changed)

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, id_: UUID) -> Response:
        """Delete a webhook with its log."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        self.check_if_match(webhook)
        webhook_delete(webhook=webhook)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecret(VersionedView):
    document = WebhookSerializer

    def document_of(self, thing: Webhook) -> dict[str, Any]:
        return webhook_document(thing)

    @extend_schema(operation_id="webhooks_secret_read", responses=SecretSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """The secret with which messages are signed. Never kept by what lies in between."""
        self.query()
        try:
            secret = secret_of(webhook_for(self.principal, id_))
        except SecretLost:
            raise Conflict("It cannot be read, as SECRET_KEY was changed. Change the secret.") from None
        return Response({"secret": secret}, headers={"Cache-Control": "no-store"})

    @extend_schema(operation_id="webhooks_secret_change", parameters=[ETAG], request=None, responses=WebhookSerializer)
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Make a new secret. For 24 hours messages are signed with the one before, too."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        self.check_if_match(webhook)
        changed = webhook_secret_change(webhook=webhook, expected_version=webhook.version, principal=self.principal)
        return self.answer(changed)


class WebhookTest(ApiView):
    @extend_schema(operation_id="webhooks_test", request=None, responses=DeliverySerializer)
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Send a test now. The answer is 200 also where it did not arrive, and says why."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        return Response(DeliverySerializer(webhook_test(webhook=webhook, principal=self.principal)).data)


class WebhookDeliveries(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(DeliverySerializer))
    def get(self, request: Request, id_: UUID) -> Response:
        """What was sent in the last 30 days, and what came of it, the newest first."""
        webhook = webhook_for(self.principal, id_)
        return self.page(deliveries_of(webhook), lambda row: dict(DeliverySerializer(row).data))


class WebhookDeliverySend(ApiView):
    @extend_schema(operation_id="webhooks_deliveries_send", request=None, responses={202: DeliverySerializer})
    @idempotent
    def post(self, request: Request, id_: UUID, delivery: UUID) -> Response:
        """Have a message sent again that was given up, with the same `webhook-id`. Only who asks first starts it."""
        self.query()
        found = delivery_for(self.principal, id_, delivery)
        delivery_resend(delivery=found, principal=self.principal)
        again = deliveries_of(found.webhook).get(id=found.id)
        return Response(DeliverySerializer(again).data, status.HTTP_202_ACCEPTED)
