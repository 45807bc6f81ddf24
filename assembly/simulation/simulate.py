"""`simulate` assembles a context that is never recorded: from a basis, with `Overrides`.

Rerun, draft preview, what-if, time travel and rule backtest are all simulations. No language model is called.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from msgspec import structs

from assembly.comparison.side_by_side import ComparedContext, compared_from_result
from assembly.engine.profile import Profile
from assembly.engine.refs import Ref
from assembly.engine.rules import Rule
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, Origin
from assembly.pipeline.levels import with_levels
from assembly.pipeline.prepare import find_tokenizer
from assembly.pipeline.request_sections import add_request_sections
from assembly.pipeline.summaries.resolve import SummarisedResult, assemble_with_summaries
from assembly.profiles.learned_weights import profile_in_force
from assembly.profiles.request_overrides import apply_strategy
from assembly.profiles.tuning_versions import apply_tuning
from assembly.records.reader import EngineInput, StoredAssembly
from assembly.rules.catalogue import parse_draft_rule
from assembly.rules.evaluation import add_inclusion_section
from assembly.simulation.basis import SimulationBasis, request_of_record
from assembly.simulation.draft_texts import named_as_drafts, with_texts
from assembly.simulation.rule_overrides import CurrentOwners, facts_today, override_rules, recorded_facts
from assembly.simulation.shown_items import note_candidates
from assembly.sources.base import origin_of
from assembly.sources.kinds import FILES, KINDS
from config.http.errors import Invalid

DRAFT_RULE = "tried"
"""The name of a rule that does not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """The settings, rules and texts that a simulated context has instead of its own.

    None and an empty collection override nothing. `caps` are limits in tokens by section key (None: no limit);
    `without_rules` are names; `with_rule` is the text of a rule, `rule` a parsed one; `files` are version numbers by
    file key; `texts` are drafts by the ref of their file or log (`VersionedFile.about`).
    """

    max_tokens: int | None = None
    tokenizer: str | None = None
    profile: str | None = None
    topic: str | None = None
    caps: Mapping[str, int | None] = field(default_factory=dict)
    without_rules: tuple[str, ...] = ()
    with_rule: str | None = None
    rule: Rule | None = None
    files: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the overrides as JSON values, without unset ones; from_dict restores equal overrides.

        Parsed rules are not included.
        """
        data = {**asdict(self), "without_rules": list(self.without_rules)}
        return {name: value for name, value in data.items() if value not in (None, [], {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Overrides":
        """Return the overrides that to_dict returned as JSON."""
        known = {one.name for one in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        return cls(**{**given, "without_rules": tuple(data.get("without_rules", ()))})


NO_OVERRIDES = Overrides()


def simulate(
    basis: SimulationBasis, overrides: Overrides = NO_OVERRIDES, *, extract_summaries: bool = True
) -> ComparedContext:
    """Return the context of the basis with the overrides, except the topic: the basis has its own.

    An extract replaces a summary that a model would write; without `extract_summaries`, the beginning of the text does.
    Raises Invalid for overrides that name unknown sections, rules or versions; TookTooLong and TooCostly.
    """
    inputs = override_inputs(basis, overrides)
    if extract_summaries:
        tokenizer = get_tokenizer(inputs.request.tokenizer)
        settled = assemble_with_summaries(
            inputs.request, inputs.profile, inputs.candidates, tokenizer, basis.time, ask_model=False
        )
    else:
        inputs = replace(inputs, candidates=tuple(with_levels(inputs.profile, inputs.candidates)))
        settled = SummarisedResult(inputs.assembled(), inputs.candidates)
    if basis.gathered:  # nothing is recorded, so what is told counts as read by itself
        note_candidates(settled.candidates)
    context = compared_from_result(inputs, settled, basis.reports)
    if overrides.texts and basis.gathered:
        return named_as_drafts(context, basis.inputs.candidates, overrides.texts, basis.gathered.gather_context)
    return context


def override_inputs(basis: SimulationBasis, overrides: Overrides) -> EngineInput:
    """Return the inputs of the engine with the overrides.

    Raises Invalid for overrides that name unknown sections, rules or versions.
    """
    inputs = basis.inputs
    if overrides.profile is not None and basis.record and not basis.gathered:
        inputs = _recorded_inputs_by(overrides.profile, basis.record)
    request, candidates = inputs.request, inputs.candidates
    if overrides.max_tokens is not None:
        request = replace(request, budget=overrides.max_tokens)
    if overrides.tokenizer is not None:
        request = replace(request, tokenizer=find_tokenizer(overrides.tokenizer).name)
    if overrides.files:
        candidates = _with_versions(candidates, overrides.files)
    if overrides.texts and basis.gathered:
        candidates = with_texts(candidates, overrides.texts, basis.gathered, inputs.profile)
    inputs = EngineInput(request, _with_caps(inputs.profile, overrides.caps), candidates)
    if overrides.without_rules or overrides.with_rule is not None or overrides.rule:
        inputs = _with_rules(inputs, overrides, basis)
    return inputs


def load_overridden_profile(record: StoredAssembly, name: str) -> Profile:
    """Return the current profile with sections for rule inclusions and for texts of the request, if the record needs
    them.

    The request's strategy is applied if it is the requested profile. Raises Invalid for a profile that cannot be used.
    """
    profile = profile_in_force(name)
    if name == record.assembly.profile_name:
        profile = apply_strategy(profile, record.assembly.request.get("strategy") or {})
    profile = add_request_sections(apply_tuning(profile), request_of_record(record))
    return add_inclusion_section(profile, record.inputs.request.rules)


def _recorded_inputs_by(name: str, record: StoredAssembly) -> EngineInput:
    """Return the recorded inputs with another profile, without items for which it has no section.

    The budget is that of the new profile, if the recorded budget was that of the recorded profile.
    """
    profile, budget = load_overridden_profile(record, name), record.assembly.budget
    keys = {section.key for section in profile.sections}
    offered = tuple(candidate for candidate in record.inputs.candidates if candidate.section in keys)
    budget = profile.budget if budget == record.inputs.profile.budget else budget
    return EngineInput(replace(record.inputs.request, budget=budget), profile, offered)


def _with_caps(profile: Profile, caps: Mapping[str, int | None]) -> Profile:
    """Return the profile with these limits. Raises Invalid for sections that it lacks, or that are never truncated."""
    if not caps:
        return profile
    try:
        return apply_strategy(profile, {"caps": caps})
    except Invalid as refused:
        raise Invalid("caps", refused.detail) from None


def _with_rules(inputs: EngineInput, overrides: Overrides, basis: SimulationBasis) -> EngineInput:
    """Return the inputs with other rules.

    Raises Invalid for a rule to leave out that was not applied, and for an invalid text, naming the line.
    """
    if basis.record is None:
        raise ValueError("Rules are overridden for recorded requests alone.")
    assembly = basis.record.assembly
    _require_known_rules(inputs.request.rules, overrides.without_rules)
    today = basis.today or CurrentOwners.of([assembly])
    zone = today.zone(assembly)
    return override_rules(
        inputs,
        without=overrides.without_rules,
        rule=overrides.rule or _draft_rule(overrides.with_rule),
        facts=facts_today(inputs, assembly, zone) if basis.gathered else recorded_facts(assembly, zone),
        find=lambda selector: today.found(assembly, selector),
    )


def _require_known_rules(fired: tuple[Rule, ...], names: tuple[str, ...]) -> None:
    known = [rule.name for rule in fired]
    for name in names:
        if name not in known:
            told = f"Those that did are: {', '.join(known)}." if known else "No rule did."
            raise Invalid("without_rules", f"The rule “{name}” did not match here. {told}", "unknown")


def _draft_rule(text: str | None) -> Rule | None:
    """Return the rule in the text, with the narrowest scope: the agent's own."""
    if text is None:
        return None
    try:
        return parse_draft_rule(text, name=DRAFT_RULE, version=1, scope="agent")
    except Invalid as fault:
        raise Invalid("with_rule", fault.detail) from None


def is_file(candidate: Candidate) -> bool:
    """Return whether the item is a whole file of the agent or the team, not a passage of one."""
    ref = Ref.parse(candidate.ref)
    return ref.kind in FILES and not ref.part


def _with_versions(candidates: Sequence[Candidate], wanted: Mapping[str, int]) -> tuple[Candidate, ...]:
    """Return the items with the wanted versions of files, by key; one query per file.

    Raises Invalid for a file that is not among them, and for an unknown version.
    """
    texts = {key: _version_text(candidates, key, number) for key, number in wanted.items()}
    return tuple(
        _with_version(one, *texts[one.kind]) if is_file(one) and one.kind in texts else one for one in candidates
    )


def _version_text(candidates: Sequence[Candidate], key: str, number: int) -> tuple[str, str, Origin]:
    """Return the ref, the text and the origin of the version."""
    found = next((one for one in candidates if is_file(one) and one.kind == key), None)
    if found is None:
        raise Invalid(f"files.{key}", f"This context has no file {key}. Choose one of its files.", "unknown")
    ref = Ref.parse(found.ref)
    versions = KINDS[ref.kind].versions.objects.filter(file_id=ref.id, version=number)
    version = versions.only("content", "origin", "file_id", "sensitivity").first()
    if version is None:
        raise Invalid(f"files.{key}", f"{key} has no version {number}. Look it up in its history.", "unknown")
    return f"{ref.item}@{number}", version.content, origin_of(version)


def _with_version(candidate: Candidate, ref: str, text: str, origin: Origin) -> Candidate:
    if candidate.ref == ref:
        return candidate
    return structs.replace(candidate, ref=ref, text=text, summary=None, levels={}, origin=origin)
