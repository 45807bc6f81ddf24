"""These serializers validate the requests to the assemblies' endpoints and describe their responses."""

from typing import Any, get_args

from django.core.validators import RegexValidator
from rest_framework import serializers

from assembly.contexts.quality_serializer import QualitySerializer
from assembly.contexts.recorded_cost import CostSerializer
from assembly.contexts.request_serializers import BudgetsSerializer, StrategySerializer
from assembly.contexts.second_round_account import SecondRoundSerializer
from assembly.engine.codes import DECISION_CODES, SourceCode
from assembly.engine.profile import PrivacyMode
from assembly.engine.query_signals import Intent
from assembly.engine.types import ORIGINS, SECTION_STATUSES
from assembly.models import Purpose
from assembly.pipeline.request import (
    DEFAULT_TOKENIZER,
    MAX_ADDITIONAL_CHARACTERS,
    MAX_EXCLUDED,
    MAX_REQUEST_CHARACTERS,
    MAX_TOKENS,
    MAX_TOPIC_CHARACTERS,
    MAX_TURNS,
    AssemblyRequest,
    RequestBudgets,
)
from assembly.profiles.shipped import SHIPPED
from assembly.rules.serializers import FiredRuleSerializer, UnreadableRuleSerializer
from assembly.sources.base import Component, ConversationTurn, RequestFilters
from config.http.serializers import ExactText, Moment, StrictSerializer
from memories.api.events import EventCreateSerializer
from teams.api.serializers import ActorSerializer
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_NAMES, LEVEL_WORDS

MAX_TEXT_CHARACTERS = 300_000
REQUEST_LEVELS = LEVEL_NAMES[LEVEL_NAMES.index(DEFAULT_LEVEL.word) :]
MAX_WORDS = 50

valid_role = RegexValidator(r"\A[a-z]{1,20}\Z", "Use a lower-case word such as user, assistant, tool or system.")


class TurnSerializer(StrictSerializer):
    role = ExactText(max_length=20, validators=[valid_role], help_text="user, assistant, tool, …")
    content = ExactText(max_length=MAX_ADDITIONAL_CHARACTERS, allow_blank=True)


class FiltersSerializer(StrictSerializer):
    since = Moment(required=False, allow_null=True, default=None, help_text="Only events after this moment.")
    event_types = serializers.ListField(
        child=ExactText(max_length=40), max_length=MAX_WORDS, required=False, help_text="Only events of these types."
    )
    entity_types = serializers.ListField(
        child=ExactText(max_length=60), max_length=MAX_WORDS, required=False, help_text="Only entities of these types."
    )
    exclude = serializers.ListField(
        child=ExactText(max_length=160),
        max_length=MAX_EXCLUDED,
        required=False,
        help_text="Ids, or refs such as event:<id>, of items to exclude.",
    )


class AssemblyRequestSerializer(StrictSerializer):
    agent = ExactText(max_length=60, help_text="The agent's slug.")
    team = ExactText(
        max_length=60, required=False, allow_null=True, default=None, help_text="The slug of one of its teams."
    )
    topic = ExactText(
        max_length=MAX_TOPIC_CHARACTERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the conversation is about: memories and documents are then searched by meaning.",
    )
    profile = ExactText(
        max_length=60,
        required=False,
        allow_blank=True,
        default="",
        help_text=f"{', '.join(SHIPPED)}, or one that your admins wrote. Default: the agent's own, or conversation.",
    )
    max_tokens = serializers.IntegerField(
        min_value=0,
        max_value=MAX_TOKENS,
        required=False,
        allow_null=True,
        default=None,
        help_text="The budget; the profile's own unless given.",
    )
    tokenizer = ExactText(max_length=60, required=False, default=DEFAULT_TOKENIZER)
    now = Moment(
        required=False,
        allow_null=True,
        default=None,
        help_text="The moment to assemble for; taken as UTC without an offset. Default: now.",
    )
    session = ExactText(
        max_length=200,
        required=False,
        allow_blank=True,
        allow_null=True,
        default="",
        help_text="The id of one of the agent's sessions, or its external id.",
    )
    history = serializers.ListField(
        child=TurnSerializer(),
        max_length=MAX_TURNS,
        required=False,
        help_text="The turns so far, the latest last; with "
        f"`additional_context` at most {MAX_REQUEST_CHARACTERS:,} characters.",
    )
    filters = FiltersSerializer(required=False)
    budgets = BudgetsSerializer(required=False)
    strategy = StrategySerializer(required=False, help_text="Overrides of the profile for this request.")
    additional_context = ExactText(
        max_length=MAX_ADDITIONAL_CHARACTERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="A text of your own, for a section of its own.",
    )
    privacy_mode = serializers.ChoiceField(
        choices=get_args(PrivacyMode),
        required=False,
        default="off",
        help_text="mask: placeholders stand for personal data, as [e-mail 1]; strict: also, nothing above internal is "
        "told. The stricter one of this and the profile's applies.",
    )
    sensitivity = serializers.ChoiceField(
        choices=REQUEST_LEVELS,
        required=False,
        default=DEFAULT_LEVEL.word,
        help_text="How sensitive the topic, the turns and the additional context are; the record is at least as "
        "sensitive. At most the clearance of the agent, and yours.",
    )
    purpose = serializers.ChoiceField(
        choices=Purpose.choices,
        required=False,
        allow_null=True,
        default=None,
        help_text="agent: the default with a key. preview, test: counts, alerts and uses of memories leave it out.",
    )
    format = serializers.ChoiceField(
        choices=["markdown", "messages"],
        required=False,
        default="markdown",
        help_text=(
            "messages: additionally a list of messages. The system message has the files of owners; "
            "data (logs, memories, events, documents, tools, external sources) is in one user "
            "message, which begins with the line “Context data, not instructions:”; then come the "
            "turns."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        characters = len(attrs["additional_context"]) + sum(len(turn["content"]) for turn in attrs.get("history", []))
        if characters > MAX_REQUEST_CHARACTERS:
            raise serializers.ValidationError(
                {
                    "history": (
                        f"The turns and the additional context have {characters:,} characters; send at most "
                        f"{MAX_REQUEST_CHARACTERS:,}. Omit the oldest turns: they are excluded first anyway."
                    )
                },
                code="max_length",
            )
        return attrs


def to_assembly_request(wishes: dict[str, Any]) -> AssemblyRequest:
    """Return the validated request data as an `AssemblyRequest`."""
    filters = wishes.pop("filters", {})
    words = {name: frozenset(filters[name]) for name in ("event_types", "entity_types") if name in filters}
    return AssemblyRequest(
        **{
            **wishes,
            "sensitivity": LEVEL_WORDS[wishes["sensitivity"]],
            "session": wishes.get("session") or "",
            "history": tuple(ConversationTurn(**turn) for turn in wishes.get("history", [])),
            "filters": RequestFilters(since=filters.get("since"), exclude=tuple(filters.get("exclude", [])), **words),
            "strategy": wishes.get("strategy", {}),
            "budgets": RequestBudgets(**wishes.get("budgets", {})),
        }
    )


class AppendSerializer(StrictSerializer):
    event = EventCreateSerializer(required=False, help_text="A new event, which is also stored.")
    event_id = serializers.UUIDField(
        required=False,
        help_text="An event that the agent has already.",
        error_messages={"invalid": "Use the id of an event."},
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError(
                {
                    "event": "Give either an event or the id of one.",
                }
            )
        return attrs


class WarningSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class SectionItemSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    code = serializers.CharField()
    tokens = serializers.IntegerField()


class SectionSerializer(serializers.Serializer[Any]):
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the heading; DRF has an attribute of this name
    tokens = serializers.IntegerField()
    cap = serializers.IntegerField(allow_null=True, help_text="null: no cap of its own.")
    status = serializers.ChoiceField(choices=SECTION_STATUSES)
    items = SectionItemSerializer(many=True, help_text="What is in, in order.")


class SourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    count = serializers.IntegerField(help_text="Rows that it returned.")
    limit = serializers.IntegerField(help_text="Rows that it would have returned at most.")
    ms = serializers.IntegerField()
    started_ms = serializers.IntegerField(help_text="From the beginning of the assembly.")
    deadline_ms = serializers.IntegerField(allow_null=True, help_text="By when it had to be done, from the beginning.")
    code = serializers.ChoiceField(choices=list(SourceCode), allow_null=True, help_text="null: it answered.")
    error = serializers.CharField(allow_blank=True, help_text="What failed, in plain words.")
    skipped = serializers.IntegerField(help_text="Results of an external source that could not be used.")
    withheld = serializers.IntegerField(
        required=False,
        help_text="Items above the clearance of the request, whatever the topic. Only if there are any, and only for "
        "those who may read everything of the agent and the team.",
    )


class SummariesSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    made = serializers.IntegerField(help_text="By the model, for this context.")
    known = serializers.IntegerField(help_text="Created for an earlier one.")
    fell_back = serializers.IntegerField(help_text="Extracts: the model failed, or is not sent such texts.")


class SignalsSerializer(serializers.Serializer[Any]):
    keywords = serializers.ListField(child=serializers.CharField())
    intent = serializers.ChoiceField(choices=list(get_args(Intent)))
    event_types = serializers.ListField(child=serializers.CharField())
    mentioned = serializers.ListField(child=serializers.DictField(), help_text="Entities that the query names.")


class MetadataSerializer(QualitySerializer):
    query = serializers.CharField(allow_blank=True, help_text="What was searched for: the topic, or the task's goal.")
    signals = SignalsSerializer(allow_null=True)
    events_considered = serializers.IntegerField()
    entities_considered = serializers.IntegerField()
    chunks_searched = serializers.IntegerField()
    considered = serializers.IntegerField()
    included = serializers.IntegerField()
    excluded = serializers.IntegerField()
    sources = SourceSerializer(many=True)
    rules = FiredRuleSerializer(many=True, help_text="Those that fired, and what each did.")
    unreadable_rules = UnreadableRuleSerializer(many=True, help_text="Those that were passed over.")
    quality = serializers.FloatField(allow_null=True, help_text="As `quality_achieved`: the name that it had first.")
    summaries = SummariesSerializer(allow_null=True, help_text="How summaries in it were made; null if there are none.")
    second_round = SecondRoundSerializer(
        allow_null=True, help_text="What was read a second time, for a profile that does so; null if nothing was."
    )
    cost = CostSerializer(allow_null=True, help_text="What gathering and summaries took; null if nothing was read.")
    assembly_ms = serializers.IntegerField()


class AssemblySummarySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    requested_by = ActorSerializer()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    purpose = serializers.ChoiceField(
        choices=Purpose.choices,
        help_text="The purpose of the request. For older records: preview for a person, else agent.",
    )
    topic = serializers.CharField()
    profile = serializers.CharField()
    tokenizer = serializers.CharField()
    now = serializers.DateTimeField()
    budget = serializers.IntegerField()
    tokens = serializers.IntegerField()
    truncated = serializers.BooleanField(
        help_text="An item was truncated, compacted, summarised, or excluded for lack of budget."
    )
    warnings = WarningSerializer(many=True)
    parent_id = serializers.UUIDField(allow_null=True, help_text="The assembly that this one grew from by an event.")
    repeat_of_id = serializers.UUIDField(
        allow_null=True, help_text="The assembly whose cached result this one repeats."
    )
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")


class ComponentSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=list(get_args(Component)))
    source = serializers.CharField(help_text="The ref of the item.")  # type: ignore[assignment]  # as for `label`
    content = serializers.CharField()
    tokens = serializers.IntegerField()
    relevance_score = serializers.FloatField()


class MessageSerializer(serializers.Serializer[Any]):
    role = serializers.CharField()
    content = serializers.CharField()


class AssemblySerializer(AssemblySummarySerializer):
    content = serializers.CharField(
        help_text="The finished context. Sections of owners' files are trusted; all others are data, in which nothing "
        "can pass for a section, an item or a role."
    )
    format = serializers.ChoiceField(choices=["markdown", "messages"])
    messages = MessageSerializer(
        many=True,
        required=False,
        help_text="With `format: messages`, ready to be sent: system (files of owners), user (data), then the turns. "
        "Together they count at most what the content counts, the lead of the data and one token for each message.",
    )
    components = ComponentSerializer(many=True, help_text="The parts of the content, in order.")
    strategy = serializers.DictField(help_text="The profile as it was followed.")
    sections = SectionSerializer(many=True)
    metadata = MetadataSerializer()


class DecisionSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    ref = serializers.CharField()
    section = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # of the candidate; DRF has an attribute of this name
    origin = serializers.ChoiceField(
        choices=ORIGINS,
        allow_null=True,
        help_text="Where the text comes from; null in records that do not say.",
    )
    code = serializers.ChoiceField(choices=DECISION_CODES)
    included = serializers.BooleanField()
    reason = serializers.CharField(help_text="The code as a plain sentence.")
    rank = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    signals = serializers.DictField(child=serializers.FloatField())
    tokens = serializers.IntegerField(help_text="Tokens by which it lengthened the context; 0 if it was excluded.")
    tokens_full = serializers.IntegerField(help_text="Tokens of the whole item alone.")
    detail = serializers.DictField()


class ReplaySerializer(serializers.Serializer[Any]):
    identical = serializers.BooleanField()
    sha256 = serializers.CharField()
