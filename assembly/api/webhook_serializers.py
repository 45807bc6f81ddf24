"""What the endpoints of webhooks take and give."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from assembly.models import WebhookDelivery, WebhookEvent
from assembly.models.external import MAX_LABEL_CHARACTERS, MAX_URL_CHARACTERS
from assembly.webhooks.resending import told_of
from config.http.api import StrictSerializer
from config.http.fields import ExactText, Flag, Line
from teams.api.serializers import MAX_SLUG_CHARACTERS

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
    before_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then messages are signed with the secret before, too."
    )
    version = serializers.IntegerField()
    created = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = serializers.ChoiceField(choices=["user", "system"])
    editor = serializers.CharField(source="editor_name", help_text="The person or key; empty for the system.")


class SecretSerializer(serializers.Serializer[Any]):
    secret = serializers.CharField(help_text="whsec_ and base64, as Standard Webhooks has it.")


class SentAgainSerializer(serializers.Serializer[Any]):
    by = serializers.CharField(help_text="The person or key.")
    at = serializers.DateTimeField()


class DeliverySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    event = serializers.CharField()
    body = serializers.CharField(help_text="Exactly what was signed and sent.")
    created = serializers.DateTimeField()
    attempts = serializers.IntegerField()
    attempted = serializers.DateTimeField(allow_null=True)
    delivered = serializers.BooleanField()
    status = serializers.IntegerField(allow_null=True, help_text="Of HTTP, of the last attempt.")
    answer = serializers.CharField(help_text="Its first 500 characters.")
    ms = serializers.IntegerField(allow_null=True)
    fault = serializers.CharField(help_text="What went wrong; empty where it was taken.")
    given_up = serializers.SerializerMethodField(help_text="It is not tried any more, until somebody asks for it.")
    sent_again = serializers.SerializerMethodField(help_text="Who had it sent once more after it was given up.")

    def get_given_up(self, delivery: WebhookDelivery) -> bool:
        return told_of(delivery).given_up

    @extend_schema_field(SentAgainSerializer(many=True))
    def get_sent_again(self, delivery: WebhookDelivery) -> Any:
        return SentAgainSerializer(told_of(delivery).sent_again, many=True).data
