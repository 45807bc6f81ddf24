"""What is wrong with one context, that somebody should do something about. Pure: of its record alone."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import Section
from assembly.engine.reasons import decision_sentence
from assembly.engine.refs import Ref
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.types import Candidate, Decision, SectionResult
from assembly.models import AlertKind
from assembly.models.monitoring import MAX_NAME_CHARACTERS
from assembly.monitoring.trends.counting import FILE_PREFIXES
from assembly.records.reader import StoredAssembly

NO_ROOM = {Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}
CONTEXT = "context"
"""The thing of what concerns the whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. With the same `kind`, `thing` and `cause`, it is the same one in every context.

    `name` is what people call the thing, `why` a sentence about this context.
    """

    kind: AlertKind
    thing: str
    cause: str
    name: str
    why: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The address of the thing, in parts, JSON-safe."""

    @property
    def key(self) -> tuple[str, str, str]:
        """By which it is known again."""
        return self.kind.value, self.thing, self.cause


def findings(told: StoredAssembly) -> list[Finding]:
    """All that is wrong with the context, each once."""
    found = [*_files(told), *_sections(told), *_budget(told), *_rules(told)]
    return list({finding.key: finding for finding in found}.values())


def _files(told: StoredAssembly) -> Iterator[Finding]:
    """Files of which a part is cut, or that had no room at all."""
    labels = {section.key: section.label for section in told.sections}
    for decision, candidate in told.decided:
        if not decision.ref.startswith(FILE_PREFIXES) or decision.section == ALWAYS_INCLUDED.key:
            continue
        why = decision_sentence(decision, labels[decision.section])
        if decision.code == Code.TRUNCATED:
            yield _of_file(AlertKind.FILE_CUT, decision, candidate, why)
        elif decision.code in NO_ROOM:
            yield _of_file(AlertKind.FILE_LEFT_OUT, decision, candidate, why)


def _of_file(kind: AlertKind, decision: Decision, candidate: Candidate, why: str) -> Finding:
    ref = Ref.parse(decision.ref)
    facts = {"file": candidate.kind, "version": ref.version, "of": ref.kind.removesuffix("_file")}
    return Finding(kind, ref.item, ref.version, candidate.kind.capitalize(), why, facts)


def _sections(told: StoredAssembly) -> Iterator[Finding]:
    """Sections that are never cut or left out, and of which nothing is there."""
    results = {section.key: section for section in told.sections}
    for section in told.inputs.profile.sections:
        result = results.get(section.key)
        if section.required and (result is None or not result.included):
            yield _missing(told, section, result)


def _missing(told: StoredAssembly, section: Section, result: SectionResult | None) -> Finding:
    mine = [decision.ref for decision in told.decisions if decision.section == section.key]
    troubled = _trouble(told, section)
    if troubled:
        why = f"Its source did not answer, so nothing of {section.label} is in the context."
    elif mine:
        why = f"There is no text in {section.label}, which must always be there."
    else:
        why = f"There is no {section.label} at all, and it must always be there."
    cause = troubled or _digest(mine)
    name = (result.label if result else section.label)[:MAX_NAME_CHARACTERS]
    return Finding(AlertKind.SECTION_MISSING, section.key, cause, name, why)


def _trouble(told: StoredAssembly, section: Section) -> str:
    """The code of the section's source, where it gave nothing; else empty."""
    codes = {report["name"]: report.get("code") for report in told.assembly.sources}
    return str(codes.get(f"{section.source}:{section.key}") or codes.get(section.source) or "")


def _budget(told: StoredAssembly) -> Iterator[Finding]:
    """What is never cut, where it alone is more than the budget. Another version of any of it is another cause."""
    if WarningCode.BUDGET_EXCEEDED not in told.assembly.warnings:
        return
    refs = [decision.ref for decision in told.decisions if decision.code == Code.REQUIRED]
    why = f"It takes {told.tokens:,} tokens, and {told.assembly.budget:,} were allowed."
    yield Finding(AlertKind.BUDGET_EXCEEDED, CONTEXT, _digest(refs), "What is never cut", why)


def _rules(told: StoredAssembly) -> Iterator[Finding]:
    """Rules that say what is always in, where there was no room for it."""
    for decision in told.decisions:
        if decision.section == ALWAYS_INCLUDED.key and decision.code in NO_ROOM:
            name, _, version = str(decision.detail.get("rule", "")).partition("@")
            why = decision_sentence(decision, ALWAYS_INCLUDED.label)
            yield Finding(AlertKind.RULE_NOT_KEPT, f"rule:{name}", version, name, why, {"rule": name})


def _digest(refs: list[str]) -> str:
    """One short name for these versions of things."""
    return hashlib.sha256("\n".join(sorted(refs)).encode()).hexdigest()[:32]
