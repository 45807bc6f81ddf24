"""REST endpoints that run recall tests on a text before it is published, and make them binding for its next versions.

A text is a file of an agent, a team or the organisation, or a profile. Whoever may edit it may try and guard it.
"""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.models import PublicationGuard
from assembly.recall_tests.publication import (
    find_guarded_text,
    find_named_text,
    publication_guard_set,
    publication_guards_visible_to,
    require_guard_allowed,
    require_guard_removable,
    try_draft,
    try_profile,
)
from assembly.recall_tests.serializers import UnsavedRunSerializer, report_document
from config.http.errors import NotFound
from config.http.idempotency import idempotent
from config.http.openapi import LOCATION, PAGE
from config.http.serializers import ExactText, StrictSerializer
from teams.api.serializers import ActorSerializer, SlugField, actor_document, page_serializer
from teams.api.view import ApiView
from teams.principal import Action
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_KEY_CHARACTERS = 60


class TextNameSerializer(StrictSerializer):
    agent = SlugField(required=False, help_text="The agent whose file it is.")
    team = SlugField(required=False, help_text="The team whose file it is.")
    file = ExactText(
        max_length=MAX_KEY_CHARACTERS,
        required=False,
        help_text="The key of the file, as KNOWLEDGE or GOALS; without agent and team, of one of the organisation.",
    )
    profile = ExactText(max_length=MAX_KEY_CHARACTERS, required=False, help_text="The profile, in place of a file.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one file or one profile."""
        if bool(attrs.get("file")) == bool(attrs.get("profile")):
            raise serializers.ValidationError({"file": "Name either a file by its key, or a profile."})
        if len([name for name in ("agent", "team", "profile") if attrs.get(name)]) > 1:
            raise serializers.ValidationError({"agent": "A file has one owner, and a profile none."})
        return attrs


class TextTrialSerializer(TextNameSerializer):
    content = ExactText(allow_blank=True, max_length=MAX_FILE_CHARACTERS, help_text="The text that would be published.")


class PublicationGuardSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    agent = serializers.CharField(allow_null=True)
    team = serializers.CharField(allow_null=True)
    file = serializers.CharField(allow_null=True, help_text="The key of the file; null: it is a profile.")
    profile = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    set_by = ActorSerializer()


def guard_document(guard: PublicationGuard) -> dict[str, Any]:
    """Return a guard of `publication_guards_visible_to` as JSON."""
    kind, _, name = guard.about.partition(":")
    facts = {
        "id": guard.id,
        "agent": guard.agent.slug if guard.agent else None,
        "team": guard.team.slug if guard.team else None,
        "file": getattr(guard, "file_key", None) or None,
        "profile": name if kind == "profile" else None,
        "created_at": guard.created,
        "set_by": actor_document(guard.set_by, guard.setter_name),
    }
    return dict(PublicationGuardSerializer(facts).data)


class RecallTestTrial(ApiView):
    @extend_schema(
        operation_id="recall_tests_trial",
        summary="Run recall tests on text",
        request=TextTrialSerializer,
        responses=UnsavedRunSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Return the results of the recall tests that you may see, with `content` in place of the text.

        Nothing is stored, and the text stays as it is.
        """
        self.query()
        asked = self.validated(TextTrialSerializer)
        content = asked.pop("content")
        text = find_named_text(self.principal, **asked, action=Action.EDIT)
        if text.is_profile:
            return Response(report_document(try_profile(self.principal, text.key, content)))
        return Response(report_document(try_draft(self.principal, text.about, content)))


class PublicationGuardList(ApiView):
    @extend_schema(
        operation_id="recall_tests_guards_list",
        summary="List publication guards",
        parameters=PAGE,
        responses=page_serializer(PublicationGuardSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the texts that you may see and that cannot be published if they break a recall test, newest first."""
        return self.page(publication_guards_visible_to(self.principal), guard_document)

    @extend_schema(
        operation_id="recall_tests_guards_create",
        summary="Set publication guard",
        parameters=[LOCATION],
        request=TextNameSerializer,
        responses={201: PublicationGuardSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Refuse the next versions of a text that break a recall test. Setting it twice changes nothing."""
        self.query()
        text = find_named_text(self.principal, **self.validated(TextNameSerializer), action=Action.EDIT)
        require_guard_allowed(self.principal, text)
        publication_guard_set(text=text, guarded=True, principal=self.principal)
        guard = publication_guards_visible_to(self.principal).get(about=text.about)
        headers = {"Location": f"/api/v1/recall-tests/guards/{guard.id}"}
        return Response(guard_document(guard), status.HTTP_201_CREATED, headers=headers)


class PublicationGuardDetail(ApiView):
    @extend_schema(
        operation_id="recall_tests_guards_read", summary="Get publication guard", responses=PublicationGuardSerializer
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a publication guard."""
        self.query()
        return Response(guard_document(self._guard(id_)))

    @extend_schema(operation_id="recall_tests_guards_delete", summary="Remove publication guard", responses={204: None})
    def delete(self, request: Request, id_: UUID) -> Response:
        """Remove a publication guard: a failing recall test is only a warning then."""
        self.query()
        text = find_guarded_text(self.principal, self._guard(id_).about, Action.EDIT)
        require_guard_removable(self.principal, text)
        publication_guard_set(text=text, guarded=False, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _guard(self, id_: UUID) -> PublicationGuard:
        found = publication_guards_visible_to(self.principal).filter(id=id_).first()
        if found is None:
            raise NotFound("This guard")
        return found
