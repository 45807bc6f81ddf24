"""What two contexts beside each other look like over REST.

What is to be different, as REST takes it.
"""

from typing import Any

from rest_framework import serializers

from assembly.comparison.causes import KINDS
from assembly.comparison.side_by_side import NAMES
from assembly.contexts.serializers import WarningSerializer
from assembly.pipeline.request import MAX_TOKENS, MAX_TOPIC_CHARACTERS
from assembly.profiles.serializers import YAML
from assembly.simulation.draft_preview.api import KEYS, SectionChangeSerializer, TrialChangeSerializer
from assembly.simulation.what_if.service import BASES
from assembly.simulation.what_if.wishes import MAX_CAPS, MAX_RULES, Wishes
from config.http.api import StrictSerializer
from config.http.fields import ExactText
from teams.api.comparing import HunkSerializer
from teams.files import MAX_FILE_CHARACTERS

CONTENT = "content"
"""What may be asked for besides."""


class SideSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField()
    budget = serializers.IntegerField()
    tokenizer = serializers.CharField()
    profile = serializers.CharField()
    profile_version = serializers.IntegerField()
    topic = serializers.CharField()
    now = serializers.DateTimeField(help_text="The moment that it is for.")
    rules = serializers.ListField(child=serializers.CharField(), help_text="Those that fired, as hush@2.")
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")
    warnings = WarningSerializer(many=True)
    content = serializers.CharField(required=False, help_text="With `include=content`.")


class SettingSerializer(serializers.Serializer[Any]):
    name = serializers.ChoiceField(choices=list(NAMES))
    section = serializers.CharField(allow_null=True, help_text="The heading, for what a profile says of one section.")
    before = serializers.CharField()
    after = serializers.CharField()


class TextDifferenceSerializer(serializers.Serializer[Any]):
    changes = serializers.IntegerField(help_text="How many places changed.")
    words_added = serializers.IntegerField()
    words_removed = serializers.IntegerField()
    hunks = HunkSerializer(many=True)


class BesideSerializer(serializers.Serializer[Any]):
    summary = serializers.CharField(help_text="How much is different, in plain sentences.")
    same = serializers.BooleanField(help_text="Both texts are the same, to the letter.")
    before = SideSerializer()
    after = SideSerializer()
    settings = SettingSerializer(many=True, help_text="By what both were made, where it is not the same.")
    sections = SectionChangeSerializer(many=True)
    changes = TrialChangeSerializer(many=True)
    difference = TextDifferenceSerializer()
    missing_sources = serializers.ListField(
        child=serializers.CharField(), help_text="Sources that could not be read, on either side."
    )


class CauseSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=list(KINDS))
    message = serializers.CharField(help_text="A plain sentence.")
    ref = serializers.CharField(allow_null=True, help_text="The thing, whichever version of it.")
    name = serializers.CharField(allow_null=True)
    before = serializers.IntegerField(allow_null=True, help_text="The version then; tokens, of room and budgets.")
    after = serializers.IntegerField(allow_null=True)
    by = serializers.CharField(allow_null=True, help_text="Who made the newest version; null: Dossier.")
    at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField(allow_blank=True)


class ExplainedChangeSerializer(TrialChangeSerializer):
    causes = CauseSerializer(many=True, help_text="Why it is different; at least one.")


class AgainSerializer(BesideSerializer):
    assembly = serializers.UUIDField()
    causes = CauseSerializer(many=True, help_text="What was changed since, each thing once.")
    changes = ExplainedChangeSerializer(many=True)
    session_gone = serializers.BooleanField(help_text="The session of the request is not there any more.")


class WhatIfSerializer(BesideSerializer):
    assembly = serializers.UUIDField()
    basis = serializers.ChoiceField(
        choices=list(BASES), help_text="record: of what was considered then; today: the sources were read anew."
    )
    session_gone = serializers.BooleanField(help_text="The session of the request is not there any more.")


class CompareSerializer(BesideSerializer):
    before_id = serializers.UUIDField()
    after_id = serializers.UUIDField()
    causes = CauseSerializer(many=True, help_text="What was changed from the one to the other, each thing once.")
    changes = ExplainedChangeSerializer(many=True)


LAST_VERSION = 2**31 - 1


class WishesSerializer(StrictSerializer):
    max_tokens = serializers.IntegerField(min_value=0, max_value=MAX_TOKENS, required=False, help_text="The budget.")
    tokenizer = ExactText(max_length=60, required=False)
    profile = ExactText(max_length=60, required=False, help_text="As it is today.")
    topic = ExactText(
        max_length=MAX_TOPIC_CHARACTERS, required=False, allow_blank=True, help_text="The sources are then read anew."
    )
    caps = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=MAX_TOKENS, allow_null=True),
        required=False,
        help_text="Caps in tokens by the keys of sections; null: no cap.",
    )
    without_rules = serializers.ListField(
        child=ExactText(max_length=60), max_length=MAX_RULES, required=False, help_text="Names of rules that fired."
    )
    with_rule = ExactText(
        max_length=MAX_FILE_CHARACTERS, required=False, help_text=f"{YAML} A rule besides, as if the agent had it."
    )
    files = serializers.DictField(
        child=serializers.IntegerField(min_value=1, max_value=LAST_VERSION),
        required=False,
        help_text=f"Numbers of versions by the key of the file: {', '.join(KEYS)}.",
    )

    def validate_caps(self, caps: dict[str, int | None]) -> dict[str, int | None]:
        if len(caps) > MAX_CAPS:
            raise serializers.ValidationError(f"Send at most {MAX_CAPS} caps at once.")
        return caps

    def validate_files(self, files: dict[str, int]) -> dict[str, int]:
        unknown = [key for key in files if key not in KEYS]
        if unknown:
            raise serializers.ValidationError(f"There is no file “{unknown[0][:60]}”. Use one of {', '.join(KEYS)}.")
        return files


class WhatIfRequestSerializer(WishesSerializer):
    include = serializers.ListField(
        child=serializers.ChoiceField(choices=[CONTENT]),
        max_length=1,
        required=False,
        default=list,
        help_text="content: both contexts whole.",
    )


def wishes_of(data: dict[str, Any]) -> Wishes:
    """The wishes in validated data."""
    return Wishes.from_dict(data)
