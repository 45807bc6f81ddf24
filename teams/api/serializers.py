"""These serializers are shared by the endpoints of teams and by those of all versioned files."""

from functools import cache
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from config.http.serializers import ExactText, Flag, Line, NotesField, StrictSerializer
from teams.origin import Origin
from teams.principal import SYSTEM, Role
from teams.readings.models import ReadingReasons
from teams.secret_scanning.handling import SecretHandling
from teams.sensitivity import LEVEL_WORDS, Sensitivity
from teams.slugs import MAX_SLUG_CHARACTERS, valid_slug
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, MAX_NOTE_CHARACTERS

AGENTS_MAY_CHANGE = "Whether agents' keys may change and delete what people wrote in the team."
REASONS_DEMANDED = (
    "For what people have to give a reason before they open or download it: see the header `Reading-Reason`."
)
SECRETS_HANDLED = (
    "What happens to texts in which a key or password is recognized: `refuse`, `mask` (it is replaced), or `keep`."
)
MAX_NAME_CHARACTERS = 120


@cache  # the same class each time, so that the document has one component for it
def page_serializer(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return a serializer for a page `{results, next}` of such items, for the OpenAPI document."""
    name = item.__name__.removesuffix("Serializer") + "PageSerializer"
    following = serializers.CharField(allow_null=True, help_text="The address of the next page; null after the last.")
    return type(name, (serializers.Serializer,), {"results": item(many=True), "next": following})


class SlugField(ExactText):
    """The slug of a new resource, which cannot be changed later."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": MAX_SLUG_CHARACTERS, "validators": [valid_slug], **options})


class NoteField(Line):
    """An author's note on a version: one line for the history, which may be missing or empty."""

    def __init__(self, **options: Any) -> None:
        said = "What changed and why, for the history: one line."
        standard = {"required": False, "default": "", "allow_blank": True, "max_length": MAX_NOTE_CHARACTERS}
        super().__init__(**{**standard, "help_text": said, **options})

    def to_internal_value(self, data: Any) -> str:
        return "" if data == "" else super().to_internal_value(data)


ACTOR_TYPES = ("person", "key", "system")


class ActorSerializer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=ACTOR_TYPES, help_text="system: Dossier itself, or a command.")
    ref = serializers.CharField(help_text="person:<id>, key:<id> or system; empty in old records that have names only.")
    name = serializers.CharField(allow_blank=True)


def actor_document(ref: str, name: str) -> dict[str, str]:
    """Return a person, a key or the system as JSON.

    Rows that the system wrote have no ref, and neither have alerts that a person acknowledged before refs were stored.
    """
    if not ref and name in {"", SYSTEM.name}:
        return {"type": "system", "ref": SYSTEM.ref, "name": SYSTEM.name}
    kind, _, _id = ref.partition(":")
    return {"type": kind or "person", "ref": ref, "name": name or (SYSTEM.name if kind == "system" else "")}


@extend_schema_field(ActorSerializer)
class ActorField(serializers.Field[Any, Any, Any, Any]):
    """The actor whose ref and name are in the columns `<prefix>_ref`, or `ref` if given, and `<prefix>_name`."""

    def __init__(self, prefix: str, *, ref: str = "", **options: Any) -> None:
        super().__init__(**{"source": "*", "read_only": True, **options})
        self.ref = ref or f"{prefix}_ref"
        self.name = f"{prefix}_name"

    def to_representation(self, row: Any) -> dict[str, str]:
        return actor_document(getattr(row, self.ref), getattr(row, self.name))


class TeamCreateSerializer(StrictSerializer):
    slug = SlugField()
    name = Line(max_length=MAX_NAME_CHARACTERS)


class TeamUpdateSerializer(StrictSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    agents_may_change_texts = Flag(required=False, help_text=AGENTS_MAY_CHANGE)
    secret_handling = serializers.ChoiceField(
        choices=SecretHandling.values,
        required=False,
        help_text=SECRETS_HANDLED,
        error_messages={"invalid_choice": f"Use one of: {', '.join(SecretHandling.values)}."},
    )
    reading_reasons = serializers.ChoiceField(
        choices=ReadingReasons.values,
        required=False,
        help_text=REASONS_DEMANDED,
        error_messages={"invalid_choice": f"Use one of: {', '.join(ReadingReasons.values)}."},
    )


class TeamSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    agents_may_change_texts = serializers.BooleanField(help_text=AGENTS_MAY_CHANGE)
    secret_handling = serializers.ChoiceField(choices=SecretHandling.values, help_text=SECRETS_HANDLED)
    reading_reasons = serializers.ChoiceField(choices=ReadingReasons.values, help_text=REASONS_DEMANDED)
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField(source="created")


class RoleSerializer(StrictSerializer):
    role = serializers.ChoiceField(
        choices=Role.values, error_messages={"invalid_choice": f"Use one of: {', '.join(Role.values)}."}
    )


class MemberSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(source="user.username")
    name = serializers.CharField(source="user.name")
    role = serializers.ChoiceField(choices=Role.values)
    created_at = serializers.DateTimeField(source="created")


class OriginField(serializers.ChoiceField):
    """This field says where a text comes from; the server sets it."""

    def __init__(self, **options: Any) -> None:
        help_text = "Where the text comes from, by who wrote it and how: set by the server."
        super().__init__(**{"choices": Origin.values, "read_only": True, "help_text": help_text, **options})


class LevelField(serializers.ChoiceField):
    """A field for a sensitivity or a clearance, as a word."""

    default_error_messages = {"invalid_choice": f"Use one of: {', '.join(LEVEL_WORDS)}."}

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=list(LEVEL_WORDS), **options)

    def to_internal_value(self, data: Any) -> Any:
        return int(LEVEL_WORDS[super().to_internal_value(data)])

    def to_representation(self, value: Any) -> str:
        return Sensitivity(value).word


LEVEL_HELP = "How confidential it is; without the clearance for it, it does not exist."


class LevelledSerializer(StrictSerializer):
    """The body of a request about a text with a sensitivity."""

    sensitivity = LevelField(
        required=False, help_text="At most your own clearance; only an admin of the team lowers it. Default: internal."
    )


class SignedSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    updated_by = ActorField("editor")
    origin = OriginField()


class FileSerializer(SignedSerializer):
    sensitivity = LevelField(help_text=LEVEL_HELP)
    key = serializers.CharField(source="file_key")
    content = serializers.CharField()
    updated_at = serializers.DateTimeField()
    notes = NotesField()


class ContentSerializer(LevelledSerializer):
    content = ExactText(allow_blank=True, max_length=MAX_FILE_CHARACTERS, help_text="Markdown.")
    note = NoteField()


class VersionSerializer(SignedSerializer):
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")
    note = serializers.CharField(help_text="What its author says of it; may be empty.")
    created_at = serializers.DateTimeField(source="created")


class VersionContentSerializer(VersionSerializer):
    content = serializers.CharField()
