"""A finding is a problem of one context that a person should fix. This module finds problems in the record alone."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import Section
from assembly.engine.reasons import decision_sentence, warning_sentence
from assembly.engine.refs import Ref
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.types import Candidate, Decision, SectionResult
from assembly.models import AlertKind
from assembly.models.monitoring import CONFLICT_PREFIX, MAX_NAME_CHARACTERS
from assembly.monitoring.trends.file_losses import is_whole_file
from assembly.records.item_titles import file_title
from assembly.records.reader import StoredAssembly
from assembly.records.section_names import section_name
from assembly.records.warnings import flagged_conflicts

NO_ROOM = {Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}
CONFLICT_NAME = "Conflict"
CONTEXT = "context"
"""The subject of findings about the context as a whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a context. Findings of several contexts with the same `kind`, `thing` and `cause` are the same
    problem.

    `name` is the name of the subject, `why` a sentence about this context.
    """

    kind: AlertKind
    thing: str
    cause: str
    name: str
    why: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The parts of the URL of the subject, as JSON values."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The key by which the same problem is recognised in other contexts."""
        return self.kind.value, self.thing, self.cause


def findings(told: StoredAssembly) -> list[Finding]:
    """Return all problems of the context, each once."""
    found = [*_files(told), *_sections(told), *_budget(told), *_rules(told), *_conflicts(told)]
    return list({finding.key: finding for finding in found}.values())


def _files(told: StoredAssembly) -> Iterator[Finding]:
    """Yield files that are truncated or excluded for lack of budget."""
    labels = {section.key: section_name(section) for section in told.sections}
    for decision, candidate in told.decided:
        if not is_whole_file(decision.ref) or decision.section == ALWAYS_INCLUDED.key:
            continue
        why = decision_sentence(decision, labels[decision.section])
        if decision.code == Code.TRUNCATED:
            yield _of_file(AlertKind.FILE_CUT, decision, candidate, why)
        elif decision.code in NO_ROOM:
            yield _of_file(AlertKind.FILE_LEFT_OUT, decision, candidate, why)


def _of_file(kind: AlertKind, decision: Decision, candidate: Candidate, why: str) -> Finding:
    ref = Ref.parse(decision.ref)
    facts = {"file": candidate.kind, "version": ref.version, "of": ref.kind.removesuffix("_file")}
    return Finding(kind, ref.item, ref.version, file_title(candidate.kind), why, facts)


def _sections(told: StoredAssembly) -> Iterator[Finding]:
    """Yield required sections that are empty."""
    results = {section.key: section for section in told.sections}
    for section in told.inputs.profile.sections:
        result = results.get(section.key)
        if section.required and (result is None or not result.included):
            yield _missing(told, section, result)


def _missing(told: StoredAssembly, section: Section, result: SectionResult | None) -> Finding:
    mine = [decision.ref for decision in told.decisions if decision.section == section.key]
    label = section_name(section)
    troubled = _trouble(told, section)
    if troubled:
        why = f"Its source did not answer, so nothing of {label} is in the context."
    elif mine:
        why = f"There is no text in {label}, which must always be there."
    else:
        why = f"There is no {label} at all, and it must always be there."
    cause = troubled or _digest(mine)
    name = (section_name(result) if result else label)[:MAX_NAME_CHARACTERS]
    return Finding(AlertKind.SECTION_MISSING, section.key, cause, name, why)


def _trouble(told: StoredAssembly, section: Section) -> str:
    """Return the error code of the section's source; empty if it succeeded."""
    codes = {report["name"]: report.get("code") for report in told.assembly.sources}
    return str(codes.get(f"{section.source}:{section.key}") or codes.get(section.source) or "")


def _budget(told: StoredAssembly) -> Iterator[Finding]:
    """Yield the required items if they alone exceed the budget. A new version of one of them is a new cause."""
    if WarningCode.BUDGET_EXCEEDED not in told.assembly.warnings:
        return
    refs = [decision.ref for decision in told.decisions if decision.code == Code.REQUIRED]
    why = f"It has {told.tokens:,} tokens; the budget is {told.assembly.budget:,}."
    yield Finding(AlertKind.BUDGET_EXCEEDED, CONTEXT, _digest(refs), "Required sections", why)


def _rules(told: StoredAssembly) -> Iterator[Finding]:
    """Yield rules that always include an item for which there was no budget."""
    for decision in told.decisions:
        if decision.section == ALWAYS_INCLUDED.key and decision.code in NO_ROOM:
            name, _, version = str(decision.detail.get("rule", "")).partition("@")
            why = decision_sentence(decision, ALWAYS_INCLUDED.label)
            yield Finding(AlertKind.RULE_NOT_KEPT, f"rule:{name}", version, name, why, {"rule": name})


def _conflicts(told: StoredAssembly) -> Iterator[Finding]:
    """Yield the major conflicts of which a side is included, or was withheld, and on which nobody has decided."""
    for one in flagged_conflicts(told):
        if one.strategy(told.inputs.profile.conflict_sensitivity) == "flag":
            why = one.cue or warning_sentence(WarningCode.CONFLICT_FLAGGED)
            yield Finding(
                AlertKind.CONFLICT_OPEN, f"{CONFLICT_PREFIX}{one.id}", "open", CONFLICT_NAME, why, {"conflict": one.id}
            )


def _digest(refs: list[str]) -> str:
    """Return a short digest of the versions of items."""
    return hashlib.sha256("\n".join(sorted(refs)).encode()).hexdigest()[:32]
