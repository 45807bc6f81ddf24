"""Serializers of recall tests, their expectations and their results."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from assembly.models import RecallResult, RecallTest, RecallTrigger
from assembly.models.recall_test import MAX_TEST_NAME_CHARACTERS
from assembly.pipeline.request import MAX_TOKENS, MAX_TOPIC_CHARACTERS
from assembly.recall_tests.expectations import (
    EXPECTATION_KINDS,
    MAX_EXPECTATIONS,
    MAX_TEXT_CHARACTERS,
    Expectation,
)
from assembly.recall_tests.run import RunOutcome, RunReport
from assembly.recall_tests.services import MAX_REF_CHARACTERS, RecallFacts
from config.http.serializers import ExactText, Flag, Line, StrictSerializer
from teams.api.serializers import ActorField, SlugField


class ExpectationInputSerializer(StrictSerializer):
    kind = serializers.ChoiceField(
        choices=EXPECTATION_KINDS, help_text="`include`: it must be in; `exclude`: it must not be in."
    )
    ref = ExactText(
        max_length=MAX_REF_CHARACTERS,
        required=False,
        help_text="An item by its ref without a version, as memory:<id>; a passage of a document as chunk:<id>#7.",
    )
    text = ExactText(
        max_length=MAX_TEXT_CHARACTERS,
        required=False,
        help_text="A text in place of an item; upper and lower case and white space are alike.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs.get("ref", "").strip()) == bool(attrs.get("text", "").strip()):
            raise serializers.ValidationError({"ref": "Name either an item by its ref, or a text."})
        return attrs


class RecallTestSaveSerializer(StrictSerializer):
    name = Line(max_length=MAX_TEST_NAME_CHARACTERS)
    topic = ExactText(
        max_length=MAX_TOPIC_CHARACTERS, allow_blank=True, default="", help_text="As of `POST /assemblies`."
    )
    profile = ExactText(max_length=60, allow_blank=True, default="", help_text="Empty: the agent's own.")
    max_tokens = serializers.IntegerField(
        min_value=0, max_value=MAX_TOKENS, allow_null=True, default=None, help_text="null: the profile's budget."
    )
    expectations = serializers.ListField(child=ExpectationInputSerializer(), min_length=1, max_length=MAX_EXPECTATIONS)


class RecallTestUpdateSerializer(RecallTestSaveSerializer):
    archived = Flag(required=False, help_text="Whether the test is not run any more. Default: unchanged.")


class RecallTestCreateSerializer(RecallTestSaveSerializer):
    agent = SlugField(
        required=False, help_text="Without a team: the agent that it belongs to. With one: the agent it is run for."
    )
    team = SlugField(required=False, help_text="The team that it belongs to; without `agent`, run for each agent.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("agent") and not attrs.get("team"):
            raise serializers.ValidationError({"agent": "A recall test is for an agent or for a team. Name one."})
        return attrs


class KeepContextSerializer(StrictSerializer):
    refs = serializers.ListField(
        child=ExactText(max_length=MAX_REF_CHARACTERS),
        max_length=MAX_EXPECTATIONS,
        required=False,
        default=list,
        help_text="Refs of included items that must be in; without any, those that ranked best.",
    )


class ExpectationSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=EXPECTATION_KINDS)
    ref = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    label = serializers.CharField(allow_blank=True, help_text="Title of the item when the test was saved.")  # type: ignore[assignment]


class OutcomeSerializer(ExpectationSerializer):
    passed = serializers.BooleanField()
    code = serializers.CharField(help_text="A reason code of a decision, or why it was not considered.")
    reason = serializers.CharField(help_text="The reason in a sentence.")


class RecallResultSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField(source="created")
    test_version = serializers.IntegerField()
    agent = serializers.CharField(source="agent_slug")
    trigger = serializers.ChoiceField(choices=RecallTrigger.values)
    passed = serializers.BooleanField()
    error = serializers.CharField(source="fault", help_text="Why the test could not be run; empty if it was run.")
    profile = serializers.CharField(source="profile_name")
    profile_version = serializers.IntegerField()
    tokens = serializers.IntegerField()
    expectations = OutcomeSerializer(source="outcomes", many=True)


class RecallTestSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    version = serializers.IntegerField()
    name = serializers.CharField()
    agent = serializers.CharField(allow_null=True, help_text="null: it is run for each agent of the team.")
    team = serializers.CharField(allow_null=True, help_text="null: it belongs to the agent.")
    topic = serializers.CharField(allow_blank=True)
    profile = serializers.CharField(allow_blank=True)
    max_tokens = serializers.IntegerField(source="budget", allow_null=True)
    expectations = ExpectationSerializer(many=True)
    archived = serializers.BooleanField()
    created_at = serializers.DateTimeField(source="created")
    updated_at = serializers.DateTimeField()
    updated_by = ActorField("editor")


class RecallRunSerializer(serializers.Serializer[Any]):
    passed = serializers.BooleanField(help_text="Whether the test passed for each agent for which it was run.")
    results = RecallResultSerializer(many=True)
    not_run = serializers.IntegerField(help_text="Agents for which it was not run in time.")


class UnsavedOutcomeSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="run.test.id", help_text="The recall test.")
    name = serializers.CharField(source="run.test.name")
    agent = serializers.CharField(source="run.agent.slug")
    passed = serializers.BooleanField()
    held_before = serializers.BooleanField(
        allow_null=True, help_text="Whether a failed test passes without the change; null: it was not tried."
    )
    broken = serializers.BooleanField(
        source="is_broken", help_text="Whether an expectation that holds without the change is not met with it."
    )
    error = serializers.CharField(source="fault", help_text="Why the test could not be run; empty if it was run.")
    tokens = serializers.IntegerField()
    expectations = serializers.SerializerMethodField()

    @extend_schema_field(OutcomeSerializer(many=True))
    def get_expectations(self, outcome: RunOutcome) -> list[dict[str, Any]]:
        return [result.to_dict() for result in outcome.results]


class UnsavedRunSerializer(serializers.Serializer[Any]):
    passed = serializers.BooleanField(help_text="Whether all tests passed, and all were run.")
    results = UnsavedOutcomeSerializer(many=True)
    not_run = serializers.IntegerField(help_text="Tests that were not run in time.")


def report_document(report: RunReport) -> dict[str, Any]:
    """Return the results of tests on an unsaved change as JSON."""
    passed = not report.failed and not report.not_run
    results = UnsavedOutcomeSerializer(report.outcomes, many=True).data
    return {"passed": passed, "results": results, "not_run": report.not_run}


def recall_facts(values: dict[str, Any]) -> RecallFacts:
    """Return the facts in validated values of RecallTestSaveSerializer."""
    return RecallFacts(
        name=values["name"],
        topic=values["topic"],
        profile=values["profile"],
        budget=values["max_tokens"],
        expectations=[Expectation(**one) for one in values["expectations"]],
    )


def recall_test_document(test: RecallTest) -> dict[str, Any]:
    """Return a test as JSON."""
    return {
        **RecallTestSerializer(test).data,
        "agent": test.agent.slug if test.agent else None,
        "team": test.team.slug if test.team else None,
        "archived": test.archived is not None,
    }


def result_document(result: RecallResult) -> dict[str, Any]:
    """Return a stored result as JSON."""
    return dict(RecallResultSerializer(result).data)


def run_document(results: Sequence[RecallResult], not_run: int) -> dict[str, Any]:
    """Return the stored results of one run as JSON."""
    passed = bool(results) and not not_run and all(result.passed for result in results)
    return {"passed": passed, "results": [result_document(one) for one in results], "not_run": not_run}
