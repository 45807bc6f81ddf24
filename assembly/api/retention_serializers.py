"""What the endpoints of keeping take and give."""

from rest_framework import serializers

from assembly.models.retention import MAX_DAYS, MAX_FLAG_NOTE_CHARACTERS
from config.http.api import StrictSerializer
from config.http.fields import ExactText, Flag
from memories.api.fields import Count

DAYS = "For so many days; null: for ever."


class RetentionUpdateSerializer(StrictSerializer):
    days = Count(allow_null=True, min_value=1, max_value=MAX_DAYS, help_text=DAYS)
    keep_flagged = Flag(default=True, help_text="Whether what somebody flagged stays all the same.")


class RetentionSerializer(serializers.Serializer[object]):
    days = serializers.IntegerField(allow_null=True, help_text=DAYS)
    keep_flagged = serializers.BooleanField()
    own = serializers.BooleanField(help_text="Whether it was said here; if not, it is what holds for everybody.")
    version = serializers.IntegerField(help_text="0 where nothing was said here.")
    updated_at = serializers.DateTimeField(allow_null=True)
    editor = serializers.CharField()


class FlagUpdateSerializer(StrictSerializer):
    note = ExactText(default="", allow_blank=True, max_length=MAX_FLAG_NOTE_CHARACTERS, help_text="Why it is kept.")


class FlagSerializer(serializers.Serializer[object]):
    note = serializers.CharField()
    by = serializers.CharField()
    created = serializers.DateTimeField()
