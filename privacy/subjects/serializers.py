"""The documents of the endpoints of subjects."""

from typing import Any

from rest_framework import serializers

from config.http.serializers import ExactText, Flag, Line, StrictSerializer
from privacy.models import (
    IdentifierKind,
    MentionStatus,
    Subject,
    SubjectFile,
    SubjectKind,
    SubjectMention,
    SubjectScan,
    SubjectVersion,
)
from privacy.models.subject import (
    MAX_IDENTIFIER_CHARACTERS,
    MAX_IDENTIFIERS,
    MAX_SUBJECT_NAME_CHARACTERS,
    MAX_SUBJECT_NOTE_CHARACTERS,
)
from privacy.subjects.services import Identifier, SubjectFacts
from privacy.subjects.stored_texts import THING_KIND_NAMES
from teams.api.serializers import ActorSerializer, actor_document

MAX_DECIDED = 1_000


class IdentifierSerializer(StrictSerializer):
    kind = serializers.ChoiceField(choices=IdentifierKind.values)
    value = Line(max_length=MAX_IDENTIFIER_CHARACTERS)


class SubjectWriteSerializer(StrictSerializer):
    name = Line(max_length=MAX_SUBJECT_NAME_CHARACTERS, help_text="Texts are searched for it.")
    kind = serializers.ChoiceField(choices=SubjectKind.values)
    note = ExactText(required=False, default="", allow_blank=True, max_length=MAX_SUBJECT_NOTE_CHARACTERS)
    identifiers = serializers.ListField(
        child=IdentifierSerializer(), required=False, default=list, max_length=MAX_IDENTIFIERS, help_text="All of them."
    )


class SubjectSearchSerializer(StrictSerializer):
    query = Line(max_length=MAX_IDENTIFIER_CHARACTERS, help_text="A part of the name, or an identifier.")


class SubjectSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=SubjectKind.values)
    note = serializers.CharField(allow_blank=True)
    identifiers = IdentifierSerializer(many=True)
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = ActorSerializer()
    restricted_at = serializers.DateTimeField(allow_null=True, help_text="null: not restricted.")
    scanned_at = serializers.DateTimeField(allow_null=True, help_text="Texts saved before are searched; null: none.")
    erased_at = serializers.DateTimeField(allow_null=True)
    mentions = serializers.DictField(child=serializers.IntegerField(), help_text="The number of mentions by status.")


class SubjectResultsSerializer(serializers.Serializer[Any]):
    results = SubjectSerializer(many=True)


class SubjectVersionSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=SubjectKind.values)
    note = serializers.CharField(allow_blank=True)
    identifiers = IdentifierSerializer(many=True)
    restricted = serializers.BooleanField()
    updated_by = ActorSerializer()
    created_at = serializers.DateTimeField()


class MentionSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=THING_KIND_NAMES, help_text="What names the subject.")
    thing = serializers.UUIDField()
    agent_id = serializers.UUIDField(allow_null=True)
    team_id = serializers.UUIDField(allow_null=True)
    spellings = serializers.ListField(
        child=serializers.CharField(), help_text="As they are in any version of its texts."
    )
    status = serializers.ChoiceField(choices=MentionStatus.values)
    contexts = serializers.IntegerField(help_text="The recorded contexts that included it, as of the last scan.")
    found_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = ActorSerializer(allow_null=True)


class MentionDecisionSerializer(StrictSerializer):
    mentions = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=MAX_DECIDED)
    status = serializers.ChoiceField(choices=MentionStatus.values)


class MentionsDecidedSerializer(serializers.Serializer[Any]):
    changed = serializers.IntegerField(help_text="How many mentions of this subject had another status.")


class RestrictionSerializer(StrictSerializer):
    restricted = Flag()


class ScanSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    job = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    texts = serializers.IntegerField(help_text="How many rows were read.")
    found = serializers.IntegerField(help_text="How many mentions are new.")


class SubjectFileSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    job = serializers.UUIDField(allow_null=True, help_text="The job that writes it; null: it was written at once.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True, help_text="null: it is not written yet.")


def facts_from(values: dict[str, Any]) -> SubjectFacts:
    """Return the facts of validated values."""
    identifiers = [Identifier(one["kind"], one["value"]) for one in values["identifiers"]]
    return SubjectFacts(values["name"], values["kind"], values["note"], identifiers)


def subject_document(subject: Subject, mentions: dict[str, int]) -> dict[str, Any]:
    """Return a subject as the API shows it; its identifiers are loaded, or one query more."""
    return {
        "id": subject.id,
        "name": subject.name,
        "kind": subject.kind,
        "note": subject.note,
        "identifiers": [{"kind": one.kind, "value": one.value} for one in subject.identifiers.all()],
        "version": subject.version,
        "created_at": subject.created,
        "updated_at": subject.updated_at,
        "updated_by": actor_document(subject.updated_by, subject.updater_name),
        "restricted_at": subject.restricted_at,
        "scanned_at": subject.scanned_at,
        "erased_at": subject.erased_at,
        "mentions": mentions,
    }


def version_document(version: SubjectVersion) -> dict[str, Any]:
    """Return a version of a subject as the API shows it."""
    return {
        "version": version.version,
        "name": version.name,
        "kind": version.kind,
        "note": version.note,
        "identifiers": version.identifiers,
        "restricted": version.restricted,
        "updated_by": actor_document(version.by_ref, version.by_name),
        "created_at": version.created,
    }


def mention_document(mention: SubjectMention) -> dict[str, Any]:
    """Return a mention as the API shows it."""
    decided = actor_document(mention.decided_by, mention.decider_name) if mention.decided_at else None
    return {
        "id": mention.id,
        "kind": mention.ref_kind,
        "thing": mention.thing,
        "agent_id": mention.agent_id,
        "team_id": mention.team_id,
        "spellings": mention.spellings,
        "status": mention.status,
        "contexts": mention.contexts,
        "found_at": mention.found_at,
        "decided_at": mention.decided_at,
        "decided_by": decided,
    }


def scan_document(scan: SubjectScan) -> dict[str, Any]:
    """Return a scan as the API shows it."""
    return {
        "id": scan.id,
        "job": scan.job_id,
        "created_at": scan.created,
        "finished_at": scan.finished_at,
        "texts": scan.texts,
        "found": scan.found,
    }


def file_document(file: SubjectFile) -> dict[str, Any]:
    """Return a file about a subject as the API shows it."""
    return {"id": file.id, "job": file.job_id, "created_at": file.created, "finished_at": file.finished_at}
