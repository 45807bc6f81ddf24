"""Serializers of profiles: request bodies, documents and pages of documents."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from rest_framework import serializers

from assembly.engine.profile import DOMAINS, STEPS, ConflictMode, CutAt, CutMark, Delimiter, PrivacyMode
from assembly.engine.types import LEVEL_PREFERENCES, ORIGINS, field_values
from assembly.profiles.catalogue import ProfileEntry
from assembly.profiles.yaml_reader import UnreadableDocument
from config.http.cursors import limit_of
from config.http.errors import Invalid
from config.http.serializers import ExactText, NotesField, StrictSerializer
from teams.api.serializers import ActorSerializer, SlugField, VersionSerializer, actor_document
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

YAML = "YAML, stored as sent. A fault is named with its line."


class ProfileContentSerializer(StrictSerializer):
    content = ExactText(allow_blank=True, max_length=MAX_FILE_CHARACTERS, help_text=YAML)


class ProfileCreateSerializer(ProfileContentSerializer):
    name = SlugField()


class ProfileSummarySerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField()
    description = serializers.CharField(help_text="What it is for.")
    builtin = serializers.BooleanField(help_text="Dossier has a built-in profile of this name.")
    editable = serializers.BooleanField()
    error = serializers.CharField(
        allow_null=True, help_text="Why it cannot be used, with the line: say, a source is gone. null: it can be."
    )
    updated_at = serializers.DateTimeField(allow_null=True, help_text="null: the built-in version.")
    updated_by = ActorSerializer()


class ProfileWeightsSerializer(serializers.Serializer[Any]):
    recency = serializers.FloatField()
    relevance = serializers.FloatField()
    salience = serializers.FloatField()
    credibility = serializers.FloatField()
    coherence = serializers.FloatField()


class ProfileSectionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    heading = serializers.CharField()
    layer = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # of the items; DRF has an attribute of this name
    shape = serializers.CharField()
    cap = serializers.IntegerField(allow_null=True, help_text="Most tokens; null: no cap of its own.")
    share = serializers.FloatField(allow_null=True, help_text="Most percent of the budget; null: no share of its own.")
    top_k = serializers.IntegerField(allow_null=True, help_text="Items that have a chance; null: all.")
    required = serializers.BooleanField(help_text="Always included, never truncated.")  # type: ignore[assignment]  # as above
    overflow = serializers.ChoiceField(choices=["cut", "drop"])
    ranker = serializers.CharField(
        allow_null=True, help_text="The ranker of passages of documents; null: the section has none."
    )
    least_origin = serializers.ChoiceField(
        choices=ORIGINS, allow_null=True, help_text="The least trusted origin of its items; null: any."
    )
    relevance_floor = serializers.FloatField(help_text="Least relevance of its blocks if there is a topic, 0 to 1.")


class ProfileSerializer(ProfileSummarySerializer):
    content = serializers.CharField(help_text="YAML.")
    notes = NotesField()
    budget = serializers.IntegerField(allow_null=True, help_text="In tokens; null: the profile cannot be read.")
    similarity_threshold = serializers.FloatField(allow_null=True)
    depth_limit = serializers.IntegerField(allow_null=True)
    weights = ProfileWeightsSerializer(allow_null=True)
    domain = serializers.ChoiceField(
        choices=DOMAINS, allow_null=True, help_text="The domain whose weights count unless the profile has others."
    )
    over_budget = serializers.ListField(
        child=serializers.ChoiceField(choices=STEPS),
        allow_null=True,
        help_text="The steps that are applied to items that do not fit, in this order.",
    )
    fill = serializers.BooleanField(
        allow_null=True,
        help_text=(
            "If less than 90 % of the budget is used, excluded items are included after all, whole or shortened."
        ),
    )
    cut_at = serializers.ChoiceField(choices=get_args(CutAt), allow_null=True, help_text="Where a truncated text ends.")
    quality_min = serializers.FloatField(
        allow_null=True, help_text="Least mean relevance of what was found; below it, contexts say so."
    )
    lod = serializers.ChoiceField(
        choices=LEVEL_PREFERENCES,
        allow_null=True,
        help_text="The level of detail of blocks; null: the steps of `over_budget` shorten them.",
    )
    scope_limits = serializers.DictField(
        child=serializers.IntegerField(), allow_null=True, help_text="Most blocks by memory scope."
    )
    half_life = serializers.DictField(
        child=serializers.FloatField(), allow_null=True, help_text="Days in which recency halves, by memory scope."
    )
    credibility = serializers.DictField(
        child=serializers.FloatField(), allow_null=True, help_text="Credibility of unrated blocks, by memory scope."
    )
    delimit = serializers.ChoiceField(
        choices=get_args(Delimiter), allow_null=True, help_text="Whether sections begin with headings or are tags."
    )
    cut_mark = serializers.ChoiceField(
        choices=get_args(CutMark),
        allow_null=True,
        help_text="The mark of a truncated text: that of the seed, or one that names where the rest is.",
    )
    deduplicate = serializers.BooleanField(allow_null=True, help_text="Equal texts are included once in all sections.")
    report_failures = serializers.BooleanField(
        allow_null=True, help_text="A line at the end names the sources that failed or were late."
    )
    conflicts = serializers.ChoiceField(
        choices=get_args(ConflictMode),
        allow_null=True,
        help_text=(
            "What becomes of texts that contradict each other, until a person decides: the more trusted one is "
            "included with a mark (mark), neither is (withhold), or both are with marks (tell). warn: both are as "
            "they are, and the context has a warning. off: no check."
        ),
    )
    coherence_min = serializers.FloatField(
        allow_null=True, help_text="Least mean coherence of blocks; below it, contexts have COHERENCE_FAILURE."
    )
    privacy_mode = serializers.ChoiceField(
        choices=get_args(PrivacyMode),
        allow_null=True,
        help_text="mask: placeholders stand for personal data in contexts, as [e-mail 1]; strict: also, nothing above "
        "internal is told, whatever the clearance.",
    )
    second_round = serializers.BooleanField(
        allow_null=True,
        help_text="A context that names too few of the named entities, or has nothing of a scope, is read for again.",
    )
    summaries_max = serializers.IntegerField(
        allow_null=True,
        help_text="The most texts of a context that are sent to the model server for summaries; others are shortened "
        "by extraction. null: no limit.",
    )
    sections = ProfileSectionSerializer(many=True)


class ProfileVersionSerializer(VersionSerializer):
    created_at = serializers.DateTimeField(source="created", allow_null=True, help_text="null: built-in.")


class ProfileVersionContentSerializer(ProfileVersionSerializer):
    content = serializers.CharField()


class ProfileErrorSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField(help_text="From 1.")
    message = serializers.CharField()


class ProfileCheckSerializer(serializers.Serializer[Any]):
    valid = serializers.BooleanField()
    errors = ProfileErrorSerializer(many=True)  # type: ignore[assignment]  # DRF has an attribute of this name


def check_document(fault: UnreadableDocument | None) -> dict[str, Any]:
    """Return the result of validating a text."""
    errors = [{"line": fault.line, "message": fault.reason}] if fault else []
    return {"valid": not errors, "errors": errors}


PLAIN_FIELDS = (
    *("budget", "similarity_threshold", "depth_limit", "domain", "over_budget", "fill", "cut_at", "quality_min", "lod"),
    *("scope_limits", "half_life", "credibility", "delimit", "cut_mark", "deduplicate", "report_failures"),
    *("conflicts", "coherence_min", "privacy_mode", "second_round", "summaries_max"),
)
"""The fields of a profile that its document contains unchanged."""


def summary_document(entry: ProfileEntry) -> dict[str, Any]:
    """Return the profile as JSON for lists."""
    return dict(ProfileSummarySerializer(_summary_fields(entry)).data)


def profile_document(entry: ProfileEntry) -> dict[str, Any]:
    """Return the profile as JSON, with its text and its parsed fields."""
    return dict(
        ProfileSerializer({**_summary_fields(entry), "content": entry.row.content, **_parsed_fields(entry)}).data
    )


def entries_page(entries: Sequence[ProfileEntry], query: Mapping[str, str]) -> tuple[Sequence[ProfileEntry], str]:
    """Return a page of the entries, and the cursor of the next page: the last name of this page, or "" if there is
    none.

    Raises Invalid for a limit out of range, and an unknown cursor.
    """
    limit, cursor = limit_of(query.get("limit", "")), query.get("cursor", "")
    names = [entry.name for entry in entries]
    if cursor and cursor not in names:
        raise Invalid("cursor", "Use the cursor of `next` without changes, or omit it to start again.")
    following = entries[names.index(cursor) + 1 :] if cursor else entries
    return following[:limit], following[limit - 1].name if len(following) > limit else ""


def _summary_fields(entry: ProfileEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "version": entry.version,
        "description": entry.description,
        "builtin": entry.shipped,
        "editable": entry.editable,
        "error": entry.fault.detail if entry.fault else None,
        "updated_at": entry.row.updated_at,
        "updated_by": actor_document(entry.row.editor_ref, entry.row.editor_name),
    }


def _parsed_fields(entry: ProfileEntry) -> dict[str, Any]:
    if entry.described is None:
        return {**dict.fromkeys(PLAIN_FIELDS), "weights": None, "sections": []}
    profile = entry.described.profile
    return {
        **{name: getattr(profile, name) for name in PLAIN_FIELDS},
        "weights": asdict(profile.weights),
        "sections": [
            {**field_values(section), "heading": section.label, "ranker": section.ranker_name}
            for section in profile.sections
        ],
    }
