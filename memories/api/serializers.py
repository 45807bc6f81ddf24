"""These serializers define the requests and responses of the REST API about memories."""

from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers

from config.http.serializers import ExactText, Flag, Fraction, Line, Moment, NotesField, StrictSerializer, VisibleText
from memories.api.fields import READABLE_HELP, Count, ItemId, choice_field
from memories.lifecycle.listed_texts import is_readable
from memories.models import Memory, MemoryVersion
from memories.models.memory import MAX_REASON_CHARACTERS, MAX_TEXT_CHARACTERS
from memories.search.languages import LANGUAGES
from memories.services import MAX_MERGED
from teams.api.serializers import LEVEL_HELP, ActorField, LevelField, LevelledSerializer, OriginField, VersionSerializer
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS

valid_kind = RegexValidator(  # a context shows memories as `- [kind] text`
    r"\A[a-z0-9_-]{1,40}\Z", "Use 1 to 40 lower-case letters, digits, - and _, as in decision."
)


class MemoryUpdateSerializer(LevelledSerializer):
    kind = ExactText(max_length=40, validators=[valid_kind], required=False)
    text = VisibleText(max_length=MAX_TEXT_CHARACTERS, required=False)
    occurred_at = Moment(allow_null=True, required=False, help_text="Taken as UTC without an offset.")
    salience = Fraction(required=False)
    credibility = Fraction(required=False)
    superseded_by = serializers.UUIDField(
        allow_null=True,
        required=False,
        help_text="A newer memory of the same owner, which takes this one's place.",
        error_messages={"invalid": "Use the id of a memory."},
    )
    pinned = Flag(required=False, help_text="Included before all others, whatever the topic.")
    archived = Flag(
        required=False,
        help_text="No longer included. Give the reason in `archive_reason`; false restores it.",
    )
    archive_reason = Line(
        max_length=MAX_REASON_CHARACTERS, required=False, help_text="Why it is archived; removed when it is restored."
    )
    language = choice_field(
        LANGUAGES, required=False, help_text="By whose forms its words are found; a new text has its own without it."
    )
    note = Line(max_length=MAX_NOTE_CHARACTERS, required=False, default="", help_text="What changed, in a few words.")


class MemoryCreateSerializer(LevelledSerializer):
    kind = ExactText(max_length=40, validators=[valid_kind], help_text="decision, context, preference, learning, …")
    text = VisibleText(max_length=MAX_TEXT_CHARACTERS)
    occurred_at = Moment(allow_null=True, required=False, default=None, help_text="Taken as UTC without an offset.")
    salience = Fraction(required=False, default=0.5)
    credibility = Fraction(required=False, default=0.5)
    external_id = ExactText(
        max_length=200, allow_blank=True, required=False, default="", help_text="Its id elsewhere, once per owner."
    )
    language = choice_field(
        LANGUAGES, required=False, help_text="By whose forms its words are found; without it, what the text is in."
    )


class MemoryNewSerializer(MemoryCreateSerializer):
    kind = ExactText(
        max_length=40,
        validators=[valid_kind],
        required=False,
        help_text="decision, context, preference, learning, …; by default that of the first superseded memory.",
    )
    supersedes = serializers.ListField(
        child=serializers.UUIDField(error_messages={"invalid": "Use the id of a memory."}),
        required=False,
        default=list,
        max_length=MAX_MERGED - 1,
        help_text="Memories of the same owner that it takes the place of; the new memory is at version 2 then.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "kind" not in attrs and not attrs["supersedes"]:
            raise serializers.ValidationError({"kind": self.fields["kind"].error_messages["required"]}, "required")
        return attrs


class MemorySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.CharField()
    text = serializers.CharField()
    occurred_at = serializers.DateTimeField(allow_null=True)
    salience = serializers.FloatField()
    credibility = serializers.FloatField()
    superseded_by = serializers.UUIDField(source="superseded_by_id", allow_null=True)
    pinned = serializers.BooleanField()
    archived = serializers.SerializerMethodField()
    archive_reason = serializers.CharField(
        source="retired_because", help_text="Why it is archived; empty if it is not."
    )
    external_id = serializers.CharField()
    language = serializers.CharField()
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField(source="created")
    updated_by = ActorField("editor")
    origin = OriginField()
    sensitivity = LevelField(help_text=LEVEL_HELP)
    notes = NotesField()
    is_readable = serializers.SerializerMethodField(help_text=READABLE_HELP)

    def get_archived(self, memory: Memory) -> bool:
        return bool(memory.retired_because)

    def get_is_readable(self, memory: Memory) -> bool:
        return is_readable(memory.text)


class FoundMemorySerializer(MemorySerializer):
    similarity = serializers.FloatField(help_text="The cosine of the meanings, -1 to 1.")


class SearchSerializer(serializers.Serializer[Any]):
    results = FoundMemorySerializer(many=True)


class MemoryVersionSerializer(VersionSerializer):
    kind = serializers.CharField()
    text = serializers.CharField(source="content")
    occurred_at = serializers.DateTimeField(allow_null=True)
    salience = serializers.FloatField()
    credibility = serializers.FloatField()
    superseded_by = serializers.UUIDField(allow_null=True)
    pinned = serializers.BooleanField()
    archived = serializers.SerializerMethodField()
    archive_reason = serializers.CharField(source="retired_because")
    language = serializers.CharField(help_text="Empty in versions from before memories had languages.")
    sensitivity = LevelField()
    note = serializers.CharField()
    merged = serializers.ListField(
        child=serializers.UUIDField(), help_text="The memories that it took the place of by this version."
    )

    def get_archived(self, version: MemoryVersion) -> bool:
        return bool(version.retired_because)


class ExpectedVersionSerializer(StrictSerializer):
    id = ItemId()
    version = Count(help_text="The one that you saw: 412 where it is not the newest.")


class MergeSerializer(StrictSerializer):
    keep = ItemId(help_text="The one that stays; the others are superseded by it.")
    memories = serializers.ListField(
        child=ExpectedVersionSerializer(),
        min_length=2,
        max_length=MAX_MERGED,
        help_text="All that are merged, the one that stays among them.",
    )
    text = VisibleText(
        max_length=MAX_TEXT_CHARACTERS, required=False, default=None, help_text="What it says then; as now without."
    )
