"""REST endpoint that tests a rule on recorded contexts."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.comparison.serializers import DecisionSummarySerializer
from assembly.contexts.documents import decision_summary_document
from assembly.contexts.serializers import WarningSerializer
from assembly.engine.diff import CHANGE_EFFECTS, DecisionChange
from assembly.engine.reasons import warning_sentence
from assembly.engine.rules import Rule
from assembly.profiles.serializers import YAML
from assembly.rules.catalogue import parse_draft_rule
from assembly.rules.services import Owner, owner_scope, rule_for, rule_owner_for
from assembly.simulation.rule_backtest.services import ContextBacktest, RuleBacktest, rule_backtest
from config.http.idempotency import idempotent
from config.http.serializers import ExactText, StrictSerializer
from teams.api.serializers import SlugField
from teams.api.view import ApiView
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS


class RuleBacktestRequestSerializer(StrictSerializer):
    name = SlugField(required=False, help_text="A stored rule: it is tried for those whom it is for.")
    content = ExactText(
        allow_blank=True, required=False, max_length=MAX_FILE_CHARACTERS, help_text=f"{YAML} Needed without a name."
    )
    agent = SlugField(required=False, help_text="The agent that a new rule is for; with neither it is for everybody.")
    team = SlugField(required=False, help_text="The team that a new rule is for.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "name" not in attrs and "content" not in attrs:
            raise serializers.ValidationError({"content": "Send the text of a rule, or the name of a stored one."})
        if attrs.get("agent") and attrs.get("team"):
            raise serializers.ValidationError({"team": "A rule is for an agent or for a team. Leave one of them out."})
        if owner := next((owner for owner in ("agent", "team") if "name" in attrs and owner in attrs), None):
            raise serializers.ValidationError({owner: "A stored rule knows whom it is for. Leave this out."})
        return attrs


class RuleBacktestChangeSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    effect = serializers.ChoiceField(
        choices=list(CHANGE_EFFECTS),
        help_text=("in: added; out: removed; moved: to another section; changed: its score, rank or truncation."),
    )
    before = DecisionSummarySerializer(allow_null=True, help_text="null: it was not considered there.")
    after = DecisionSummarySerializer(allow_null=True, help_text="null: it would not be considered there.")


class RuleBacktestContextSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    topic = serializers.CharField()
    applied = serializers.BooleanField(help_text="A rule of this name had applied there.")
    applies = serializers.BooleanField(help_text="The rule would have applied there.")
    tokens_before = serializers.IntegerField()
    tokens_after = serializers.IntegerField()
    warnings = WarningSerializer(many=True, help_text="Those that the context would have.")
    changes = RuleBacktestChangeSerializer(many=True)


class RuleBacktestSerializer(serializers.Serializer[Any]):
    evaluated = serializers.IntegerField(help_text="How many of the last contexts were tried.")
    matched = serializers.IntegerField(help_text="In how many of them the rule would have applied.")
    changed = serializers.IntegerField(help_text="How many of them would have been different.")
    unreadable = serializers.IntegerField(help_text="How many were passed over: their record could not be replayed.")
    skipped = serializers.IntegerField(help_text="For how many there was no time: trying stops after two seconds.")
    contexts = RuleBacktestContextSerializer(many=True, help_text="Those that were tried, the newest first.")


class RuleBacktestRun(ApiView):
    @extend_schema(
        operation_id="rules_backtest",
        summary="Test rule on recorded contexts",
        request=RuleBacktestRequestSerializer,
        responses=RuleBacktestSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Return what a rule would have changed in the last 20 contexts that you may see. Nothing is stored.

        With `name`, the stored rule is tested, or the given text in its place. Without it, a new rule is tested.
        """
        self.query()
        facts = self.validated(RuleBacktestRequestSerializer)
        rule, owner = tried_rule(self.principal, facts)
        trials = rule_backtest(rule=rule, owner=owner, principal=self.principal)
        return Response(RuleBacktestSerializer(_backtest_document(trials)).data)


def tried_rule(principal: Principal, facts: dict[str, Any]) -> tuple[Rule, Owner]:
    """Return the rule of a valid RuleBacktestRequestSerializer, and its owner. Raises NotFound, Forbidden, Invalid."""
    if "name" not in facts:
        owner = rule_owner_for(principal, agent=facts.get("agent", ""), team=facts.get("team", ""))
        return parse_draft_rule(facts["content"], name="", version=1, scope=owner_scope(owner)), owner
    stored = rule_for(principal, facts["name"], Action.EDIT if "content" in facts else Action.READ)
    content, version = facts.get("content", stored.content), stored.version + ("content" in facts)
    rule = parse_draft_rule(content, name=stored.name, version=version, scope=owner_scope(stored.owner))
    return rule, stored.owner


def _backtest_document(trials: RuleBacktest) -> dict[str, Any]:
    return {
        "evaluated": len(trials.trials),
        "matched": trials.applying,
        "changed": trials.changed,
        "unreadable": trials.damaged,
        "skipped": trials.untried,
        "contexts": [_context_document(trial) for trial in trials.trials],
    }


def _context_document(trial: ContextBacktest) -> dict[str, Any]:
    assembly = trial.assembly
    return {
        "id": assembly.id,
        "created_at": assembly.created,
        "agent": assembly.agent_slug,
        "team": assembly.team_slug or None,
        "topic": assembly.topic,
        "applied": trial.applied,
        "applies": trial.applies,
        "tokens_before": assembly.tokens,
        "tokens_after": trial.tokens,
        "warnings": [{"code": code, "message": warning_sentence(code)} for code in trial.warnings],
        "changes": [_change_document(change) for change in trial.changes],
    }


def _change_document(change: DecisionChange) -> dict[str, Any]:
    before, after = decision_summary_document(change.before), decision_summary_document(change.after)
    return {"ref": change.ref, "effect": change.effect, "before": before, "after": after}
