"""REST endpoints that list, read, decide and reopen conflicts."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from assembly.conflicts.access import conflict_for, conflict_to_resolve
from assembly.conflicts.edit_check import EditCheck, edit_check
from assembly.conflicts.presentation import IncludingContext, including_contexts
from assembly.conflicts.restoration import CHANGES, NOTES, Restoration, last_undo
from assembly.conflicts.services import CHOICES, EDITS, conflict_edit, conflict_resolve, conflict_undo
from assembly.conflicts.sides import SideText, side_texts
from assembly.models import (
    Conflict,
    ConflictKind,
    ConflictResolution,
    ConflictSide,
    ConflictStatus,
    ConflictStrategy,
    GoneReason,
)
from assembly.models.conflict import MAX_REASON_CHARACTERS
from config.http.errors import Invalid
from config.http.idempotency import idempotent
from config.http.openapi import PAGE
from config.http.serializers import ExactText, StrictSerializer, VisibleText
from memories.models.memory import MAX_TEXT_CHARACTERS
from teams.access import team_for
from teams.api.serializers import ActorSerializer, actor_document, page_serializer
from teams.api.view import ApiView
from teams.origin import Origin
from teams.principal import Principal

STATUSES = [*ConflictStatus.values, "all"]


class ConflictSideSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField(help_text="The item with the version that was compared, as in team_file:<uuid>@3#7.")
    statement = serializers.CharField(help_text="The part of the text that differs.")


class ConflictSideTextSerializer(ConflictSideSerializer):
    title = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True, help_text="As it is now.")
    current = serializers.BooleanField(help_text="Whether it is the text that was compared.")
    agent = serializers.CharField(allow_null=True)
    team = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(allow_null=True)
    updated_by = ActorSerializer()
    origin = serializers.ChoiceField(choices=Origin.values, allow_null=True)
    written_at = serializers.DateTimeField(allow_null=True)
    credibility = serializers.FloatField(allow_null=True, help_text="0 to 1; null: nobody rates such texts.")


class ConflictSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=ConflictKind.values, help_text="What differs; duplicate: nothing does.")
    status = serializers.ChoiceField(choices=ConflictStatus.values, help_text="gone: it is outdated.")
    gone_because = serializers.ChoiceField(
        choices=GoneReason.values,
        allow_null=True,
        help_text="text_changed: a side has another text; not_found: detection no longer finds it. null: not gone.",
    )
    agent = serializers.CharField(allow_null=True, help_text="The agent of a side; null: none has one.")
    team = serializers.CharField(allow_null=True)
    cue = serializers.CharField(help_text="The difference, in a sentence.")
    similarity = serializers.FloatField(help_text="Of both texts in meaning, 0 to 1.")
    severity = serializers.FloatField(help_text="0 to 1; below .3 it is minor, and precedence decides.")
    probability = serializers.FloatField(help_text="How sure the comparison is, 0 to 1.")
    model = serializers.CharField(
        allow_blank=True, help_text="The language model that found it; empty: rules about values and words did."
    )
    strategy = serializers.ChoiceField(choices=ConflictStrategy.values, help_text="What contexts do about it.")
    confidence = serializers.FloatField()
    reasoning = serializers.CharField()
    resolution = serializers.ChoiceField(
        choices=ConflictResolution.values, allow_null=True, help_text="What a person decided; null: nothing."
    )
    reason = serializers.CharField(allow_blank=True)
    resolved_at = serializers.DateTimeField(allow_null=True)
    resolved_by = ActorSerializer(allow_null=True)
    found_at = serializers.DateTimeField()
    left = ConflictSideSerializer()
    right = ConflictSideSerializer()


class IncludingContextSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="The assembly.")
    created_at = serializers.DateTimeField()
    topic = serializers.CharField(allow_blank=True)
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    left = serializers.BooleanField(help_text="Whether it included the left text as it was compared.")
    right = serializers.BooleanField()


class EditCheckSerializer(serializers.Serializer[Any]):
    pending = serializers.BooleanField(help_text="Whether a worker has still to compare the new text.")
    conflict = serializers.UUIDField(
        allow_null=True, help_text="The open conflict of the new text with the other side; null: none was found."
    )


class RestorationSerializer(serializers.Serializer[Any]):
    memory = serializers.UUIDField(help_text="The memory that the decision had changed.")
    change = serializers.ChoiceField(choices=CHANGES, help_text="What the decision had done.")
    restored = serializers.BooleanField(help_text="Whether its status or its text is as before the decision.")
    notes = serializers.ListField(
        child=serializers.ChoiceField(choices=NOTES), help_text="What was changed since, by somebody else."
    )
    message = serializers.CharField(help_text="The same in sentences.")


class ConflictDetailSerializer(ConflictSerializer):
    left = ConflictSideTextSerializer()
    right = ConflictSideTextSerializer()
    edit_check = EditCheckSerializer(
        allow_null=True, help_text="What the closer comparison found after an edit; null: no edit resolved it."
    )
    undone = RestorationSerializer(
        many=True,
        allow_null=True,
        help_text="What became of the memories when the decision was undone; null: it was not, or there is a new one.",
    )
    contexts = IncludingContextSerializer(
        many=True, help_text="The newest 10 for agents that included a side and that you may see."
    )


class ConflictDecisionSerializer(StrictSerializer):
    choice = serializers.ChoiceField(
        choices=[*CHOICES, *EDITS],
        help_text="Which side holds; edit_left and edit_right: the memory that is rewritten.",
    )
    text = VisibleText(max_length=MAX_TEXT_CHARACTERS, required=False, help_text="The new text of an edited memory.")
    reason = ExactText(max_length=MAX_REASON_CHARACTERS, required=False, allow_blank=True, default="", help_text="Why.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a text for an edit, and for nothing else."""
        if attrs["choice"] in EDITS and "text" not in attrs:
            raise serializers.ValidationError({"text": ["Send the new text of the memory."]}, code="required")
        if attrs["choice"] not in EDITS and "text" in attrs:
            raise serializers.ValidationError({"text": ["Only edit_left and edit_right take a text."]}, code="invalid")
        return attrs


def conflict_document(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as JSON."""
    names = ("id", "kind", "status", "cue", "similarity", "severity", "probability", "model", "strategy")
    left, right = conflict.sides
    facts = {
        **{name: getattr(conflict, name) for name in (*names, "confidence", "reasoning", "reason", "resolved_at")},
        "agent": conflict.agent.slug if conflict.agent else None,
        "team": conflict.team.slug if conflict.team else None,
        "gone_because": conflict.gone_because or None,
        "resolution": conflict.resolution or None,
        "resolved_by": actor_document(conflict.resolved_by, conflict.resolver_name) if conflict.resolved_at else None,
        "found_at": conflict.found,
        "left": _side_document(left),
        "right": _side_document(right),
    }
    return dict(ConflictSerializer(facts).data)


def _side_document(side: ConflictSide) -> dict[str, Any]:
    return {"ref": side.ref, "statement": side.statement}


def _text_document(side: SideText) -> dict[str, Any]:
    facts = {
        **_side_document(side.side),
        "title": side.title,
        "text": side.text,
        "current": side.is_current,
        "agent": side.agent_slug or None,
        "team": side.team_slug or None,
        "version": side.version,
        "updated_by": actor_document(side.author_ref, side.author),
        "origin": side.origin or None,
        "written_at": side.written,
        "credibility": side.credibility,
    }
    return dict(ConflictSideTextSerializer(facts).data)


def _context_document(including: IncludingContext) -> dict[str, Any]:
    context = including.context
    facts = {
        "id": context.id,
        "created_at": context.created,
        "topic": context.topic,
        "agent": context.agent_slug,
        "team": context.team_slug or None,
        "left": including.left,
        "right": including.right,
    }
    return dict(IncludingContextSerializer(facts).data)


def _edit_check_document(check: EditCheck | None) -> dict[str, Any] | None:
    if check is None:
        return None
    facts = {"pending": check.is_pending, "conflict": check.remaining.id if check.remaining else None}
    return dict(EditCheckSerializer(facts).data)


def _restoration_document(restoration: Restoration) -> dict[str, Any]:
    facts = {
        "memory": restoration.memory,
        "change": restoration.change,
        "restored": restoration.is_restored,
        "notes": restoration.notes,
        "message": restoration.told,
    }
    return dict(RestorationSerializer(facts).data)


def conflict_detail_document(conflict: Conflict, principal: Principal) -> dict[str, Any]:
    """Return a conflict as JSON, with both texts as they are now, and the contexts that included one of them."""
    left, right = side_texts([conflict])[conflict.id]
    undone = last_undo(conflict)
    return {
        **conflict_document(conflict),
        "left": _text_document(left),
        "right": _text_document(right),
        "edit_check": _edit_check_document(edit_check(conflict, principal)),
        "undone": None if undone is None else [_restoration_document(one) for one in undone],
        "contexts": [_context_document(one) for one in including_contexts(conflict, principal)],
    }


class ConflictList(ApiView):
    @extend_schema(
        operation_id="conflicts_list",
        summary="List conflicts",
        parameters=[
            OpenApiParameter("status", str, enum=STATUSES, description="open, unless another one is named."),
            OpenApiParameter("kind", str, enum=ConflictKind.values, description="Only those."),
            OpenApiParameter("agent", str, description="Only with a text of the agent with this slug."),
            OpenApiParameter("team", str, description="Only with a text of the team with this slug."),
            OpenApiParameter(
                "item", UUID, description="Only with a text of the memory, document or entity with this id."
            ),
            *PAGE,
        ],
        responses=page_serializer(ConflictSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the conflicts of which you may read both sides, newest first.

        A conflict with an archived or superseded memory is not open.
        """
        query = self.query("status", "kind", "agent", "team", "item", "cursor", "limit")
        agent = agent_for(self.principal, query["agent"]) if "agent" in query else None
        team = team_for(self.principal, query["team"]) if "team" in query else None
        visible = Conflict.objects.visible_to(self.principal)
        rows = (visible.about([_id("item", query["item"])]) if "item" in query else visible).selected(
            status=_known("status", query.get("status", "open"), STATUSES),
            kind=_known("kind", query["kind"], ConflictKind.values) if "kind" in query else "",
            agent_id=agent.id if agent else None,
            team_id=team.id if team else None,
        )
        return self.page(rows.select_related("agent", "team"), conflict_document, ("found", "id"), query=query)


class ConflictDetail(ApiView):
    @extend_schema(operation_id="conflicts_read", summary="Get conflict", responses=ConflictDetailSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a conflict with both texts as they are now, and the newest contexts that included one of them."""
        self.query()
        return Response(conflict_detail_document(conflict_for(self.principal, id_), self.principal))


class ConflictResolve(ApiView):
    @extend_schema(
        operation_id="conflicts_resolve",
        summary="Resolve conflict",
        request=ConflictDecisionSerializer,
        responses=ConflictDetailSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Decide which side of an open conflict holds, for contexts from now on. You need to be able to change both.

        An agent's key gets 403: people decide, or programs with an admin key.

        The other side is superseded or archived if it is a memory; a text of a file, document or entity stays. Contexts
        leave it out if the side that holds is among their candidates, too, unless they have the file whole. Both sides
        may hold. Or rewrite the memory of a side with `text`, so that it no longer contradicts the other one; a text
        that still does by its values and words is refused. A worker compares it more closely within seconds:
        `edit_check` tells what it found. The decision can be undone.
        """
        self.query()
        asked = self.validated(ConflictDecisionSerializer)
        conflict = conflict_to_resolve(self.principal, id_)
        choice, reason = asked["choice"], asked["reason"]
        if side := EDITS.get(choice):
            conflict_edit(conflict=conflict, side=side, text=asked["text"], reason=reason, principal=self.principal)
        else:
            conflict_resolve(conflict=conflict, choice=choice, reason=reason, principal=self.principal)
        return Response(conflict_detail_document(conflict_for(self.principal, id_), self.principal))


class ConflictUndo(ApiView):
    @extend_schema(
        operation_id="conflicts_undo",
        summary="Undo decision on conflict",
        request=None,
        responses=ConflictDetailSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Undo the decision on a conflict: it is open again, and a memory that the decision changed is restored.

        What somebody has changed since stays: `undone` says what was restored, what was not, and why. An agent's key
        gets 403.
        """
        self.query()
        conflict_undo(conflict=conflict_to_resolve(self.principal, id_), principal=self.principal)
        return Response(conflict_detail_document(conflict_for(self.principal, id_), self.principal))


def _id(field: str, value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise Invalid(field, "Use the id of an item.") from None


def _known(field: str, value: str, known: list[str]) -> str:
    if value not in known:
        raise Invalid(field, f"Use one of: {', '.join(known)}.")
    return value
