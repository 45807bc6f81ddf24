"""REST endpoints of webhooks, for organisation admins, and for team admins about their teams."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.models import Webhook, WebhookDelivery, WebhookEvent
from assembly.models.external_source import MAX_LABEL_CHARACTERS, MAX_URL_CHARACTERS
from assembly.monitoring.webhooks.delivery import deliveries_of, delivery_resend, delivery_status, webhook_test
from assembly.monitoring.webhooks.services import (
    WebhookFacts,
    delivery_for,
    secret_of,
    webhook_create,
    webhook_delete,
    webhook_for,
    webhook_secret_change,
    webhook_update,
    webhooks_of,
)
from config.http.encryption import UndecryptableSecret
from config.http.errors import Conflict
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from config.http.serializers import ExactText, Flag, Line, StrictSerializer
from teams.api.serializers import ActorField, page_serializer
from teams.api.view import ApiView
from teams.slugs import MAX_SLUG_CHARACTERS
from teams.versioned_text.api import VersionedView

URL = "https://, or http:// in networks that WEBHOOK_ALLOWED_NETWORKS names."
EVENTS = f"At least one of: {', '.join(WebhookEvent.values)}."


class EventsField(serializers.ListField):
    """Names of events, each once."""

    def __init__(self, **options: Any) -> None:
        known = ", ".join(WebhookEvent.values)
        child = serializers.ChoiceField(
            choices=WebhookEvent.values, error_messages={"invalid_choice": f"Use one of: {known}."}
        )
        super().__init__(**{"child": child, "min_length": 1, "max_length": 10, "help_text": EVENTS, **options})

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
            self.fail("not_a_list", input_type=type(data).__name__)
        return super().to_internal_value(data)


class WebhookCreateSerializer(StrictSerializer):
    team = ExactText(
        max_length=MAX_SLUG_CHARACTERS, allow_null=True, default=None, help_text="null: of the organisation."
    )
    label = Line(max_length=MAX_LABEL_CHARACTERS)  # type: ignore[assignment]
    url = ExactText(max_length=MAX_URL_CHARACTERS, help_text=URL)
    events = EventsField()
    active = Flag(default=True)


class WebhookUpdateSerializer(StrictSerializer):
    label = Line(max_length=MAX_LABEL_CHARACTERS, required=False)  # type: ignore[assignment]
    url = ExactText(max_length=MAX_URL_CHARACTERS, required=False, help_text=URL)
    events = EventsField(required=False)
    active = Flag(required=False)


class WebhookSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    team = serializers.CharField(allow_null=True, help_text="null: of the organisation.")
    label = serializers.CharField()  # type: ignore[assignment]
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=WebhookEvent.values))
    active = serializers.BooleanField()
    previous_secret_expires_at = serializers.DateTimeField(
        source="before_until", allow_null=True, help_text="Until then messages are signed with the secret before, too."
    )
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField(source="created")
    updated_at = serializers.DateTimeField()
    updated_by = ActorField("editor")


class SecretSerializer(serializers.Serializer[Any]):
    secret = serializers.CharField(help_text="whsec_ and base64, as Standard Webhooks has it.")


class ResendSerializer(serializers.Serializer[Any]):
    requested_by = ActorField("by")
    requested_at = serializers.DateTimeField(source="at")


class DeliverySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    event = serializers.CharField()
    body = serializers.CharField(help_text="Exactly what was signed and sent.")
    created_at = serializers.DateTimeField(source="created")
    attempts = serializers.IntegerField()
    attempted_at = serializers.DateTimeField(source="attempted", allow_null=True)
    delivered = serializers.BooleanField()
    status = serializers.IntegerField(allow_null=True, help_text="Of HTTP, of the last attempt.")
    response_body = serializers.CharField(source="answer", help_text="Its first 500 characters.")
    ms = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(source="fault", help_text="The error; empty if it was delivered.")
    abandoned = serializers.SerializerMethodField(help_text="It is not retried until someone resends it.")
    resends = serializers.SerializerMethodField(help_text="Who had it sent again after it was abandoned.")

    def get_abandoned(self, delivery: WebhookDelivery) -> bool:
        return delivery_status(delivery).given_up

    @extend_schema_field(ResendSerializer(many=True))
    def get_resends(self, delivery: WebhookDelivery) -> Any:
        return ResendSerializer(delivery_status(delivery).sent_again, many=True).data


def webhook_document(webhook: Webhook) -> dict[str, Any]:
    """Return a webhook as JSON, without its secret."""
    document = dict(WebhookSerializer(webhook).data)
    return {**document, "team": webhook.team.slug if webhook.team else None}


class WebhookList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(WebhookSerializer))
    def get(self, request: Request) -> Response:
        """Return the webhooks that you manage, newest first."""
        return self.page(webhooks_of(self.principal), webhook_document)

    @extend_schema(parameters=[ETAG, LOCATION], request=WebhookCreateSerializer, responses={201: WebhookSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a webhook. Its secret is at `/webhooks/{id}/secret`."""
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
        """Return a webhook, without its secret."""
        self.query()
        return self.answer_if_newer(webhook_for(self.principal, id_))

    @extend_schema(parameters=[ETAG, IF_MATCH], request=WebhookUpdateSerializer, responses=WebhookSerializer)
    def patch(self, request: Request, id_: UUID) -> Response:
        """Change the given fields, also to enable or disable the webhook."""
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
        """Delete a webhook with its deliveries."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        self.check_if_match(webhook)
        webhook_delete(webhook=webhook, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecret(VersionedView):
    document = WebhookSerializer

    def document_of(self, thing: Webhook) -> dict[str, Any]:
        return webhook_document(thing)

    @extend_schema(operation_id="webhooks_secret_read", summary="Get secret of webhook", responses=SecretSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the secret that signs messages. The response must not be cached."""
        self.query()
        try:
            secret = secret_of(webhook_for(self.principal, id_))
        except UndecryptableSecret:
            raise Conflict("It cannot be read, as SECRET_KEY was changed. Change the secret.") from None
        return Response({"secret": secret}, headers={"Cache-Control": "no-store"})

    @extend_schema(
        operation_id="webhooks_secret_change",
        summary="Rotate secret of webhook",
        parameters=[ETAG],
        request=None,
        responses=WebhookSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Create a new secret. For 24 hours, messages are also signed with the previous secret."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        self.check_if_match(webhook)
        changed = webhook_secret_change(webhook=webhook, expected_version=webhook.version, principal=self.principal)
        return self.answer(changed)


class WebhookTest(ApiView):
    @extend_schema(
        operation_id="webhooks_test",
        summary="Send test message to webhook",
        request=None,
        responses=DeliverySerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Send a test message now. The response is 200 even if the delivery failed, and gives the error."""
        self.query()
        webhook = webhook_for(self.principal, id_)
        return Response(DeliverySerializer(webhook_test(webhook=webhook, principal=self.principal)).data)


class WebhookDeliveries(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(DeliverySerializer))
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the deliveries of the last 30 days with their results, newest first."""
        webhook = webhook_for(self.principal, id_)
        return self.page(deliveries_of(webhook), lambda row: dict(DeliverySerializer(row).data))


class WebhookDeliverySend(ApiView):
    @extend_schema(
        operation_id="webhooks_deliveries_resend",
        summary="Resend delivery",
        request=None,
        responses={202: DeliverySerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID, delivery: UUID) -> Response:
        """Send an abandoned message again, with the same `webhook-id`. Repeated requests have no effect."""
        self.query()
        found = delivery_for(self.principal, id_, delivery)
        delivery_resend(delivery=found, principal=self.principal)
        again = deliveries_of(found.webhook).get(id=found.id)
        return Response(DeliverySerializer(again).data, status.HTTP_202_ACCEPTED)
