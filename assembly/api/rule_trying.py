"""REST: what a rule would have changed in the last contexts."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.api.documents import fate_document
from assembly.api.rule_trial_serializers import RuleTrialsSerializer, RuleTrySerializer
from assembly.engine.reasons import warning_sentence
from assembly.rules.access import Owner, owner_for, rule_for, scope_of
from assembly.rules.catalogue import rule_drafted
from assembly.rules.comparing import Change
from assembly.rules.trying import Trial, Trials, rule_try
from config.http.idempotency import idempotent
from teams.access import Action
from teams.api.view import ApiView


class RuleTry(ApiView):
    @extend_schema(operation_id="rules_try", request=RuleTrySerializer, responses=RuleTrialsSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """What a rule would have changed in the last 20 contexts that one may see. Nothing is stored.

        With a name: the stored rule, with another text if one is given. Without: a new one for an agent, a team or all.
        """
        self.query()
        facts = self.validated(RuleTrySerializer)
        owner, name, version, content = self._asked(facts)
        rule = rule_drafted(content, name=name, version=version, scope=scope_of(owner))
        trials = rule_try(rule=rule, owner=owner, principal=self.principal)
        return Response(RuleTrialsSerializer(_trials_document(trials)).data)

    def _asked(self, facts: dict[str, Any]) -> tuple[Owner, str, int, str]:
        """Whom the rule is for, its name, its version and its text."""
        if "name" not in facts:
            owner = owner_for(self.principal, agent=facts.get("agent", ""), team=facts.get("team", ""))
            return owner, "", 1, facts["content"]
        stored = rule_for(self.principal, facts["name"], Action.EDIT if "content" in facts else Action.READ)
        return stored.owner, stored.name, stored.version + ("content" in facts), facts.get("content", stored.content)


def _trials_document(trials: Trials) -> dict[str, Any]:
    return {
        "tried": len(trials.trials),
        "applying": trials.applying,
        "changed": trials.changed,
        "damaged": trials.damaged,
        "untried": trials.untried,
        "contexts": [_trial_document(trial) for trial in trials.trials],
    }


def _trial_document(trial: Trial) -> dict[str, Any]:
    assembly = trial.assembly
    return {
        "id": assembly.id,
        "created": assembly.created,
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


def _change_document(change: Change) -> dict[str, Any]:
    before, after = fate_document(change.before), fate_document(change.after)
    return {"ref": change.ref, "effect": change.effect, "before": before, "after": after}
