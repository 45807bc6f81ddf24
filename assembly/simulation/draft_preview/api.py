"""REST endpoint that previews unpublished texts in a context."""

import datetime
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from assembly.comparison.diff_sentences import comparison_summary
from assembly.comparison.documents import change_document, section_document
from assembly.comparison.serializers import KEYS, SectionChangeSerializer, TrialChangeSerializer
from assembly.comparison.side_by_side import ComparedContext, SideBySide
from assembly.contexts.serializers import WarningSerializer
from assembly.engine.codes import WarningCode
from assembly.engine.reasons import warning_sentence
from assembly.pipeline.request import (
    DEFAULT_TOKENIZER,
    MAX_TOKENS,
    MAX_TOPIC_CHARACTERS,
    AssemblyRequest,
)
from assembly.profiles.shipped import SHIPPED
from assembly.simulation.draft_preview.services import preview_drafts, texts_by_subject
from config.http.idempotency import idempotent
from config.http.serializers import INVALID_DATE, ExactText, Moment, StrictSerializer, parse_date
from teams.access import team_for
from teams.api.view import ApiView
from teams.models import TeamFile
from teams.slugs import is_slug
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_DAYS = 31
CONTENT = "content"
"""The value of `include` for the texts of both contexts."""


class DraftPreviewRequestSerializer(StrictSerializer):
    agent = ExactText(max_length=60, help_text="The agent's slug.")
    team = ExactText(
        max_length=60, required=False, allow_null=True, default=None, help_text="The slug of one of its teams."
    )
    topic = ExactText(max_length=MAX_TOPIC_CHARACTERS, required=False, allow_blank=True, default="")
    profile = ExactText(
        max_length=60,
        required=False,
        allow_blank=True,
        default="",
        help_text=f"{', '.join(SHIPPED)}, or one that your admins wrote. Default: the agent's own, or conversation.",
    )
    max_tokens = serializers.IntegerField(
        min_value=0, max_value=MAX_TOKENS, required=False, allow_null=True, default=None, help_text="The budget."
    )
    tokenizer = ExactText(max_length=60, required=False, default=DEFAULT_TOKENIZER)
    now = Moment(required=False, allow_null=True, default=None, help_text="The moment to assemble for. Default: now.")
    files = serializers.DictField(
        child=ExactText(max_length=MAX_FILE_CHARACTERS, allow_blank=True),
        required=False,
        default=dict,
        help_text=f"Texts by the key of the file that they would be: {', '.join(KEYS)}.",
    )
    organisation_files = serializers.DictField(
        child=ExactText(max_length=MAX_FILE_CHARACTERS, allow_blank=True),
        required=False,
        default=dict,
        help_text="Texts by the key of the file of the organisation that they would be.",
    )
    daily_logs = serializers.DictField(
        child=ExactText(max_length=MAX_FILE_CHARACTERS, allow_blank=True),
        required=False,
        default=dict,
        help_text="Texts by the day whose log they would be, as 2026-03-01; also of days that have none yet.",
    )
    include = serializers.ListField(
        child=serializers.ChoiceField(choices=[CONTENT]),
        max_length=1,
        required=False,
        default=list,
        help_text="content: the complete texts of both contexts.",
    )

    def validate_files(self, files: dict[str, str]) -> dict[str, str]:
        unknown = [key for key in files if key not in KEYS]
        if unknown:
            raise serializers.ValidationError(f"There is no file “{unknown[0][:60]}”. Use one of {', '.join(KEYS)}.")
        return files

    def validate_organisation_files(self, files: dict[str, str]) -> dict[str, str]:
        if not all(map(is_slug, files)):
            raise serializers.ValidationError("The key of a file has lower-case letters, digits and hyphens.")
        return files

    def validate_daily_logs(self, logs: dict[str, str]) -> dict[datetime.date, str]:
        if len(logs) > MAX_DAYS:
            raise serializers.ValidationError(f"Send at most {MAX_DAYS} days.")
        return {_day(name): text for name, text in logs.items()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        of_team = [key for key in attrs["files"] if key in TeamFile.Key.values]
        if of_team and attrs["team"] is None:
            raise serializers.ValidationError({"team": f"{of_team[0]} is a team's file. Say of which team."})
        return attrs


def _day(name: str) -> datetime.date:
    day = parse_date(name)
    if day is None:
        raise serializers.ValidationError(f"“{name[:60]}”: {INVALID_DATE}")
    return day


class PreviewedContextSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")
    warnings = WarningSerializer(many=True)
    content = serializers.CharField(required=False, help_text="With `include: [content]`.")


class DraftPreviewSerializer(serializers.Serializer[Any]):
    now = serializers.DateTimeField(help_text="The moment that both contexts are for.")
    budget = serializers.IntegerField()
    profile = serializers.CharField()
    tokenizer = serializers.CharField()
    summary = serializers.CharField(help_text="What the texts would change, in plain sentences.")
    same = serializers.BooleanField(help_text="Nothing would be different.")
    before = PreviewedContextSerializer(help_text="The context now.")
    after = PreviewedContextSerializer(help_text="The context with the texts in it.")
    sections = SectionChangeSerializer(many=True)
    changes = TrialChangeSerializer(many=True)
    missing_sources = serializers.ListField(
        child=serializers.CharField(), help_text="Sources that could not be read, on either side."
    )


class DraftPreviewCreate(ApiView):
    @extend_schema(
        operation_id="draft_previews_create",
        summary="Preview drafts in context",
        request=DraftPreviewRequestSerializer,
        responses=DraftPreviewSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Return what the given texts would change in an agent's context, by section and item. Nothing is stored.

        Both contexts are assembled from one snapshot of the database, so every difference is caused by the texts.
        """
        self.query()
        wishes = self.validated(DraftPreviewRequestSerializer)
        agent = agent_for(self.principal, wishes["agent"])
        team = team_for(self.principal, wishes["team"]) if wishes["team"] is not None else None
        asked = AssemblyRequest(
            **{name: wishes[name] for name in ("topic", "profile", "max_tokens", "tokenizer", "now")}
        )
        texts = texts_by_subject(
            agent,
            team,
            files=wishes["files"],
            logs=wishes["daily_logs"],
            organisation_files=wishes["organisation_files"],
        )
        found = preview_drafts(agent=agent, team=team, asked=asked, texts=texts)
        return Response(DraftPreviewSerializer(_document(found, with_content=CONTENT in wishes["include"])).data)


def _document(found: SideBySide, *, with_content: bool) -> dict[str, Any]:
    comparison, request = found.comparison, found.after.inputs.request
    labels = {section.section.key: section.section.label for section in comparison.sections}
    return {
        "now": request.now,
        "budget": request.budget,
        "profile": found.after.inputs.profile.name,
        "tokenizer": request.tokenizer,
        "summary": comparison_summary(comparison, overflows=WarningCode.BUDGET_EXCEEDED in found.new_warnings),
        "same": comparison.is_same,
        "before": _context_document(found.before, with_content=with_content),
        "after": _context_document(found.after, with_content=with_content),
        "sections": [section_document(section) for section in comparison.sections],
        "changes": [change_document(change, labels) for change in comparison.changes],
        "missing_sources": list(found.after.missing),
    }


def _context_document(made: ComparedContext, *, with_content: bool) -> dict[str, Any]:
    return {
        "tokens": made.tokens,
        "sha256": made.sha256,
        "warnings": [{"code": code, "message": warning_sentence(code)} for code in made.own_warnings],
        **({"content": made.content} if with_content else {}),
    }
