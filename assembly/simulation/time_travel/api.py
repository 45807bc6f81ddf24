"""REST endpoints of an agent's context at an earlier moment. Nothing is recorded."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent
from assembly.access import assembly_for
from assembly.contexts.serializers import WarningSerializer
from assembly.engine.codes import DECISION_CODES
from assembly.engine.reasons import decision_sentence, warning_sentence
from assembly.engine.types import SECTION_STATUSES, Decision
from assembly.pipeline.request import (
    DEFAULT_TOKENIZER,
    MAX_TOKENS,
    MAX_TOPIC_CHARACTERS,
    AssemblyRequest,
)
from assembly.profiles.shipped import SHIPPED
from assembly.records.reader import load_record
from assembly.simulation.basis import load_owners, request_of_record
from assembly.simulation.time_travel.services import NearestContexts, PastContext, assemble_as_of, find_nearest_contexts
from config.http.serializers import ExactText, Moment, StrictSerializer
from teams.access import team_for
from teams.api.view import ApiView
from teams.models import Team


class MomentSerializer(StrictSerializer):
    at = Moment(
        help_text="The moment, as 2026-03-01T12:00:00Z; without an offset it is UTC. In an address, + is written %2B."
    )


class AsOfRequestSerializer(MomentSerializer):
    team = ExactText(max_length=60, required=False, default="", help_text="The slug of one of the agent's teams.")
    topic = ExactText(max_length=MAX_TOPIC_CHARACTERS, required=False, allow_blank=True, default="")
    profile = ExactText(
        max_length=60,
        required=False,
        allow_blank=True,
        default="",
        help_text=f"{', '.join(SHIPPED)}, or one that was written by then. Default: the agent's own, or conversation.",
    )
    max_tokens = serializers.IntegerField(
        min_value=0, max_value=MAX_TOKENS, required=False, default=None, help_text="The profile's own unless given."
    )
    tokenizer = ExactText(max_length=60, required=False, default=DEFAULT_TOKENIZER)


class AsOfItemSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField(help_text="With its version at that time, if it has versions.")
    section = serializers.CharField()
    code = serializers.ChoiceField(choices=DECISION_CODES)
    included = serializers.BooleanField()
    reason = serializers.CharField(help_text="The code as a plain sentence.")
    rank = serializers.IntegerField(allow_null=True)
    tokens = serializers.IntegerField()
    tokens_full = serializers.IntegerField()


class AsOfSectionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the heading; DRF has an attribute of this name
    tokens = serializers.IntegerField()
    cap = serializers.IntegerField(allow_null=True, help_text="null: no cap of its own.")
    status = serializers.ChoiceField(choices=SECTION_STATUSES)


class NearbyContextSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField(source="created")
    topic = serializers.CharField()


class NearestContextsSerializer(serializers.Serializer[Any]):
    before = NearbyContextSerializer(allow_null=True, help_text="The last recorded up to the moment.")
    after = NearbyContextSerializer(allow_null=True, help_text="The first recorded after it.")


class AsOfSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    topic = serializers.CharField()
    profile = serializers.CharField()
    profile_version = serializers.IntegerField(help_text="The version of then.")
    tokenizer = serializers.CharField()
    budget = serializers.IntegerField()
    tokens = serializers.IntegerField()
    truncated = serializers.BooleanField()
    warnings = WarningSerializer(many=True)
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")
    content = serializers.CharField(help_text="The content of the context at that time.")
    sections = AsOfSectionSerializer(many=True)
    items = AsOfItemSerializer(many=True, help_text="All that was considered, in the order of deciding.")
    limits = WarningSerializer(many=True, help_text="Parts that are not as of then, because they have no history.")
    nearest = NearestContextsSerializer(help_text="Recorded contexts near that time.")


NAMES = ("at", "team", "topic", "profile", "max_tokens", "tokenizer")


class AgentAsOf(ApiView):
    @extend_schema(
        operation_id="agents_as_of",
        summary="Get agent's context as of moment",
        parameters=[AsOfRequestSerializer],
        responses=AsOfSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the context that the agent would have got at that moment, from the versions that were current then.

        Parts that cannot be restored to that moment are named under `limits`. Nothing is recorded.
        """
        wishes = self.validated(AsOfRequestSerializer, self.query(*NAMES))
        agent = agent_for(self.principal, slug)
        moment, named = wishes.pop("at"), wishes.pop("team")
        team = team_for(self.principal, named) if named else None
        found = assemble_as_of(
            agent=agent, team=team, asked=AssemblyRequest(**wishes), moment=moment, principal=self.principal
        )
        near = find_nearest_contexts(agent=agent, team=team, moment=moment, principal=self.principal)
        return Response(AsOfSerializer(_document(agent, team, found, near)).data)


class AssemblyAsOf(ApiView):
    @extend_schema(
        operation_id="assemblies_as_of",
        summary="Run request of assembly as of moment",
        parameters=[MomentSerializer],
        responses=AsOfSerializer,
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the result that the request of this assembly would have had at another moment.

        Its agent and its team must still exist. Events appended later are ignored. Nothing is recorded.
        """
        moment = self.validated(MomentSerializer, self.query("at"))["at"]
        assembly = assembly_for(self.principal, id_)
        owners, record = load_owners(assembly), load_record(assembly)
        agent, team = owners.agent, owners.team
        asked = replace(request_of_record(record), max_tokens=assembly.budget)
        found = assemble_as_of(agent=agent, team=team, asked=asked, moment=moment, principal=self.principal)
        near = find_nearest_contexts(agent=agent, team=team, moment=moment, principal=self.principal)
        return Response(AsOfSerializer(_document(agent, team, found, near)).data)


def _document(agent: Agent, team: Team | None, found: PastContext, near: NearestContexts) -> dict[str, Any]:
    made, request, profile = found.context, found.context.inputs.request, found.context.inputs.profile
    labels = {section.key: section.label for section in made.sections}
    return {
        "at": found.moment,
        "agent": agent.slug,
        "team": team.slug if team else None,
        "topic": request.topic,
        "profile": profile.name,
        "profile_version": profile.version,
        "tokenizer": request.tokenizer,
        **{name: getattr(made, name) for name in ("budget", "tokens", "truncated", "sha256", "content", "sections")},
        "warnings": [{"code": code, "message": warning_sentence(code)} for code in made.own_warnings],
        "items": [_item_document(decision, labels[decision.section]) for decision in made.decisions],
        "limits": [{"code": limit.code, "message": limit.sentence} for limit in found.limits],
        "nearest": {"before": near.before, "after": near.after},
    }


def _item_document(decision: Decision, label: str) -> dict[str, Any]:
    names = ("ref", "section", "code", "included", "rank", "tokens", "tokens_full")
    return {**{name: getattr(decision, name) for name in names}, "reason": decision_sentence(decision, label)}
