"""Overrides of a what-if are applied here: other rules, older versions of files, another profile."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.models import AgentFileVersion
from assembly.comparison.side_by_side import sections_of
from assembly.comparison.thing_history import kind_and_id
from assembly.engine.profile import Profile, Section
from assembly.engine.query_signals import detect_intent
from assembly.engine.rules import Rule, RuleFacts, sorted_rules
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.profiles.catalogue import find_profile
from assembly.profiles.request_overrides import apply_strategy
from assembly.records.reader import EngineInput, StoredAssembly
from assembly.rules.catalogue import parse_draft_rule
from assembly.rules.evaluation import add_inclusion_section
from assembly.simulation.rule_backtest.services import CurrentOwners, inputs_with_rules, recorded_facts
from assembly.simulation.what_if.wishes import DRAFT_NAME, Overrides
from config.http.errors import Invalid
from teams.models import TeamFileVersion


def override_rules(inputs: EngineInput, assembly: Assembly, wishes: Overrides, *, anew: bool) -> EngineInput:
    """The inputs as they would be under the wished rules.

    What the new rule always includes is taken as it is today, unless the inputs have it already. Raises Invalid for a
    rule that did not fire, so that it cannot be taken away, and for a text that is none, naming the line.
    """
    if not wishes.without_rules and wishes.with_rule is None:
        return inputs
    fired = inputs.request.rules
    _require_known_rules(fired, wishes.without_rules)
    kept = [rule for rule in fired if rule.name not in wishes.without_rules]
    today = CurrentOwners.of([assembly])
    new = _draft_rule(wishes, _facts(inputs, assembly, today, anew=anew))
    rules = sorted_rules([*(rule for rule in kept if rule.name != DRAFT_NAME), *new])
    return inputs_with_rules(inputs, rules, lambda selector: today.found(assembly, selector))


def _draft_rule(wishes: Overrides, facts: RuleFacts) -> list[Rule]:
    """The new rule, where one is wished and its condition holds. It is as narrow as a rule can be: the agent's own."""
    if wishes.with_rule is None:
        return []
    try:
        rule = parse_draft_rule(wishes.with_rule, name=DRAFT_NAME, version=1, scope="agent")
    except Invalid as fault:
        raise Invalid("with_rule", fault.detail) from None
    return [rule] if rule.when.holds(facts) else []


def _facts(inputs: EngineInput, assembly: Assembly, today: CurrentOwners, *, anew: bool) -> RuleFacts:
    """What its condition asks about: of the recorded moment, or of today's."""
    zone = today.zone(assembly)
    then = recorded_facts(assembly, zone)
    if not anew:
        return then
    topic = inputs.request.topic
    intent = then.intent if topic == assembly.topic else detect_intent(topic)
    at = inputs.request.now.astimezone(zone)
    return replace(then, at=at, task=topic or then.task, intent=intent, profile=inputs.profile.name)


def _require_known_rules(fired: tuple[Rule, ...], names: tuple[str, ...]) -> None:
    known = [rule.name for rule in fired]
    for name in names:
        if name not in known:
            told = f"Those that did are: {', '.join(known)}." if known else "No rule did."
            raise Invalid("without_rules", f"The rule “{name}” did not apply here. {told}", "unknown")


VERSIONS: Mapping[str, Any] = {"agent_file": AgentFileVersion, "team_file": TeamFileVersion}


def override_versions(candidates: Sequence[Candidate], wanted: Mapping[str, int]) -> tuple[Candidate, ...]:
    """The candidates with the wanted versions, by the keys of files, in the place of those that are there.

    One query per file. Raises Invalid for a file that is not among them, and for a version that there never was.
    """
    texts = {key: _version_text(candidates, key, number) for key, number in wanted.items()}
    return tuple(
        _with_version(one, *texts[one.kind]) if is_file(one) and one.kind in texts else one for one in candidates
    )


def _version_text(candidates: Sequence[Candidate], key: str, number: int) -> tuple[str, str]:
    """The ref and the text of that version."""
    found = next((one for one in candidates if is_file(one) and one.kind == key), None)
    if found is None:
        raise Invalid(f"files.{key}", f"This context is not made of {key}. Choose one of its files.", "unknown")
    kind, id_ = kind_and_id(found.ref)
    text = VERSIONS[kind].objects.filter(file_id=id_, version=number).values_list("content", flat=True).first()
    if text is None:
        raise Invalid(f"files.{key}", f"{key} has no version {number}. Look it up in its history.", "unknown")
    return f"{kind}:{id_}@{number}", text


def _with_version(candidate: Candidate, ref: str, text: str) -> Candidate:
    return candidate if candidate.ref == ref else replace(candidate, ref=ref, text=text, summary=None)


def is_file(candidate: Candidate) -> bool:
    """Whether it is a file of the agent or the team."""
    return kind_and_id(candidate.ref)[0] in VERSIONS


def load_overridden_profile(told: StoredAssembly, name: str) -> Profile:
    """The profile as it is today, with room for what the recorded rules always include; the request's own strategy is
    part of it where it is the profile that was asked for. Raises Invalid for one that cannot be used."""
    profile = find_profile(name)
    if name == told.assembly.profile_name:
        profile = apply_strategy(profile, told.assembly.request.get("strategy") or {})
    return add_inclusion_section(profile, told.inputs.request.rules)


def record_covers_profile(told: StoredAssembly, wanted: Profile) -> bool:
    """Whether all that the wanted profile chooses from is among the candidates on record: the same sections from the
    same sources, none of which has to be asked for more, and nothing that the reading itself depends on."""
    recorded = told.inputs.profile
    old, new = sections_of(recorded), sections_of(wanted)
    same_reading = recorded.depth_limit == wanted.depth_limit and recorded.ranker == wanted.ranker
    grown = told.assembly.parent is not None  # what it holds is no longer all that was considered
    return same_reading and not grown and all(key in old and _is_within(old[key], new[key]) for key in new)


def override_caps(profile: Profile, caps: Mapping[str, int | None]) -> Profile:
    """The profile with these caps. Raises Invalid for sections that it lacks, or that are always in whole."""
    if not caps:
        return profile
    try:
        return apply_strategy(profile, {"caps": caps})
    except Invalid as refused:
        raise Invalid("caps", refused.detail) from None


def overridden_budget(told: StoredAssembly, profile: Profile) -> int:
    """The profile's own, where the recorded budget was that of the recorded profile; else as it was."""
    budget = told.assembly.budget
    return profile.budget if budget == told.inputs.profile.budget else budget


def override_request(asked: AssemblyRequest, wishes: Overrides, profile_name: str) -> AssemblyRequest:
    """The request with the wishes that bear on what is read. What another profile has no section for is left out, and
    so is the strategy of the request, which names the sections of its own."""
    if wishes.topic is not None:
        asked = replace(asked, topic=wishes.topic)
    if wishes.profile is None or wishes.profile == profile_name:
        return asked
    sources = {section.source for section in find_profile(wishes.profile).sections}
    return replace(
        asked,
        profile=wishes.profile,
        strategy={},
        history=asked.history if "turns" in sources else (),
        additional_context=asked.additional_context if "additional_context" in sources else "",
    )


def _is_within(old: Section, new: Section) -> bool:
    same_source = (old.source, old.shape, old.ranker) == (new.source, new.shape, new.ranker)
    return same_source and (old.top_k is None or (new.top_k is not None and new.top_k <= old.top_k))
