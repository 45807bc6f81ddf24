"""REST endpoints of recall tests: list, create, change, delete and run them, and their results.

People who see a team or an agent may read and run its tests, people who edit it may write them.
"""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from assembly.access import assembly_for
from assembly.models import RecallTest
from assembly.recall_tests.kept_context import recall_test_from_context
from assembly.recall_tests.publication import try_rule
from assembly.recall_tests.serializers import (
    KeepContextSerializer,
    RecallResultSerializer,
    RecallRunSerializer,
    RecallTestCreateSerializer,
    RecallTestSerializer,
    RecallTestUpdateSerializer,
    UnsavedRunSerializer,
    recall_facts,
    recall_test_document,
    report_document,
    result_document,
    run_document,
)
from assembly.recall_tests.services import (
    recall_owners_for,
    recall_test_archive,
    recall_test_create,
    recall_test_delete,
    recall_test_for,
    recall_test_run,
    recall_test_save,
    recall_tests_visible_to,
    results_visible_to,
)
from assembly.simulation.rule_backtest.api import RuleBacktestRequestSerializer, tried_rule
from config.http.errors import Invalid
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from teams.access import team_for
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.principal import Action
from teams.versioned_text.api import VersionedView

FILTERS = [
    OpenApiParameter("agent", str, description="Only those that name this agent."),
    OpenApiParameter("team", str, description="Only those of this team."),
    OpenApiParameter("archived", str, enum=["true", "false"], description="Only archived tests, or only others."),
]


def _created(test: RecallTest) -> Response:
    headers = {"Location": f"/api/v1/recall-tests/{test.id}", "ETag": etag(test.version)}
    return Response(recall_test_document(test), status.HTTP_201_CREATED, headers=headers)


class RecallTestList(ApiView):
    @extend_schema(
        operation_id="recall_tests_list",
        summary="List recall tests",
        parameters=[*PAGE, *FILTERS],
        responses=page_serializer(RecallTestSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the recall tests that you may see, newest first."""
        query = self.query("cursor", "limit", "agent", "team", "archived")
        return self.page(self._tests(query), recall_test_document, query=query)

    @extend_schema(
        operation_id="recall_tests_create",
        summary="Create recall test",
        parameters=[ETAG, LOCATION],
        request=RecallTestCreateSerializer,
        responses={201: RecallTestSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a recall test of an agent or of a team."""
        self.query()
        values = self.validated(RecallTestCreateSerializer)
        agent, team = recall_owners_for(self.principal, agent=values.get("agent", ""), team=values.get("team", ""))
        facts = recall_facts(values)
        return _created(recall_test_create(agent=agent, team=team, facts=facts, principal=self.principal))

    def _tests(self, query: dict[str, str]) -> QuerySet[RecallTest]:
        tests: QuerySet[RecallTest] = recall_tests_visible_to(self.principal)
        if "agent" in query:
            tests = tests.filter(agent=agent_for(self.principal, query["agent"]))
        if "team" in query:
            tests = tests.filter(team=team_for(self.principal, query["team"]))
        if "archived" in query:
            if query["archived"] not in {"true", "false"}:
                raise Invalid("archived", "Use true or false.")
            tests = tests.filter(archived__isnull=query["archived"] == "false")
        return tests


class RecallTestDetail(VersionedView):
    document = RecallTestSerializer

    def document_of(self, thing: RecallTest) -> dict[str, Any]:
        return recall_test_document(thing)

    @extend_schema(
        operation_id="recall_tests_read",
        summary="Get recall test",
        parameters=[ETAG, IF_NONE_MATCH],
        responses=RecallTestSerializer,
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a recall test with its expectations."""
        self.query()
        return self.answer_if_newer(recall_test_for(self.principal, id_))

    @extend_schema(
        operation_id="recall_tests_save",
        summary="Save recall test",
        parameters=[ETAG, IF_MATCH],
        request=RecallTestUpdateSerializer,
        responses=RecallTestSerializer,
    )
    def put(self, request: Request, id_: UUID) -> Response:
        """Save the next version of a recall test, also to archive or restore it."""
        self.query()
        test = recall_test_for(self.principal, id_, Action.EDIT)
        expected = self.expected(test)
        values = self.validated(RecallTestUpdateSerializer)
        saved = recall_test_save(
            test=test, facts=recall_facts(values), expected_version=expected, principal=self.principal
        )
        if "archived" in values:
            saved = recall_test_archive(test=saved, archived=values["archived"], principal=self.principal)
        return self.answer(saved)

    @extend_schema(
        operation_id="recall_tests_delete",
        summary="Delete recall test",
        parameters=[IF_MATCH],
        responses={204: None},
    )
    def delete(self, request: Request, id_: UUID) -> Response:
        """Delete a recall test with its results."""
        self.query()
        test = recall_test_for(self.principal, id_, Action.EDIT)
        self.check_if_match(test)
        recall_test_delete(test=test, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RecallTestRun(ApiView):
    @extend_schema(
        operation_id="recall_tests_run", summary="Run recall test", request=None, responses=RecallRunSerializer
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Run a recall test for its agents and store the results. No context is recorded."""
        self.query()
        ran = recall_test_run(test=recall_test_for(self.principal, id_), principal=self.principal)
        return Response(run_document(ran.results, ran.report.not_run))


class RecallTestResults(ApiView):
    @extend_schema(
        operation_id="recall_tests_results",
        summary="List results of recall test",
        parameters=PAGE,
        responses=page_serializer(RecallResultSerializer),
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Return the stored results of a recall test, newest first: at most 50 of each agent."""
        query = self.query("cursor", "limit")
        test = recall_test_for(self.principal, id_)
        return self.page(results_visible_to(self.principal, test), result_document, query=query)


class AssemblyRecallTest(ApiView):
    @extend_schema(
        operation_id="assemblies_recall_test",
        summary="Keep context as recall test",
        parameters=[ETAG, LOCATION],
        request=KeepContextSerializer,
        responses={201: RecallTestSerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Create a recall test with the topic and the profile of a context, which requires some of its items."""
        self.query()
        assembly = assembly_for(self.principal, id_)
        refs = self.validated(KeepContextSerializer)["refs"]
        return _created(recall_test_from_context(assembly=assembly, refs=refs, principal=self.principal))


class RuleRecallTests(ApiView):
    @extend_schema(
        operation_id="rules_recall_tests",
        summary="Run recall tests on rule",
        request=RuleBacktestRequestSerializer,
        responses=UnsavedRunSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Return the results of the recall tests that you may see, with a rule in force. Nothing is stored.

        With `name`, it is the stored rule, or the given text in its place. Without it, it is a new rule.
        """
        self.query()
        rule, owner = tried_rule(self.principal, self.validated(RuleBacktestRequestSerializer))
        return Response(report_document(try_rule(self.principal, rule, owner)))
