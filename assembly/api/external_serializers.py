"""What the endpoints of external sources take and give."""

from typing import Any

from rest_framework import serializers

from assembly.engine.codes import SourceCode
from assembly.external.trying import MAX_QUERY_CHARACTERS
from assembly.models.external import (
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_MS,
    MAX_LABEL_CHARACTERS,
    MAX_LIMIT,
    MAX_NAME_CHARACTERS,
    MAX_TIMEOUT_MS,
    MAX_URL_CHARACTERS,
    MIN_TIMEOUT_MS,
    valid_name,
)
from config.http.api import StrictSerializer
from config.http.encryption import valid_secret
from config.http.fields import ExactText, Flag, Line
from memories.api.fields import Count

URL = "https://, or http:// in networks that EXTERNAL_ALLOWED_NETWORKS names."
TIMEOUT = "Milliseconds for one request."
FOR_ADMINS = "null for all but admins of the organisation."


class SecretField(ExactText):
    """Never given back."""

    def __init__(self, **options: Any) -> None:
        help_text = "Sent as a bearer token, never shown again. Empty: none."
        super().__init__(
            **{"allow_blank": True, "validators": [valid_secret], "write_only": True, "help_text": help_text, **options}
        )


class ExternalSourceCreateSerializer(StrictSerializer):
    name = ExactText(max_length=MAX_NAME_CHARACTERS, validators=[valid_name], help_text="The key of its sections.")
    label = Line(max_length=MAX_LABEL_CHARACTERS)  # type: ignore[assignment]
    url = ExactText(max_length=MAX_URL_CHARACTERS, help_text=URL)
    secret = SecretField(required=False, default="")
    limit = Count(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT, help_text="Most results of one answer.")
    timeout_ms = Count(
        min_value=MIN_TIMEOUT_MS, max_value=MAX_TIMEOUT_MS, default=DEFAULT_TIMEOUT_MS, help_text=TIMEOUT
    )
    enabled = Flag(default=True)


class ExternalSourceUpdateSerializer(StrictSerializer):
    label = Line(max_length=MAX_LABEL_CHARACTERS, required=False)  # type: ignore[assignment]
    url = ExactText(max_length=MAX_URL_CHARACTERS, required=False, help_text=URL)
    secret = SecretField(required=False)
    limit = Count(min_value=1, max_value=MAX_LIMIT, required=False, help_text="Most results of one answer.")
    timeout_ms = Count(min_value=MIN_TIMEOUT_MS, max_value=MAX_TIMEOUT_MS, required=False, help_text=TIMEOUT)
    enabled = Flag(required=False)


class ExternalSourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    enabled = serializers.BooleanField()
    url = serializers.CharField(allow_null=True, help_text=FOR_ADMINS)
    has_secret = serializers.BooleanField(allow_null=True, help_text=FOR_ADMINS)
    limit = serializers.IntegerField(allow_null=True, help_text=FOR_ADMINS)
    timeout_ms = serializers.IntegerField(allow_null=True, help_text=FOR_ADMINS)
    version = serializers.IntegerField()
    created = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = serializers.ChoiceField(choices=["user", "system"])
    editor = serializers.CharField(help_text="The person or key; empty for the system.")


class QuerySerializer(StrictSerializer):
    query = ExactText(max_length=MAX_QUERY_CHARACTERS, allow_blank=True)


class TriedResultSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    text = serializers.CharField()
    kind = serializers.CharField()
    score = serializers.FloatField()
    occurred_at = serializers.DateTimeField(allow_null=True)
    labels = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))


class TriedSerializer(serializers.Serializer[Any]):
    results = TriedResultSerializer(many=True)
    left_out = serializers.IntegerField(help_text="Results that could not be used.")
    ms = serializers.IntegerField(help_text="Milliseconds until the answer, or until it was given up.")
    code = serializers.ChoiceField(choices=[code.value for code in SourceCode], allow_null=True)
    fault = serializers.CharField(help_text="What went wrong; empty where it answered.")
