"""REST endpoints of rules, their versions, and their validation.

People who see an agent or a team may read its rules, people who edit it may write them. Rules for all agents can be
read by everyone and written by organisation admins.
"""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from assembly.models import StoredRule
from assembly.profiles.serializers import ProfileCheckSerializer, ProfileContentSerializer, check_document
from assembly.rules.catalogue import entry_of_row, rule_fault
from assembly.rules.serializers import RuleCreateSerializer, RuleSaveSerializer, RuleSerializer
from assembly.rules.services import rule_create, rule_delete, rule_for, rule_owner_for, rule_save
from config.http.errors import NotFound
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from teams.access import team_for
from teams.api.serializers import VersionContentSerializer, VersionSerializer, actor_document, page_serializer
from teams.api.view import ApiView
from teams.principal import Action
from teams.versioned_text.api import VersionedView, VersionList

OWNER_PARAMETERS = [
    OpenApiParameter("agent", str, description="Those of this agent alone."),
    OpenApiParameter("team", str, description="Those of this team alone."),
]


def rule_document(row: StoredRule) -> dict[str, Any]:
    """Return a rule as JSON."""
    entry = entry_of_row(row)
    facts = {
        "name": row.name,
        "version": row.version,
        "scope": row.scope,
        "agent": row.agent.slug if row.agent else None,
        "team": row.team.slug if row.team else None,
        "enabled": row.enabled,
        "description": entry.description,
        "error": entry.fault.detail if entry.fault else None,
        "content": row.content,
        "created_at": row.created,
        "updated_at": row.updated_at,
        "updated_by": actor_document(row.editor_ref, row.editor_name),
    }
    return dict(RuleSerializer(facts).data)


class RuleList(ApiView):
    @extend_schema(
        operation_id="rules_list",
        summary="List rules",
        parameters=[*PAGE, *OWNER_PARAMETERS],
        responses=page_serializer(RuleSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the rules that you may see, newest first."""
        query = self.query("cursor", "limit", "agent", "team")
        return self.page(self._rules(query), rule_document, query=query)

    @extend_schema(parameters=[ETAG, LOCATION], request=RuleCreateSerializer, responses={201: RuleSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a rule for an agent, a team, or all agents."""
        self.query()
        facts = self.validated(RuleCreateSerializer)
        owner = rule_owner_for(self.principal, agent=facts.pop("agent", ""), team=facts.pop("team", ""))
        row = rule_create(**facts, owner=owner, principal=self.principal)
        headers = {"Location": f"/api/v1/rules/{row.name}", "ETag": etag(row.version)}
        return Response(rule_document(row), status.HTTP_201_CREATED, headers=headers)

    def _rules(self, query: dict[str, str]) -> QuerySet[StoredRule]:
        rules = StoredRule.objects.visible_to(self.principal).select_related("agent", "team")
        if "agent" in query:
            rules = rules.filter(agent=agent_for(self.principal, query["agent"]))
        if "team" in query:
            rules = rules.filter(team=team_for(self.principal, query["team"]))
        return rules


class RuleDetail(VersionedView):
    document = RuleSerializer

    def document_of(self, thing: StoredRule) -> dict[str, Any]:
        return rule_document(thing)

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=RuleSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Return a rule with its text."""
        self.query()
        return self.answer_if_newer(rule_for(self.principal, name))

    @extend_schema(parameters=[ETAG, IF_MATCH], request=RuleSaveSerializer, responses=RuleSerializer)
    def put(self, request: Request, name: str) -> Response:
        """Save a new version, also to enable or disable the rule; an unchanged rule creates none."""
        self.query()
        rule = rule_for(self.principal, name, Action.EDIT)
        expected = self.expected(rule)
        facts = {"enabled": rule.enabled, **self.validated(RuleSaveSerializer)}
        return self.answer(rule_save(rule=rule, **facts, expected_version=expected, principal=self.principal))

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Delete a rule with its versions."""
        self.query()
        rule = rule_for(self.principal, name, Action.EDIT)
        self.check_if_match(rule)
        rule_delete(rule=rule, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RuleVersionList(VersionList):
    document = VersionSerializer

    @extend_schema(parameters=PAGE, responses=page_serializer(VersionSerializer))
    def get(self, request: Request, name: str) -> Response:
        """Return the versions of the rule, newest first, without their texts."""
        return self.page_of_versions(rule_for(self.principal, name))


class RuleVersionDetail(ApiView):
    @extend_schema(responses=VersionContentSerializer)
    def get(self, request: Request, name: str, version: int) -> Response:
        """Return a version with its text."""
        self.query()
        rule = rule_for(self.principal, name)
        found = rule.versions.filter(version=version).first() if version < 2**31 else None
        if found is None:
            raise NotFound(f"Version {version}")
        return Response(VersionContentSerializer(found).data)


class RuleCheck(ApiView):
    @extend_schema(
        operation_id="rules_check",
        summary="Validate rule",
        request=ProfileContentSerializer,
        responses=ProfileCheckSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Validate the text of a rule. Nothing is stored; the response is 200 either way."""
        self.query()
        return Response(check_document(rule_fault(self.validated(ProfileContentSerializer)["content"])))
