"""The rules of a context with some of them gone, and with one that is not there yet."""

from dataclasses import replace

from assembly.again.wishes import DRAFT_NAME, Wishes
from assembly.engine.rules import Facts, Rule, in_order
from assembly.engine.signals import detect_intent
from assembly.models import Assembly
from assembly.recorded import Inputs
from assembly.rules.catalogue import rule_drafted
from assembly.rules.today import Today
from assembly.rules.trying import facts_of, with_rules
from config.http.errors import Invalid


def with_rules_wished(inputs: Inputs, assembly: Assembly, wishes: Wishes, *, anew: bool) -> Inputs:
    """The inputs as they would be under the wished rules.

    What the new rule always includes is taken as it is today, unless the inputs have it already. Raises Invalid for a
    rule that did not fire, so that it cannot be taken away, and for a text that is none, naming the line.
    """
    if not wishes.without_rules and wishes.with_rule is None:
        return inputs
    fired = inputs.request.rules
    _refuse_unknown(fired, wishes.without_rules)
    kept = [rule for rule in fired if rule.name not in wishes.without_rules]
    today = Today.of([assembly])
    new = _drafted(wishes, _facts(inputs, assembly, today, anew=anew))
    rules = in_order([*(rule for rule in kept if rule.name != DRAFT_NAME), *new])
    return with_rules(inputs, rules, lambda selector: today.found(assembly, selector))


def _drafted(wishes: Wishes, facts: Facts) -> list[Rule]:
    """The new rule, where one is wished and its condition holds. It is as narrow as a rule can be: the agent's own."""
    if wishes.with_rule is None:
        return []
    try:
        rule = rule_drafted(wishes.with_rule, name=DRAFT_NAME, version=1, scope="agent")
    except Invalid as fault:
        raise Invalid("with_rule", fault.detail) from None
    return [rule] if rule.when.holds(facts) else []


def _facts(inputs: Inputs, assembly: Assembly, today: Today, *, anew: bool) -> Facts:
    """What its condition asks about: of the recorded moment, or of today's."""
    zone = today.zone(assembly)
    then = facts_of(assembly, zone)
    if not anew:
        return then
    topic = inputs.request.topic
    intent = then.intent if topic == assembly.topic else detect_intent(topic)
    at = inputs.request.now.astimezone(zone)
    return replace(then, at=at, task=topic or then.task, intent=intent, profile=inputs.profile.name)


def _refuse_unknown(fired: tuple[Rule, ...], names: tuple[str, ...]) -> None:
    known = [rule.name for rule in fired]
    for name in names:
        if name not in known:
            told = f"Those that did are: {', '.join(known)}." if known else "No rule did."
            raise Invalid("without_rules", f"The rule “{name}” did not apply here. {told}", "unknown")
