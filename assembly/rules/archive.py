"""rules/: all rules, each a text as it stands; rules.json says whom each is for, and whether it is on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agents.models import Agent
from assembly.models import StoredRule
from assembly.rules.catalogue import rule_fault
from assembly.rules.services import Owner, rule_create, rule_save
from config.http.errors import NotFound
from memories.archive.digests import ImportState, state_of, value_digest
from memories.archive.sections import (
    ArchiveEntry,
    ExportScope,
    ImportChange,
    ImportContext,
    ImportUnit,
    SkippedChange,
    register,
)
from memories.archive.text_section import (
    ENDING,
    NOT_AN_ADMIN,
    attempt_all,
    load_digests,
    load_metadata,
    text_change,
    text_entries,
    text_names,
    with_refusal,
)
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class RuleAssignment:
    """Whom a rule is for, by slug ("" for none), and whether it is on. `mark` is that of the facts as exported."""

    agent: str = ""
    team: str = ""
    enabled: bool = True
    mark: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        return {"agent": self.agent, "team": self.team, "enabled": self.enabled}


class RuleArchiveSection:
    folder = "rules"
    has_units = False

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        if scope.organisation:
            rows = list(StoredRule.objects.select_related("agent", "team").order_by("name"))
            facts = {row.name: _assignment_document(_assignment_of(row)) for row in rows}
            texts = ((row.name, row.content) for row in rows)
            yield from text_entries(self.folder, texts, {"rules": facts})

    def accepts_file(self, within: str) -> bool:
        return "/" not in within and (within.endswith(ENDING) or within == "rules.json")

    def changes(self, units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
        (unit,) = units
        said, marks = load_metadata(unit).get("rules"), load_digests(unit)
        rows = {row.name: row for row in StoredRule.objects.select_related("agent", "team")}
        for within in text_names(unit):
            name = within.removesuffix(ENDING)
            facts = _parse_assignment(said.get(name) if isinstance(said, dict) else None)
            change = _import_change(unit, within, rows.get(name), facts, marks.get(within, ""))
            yield unit, change if principal.is_admin else with_refusal(change, NOT_AN_ADMIN)

    def store(
        self, unit: ImportUnit, changes: Sequence[ImportChange], import_context: ImportContext
    ) -> list[SkippedChange]:
        return attempt_all(
            {change.name: partial(_import_rule, change, import_context) for change in changes}, import_context.advance
        )


def _assignment_of(row: StoredRule) -> RuleAssignment:
    return RuleAssignment(row.agent.slug if row.agent else "", row.team.slug if row.team else "", row.enabled)


def _assignment_document(facts: RuleAssignment) -> dict[str, Any]:
    return {**facts.plain, "mark": value_digest(facts.plain)}


def _parse_assignment(said: Any) -> RuleAssignment:
    """What rules.json says of a rule; one that it does not name is for everybody."""
    known = said if isinstance(said, Mapping) else {}
    texts = {key: value for key in ("agent", "team", "mark") if isinstance(value := known.get(key, ""), str)}
    return RuleAssignment(**texts, enabled=known.get("enabled", True) is True)


def _import_change(
    unit: ImportUnit, within: str, here: StoredRule | None, facts: RuleAssignment, exported: str
) -> ImportChange:
    change = replace(text_change(unit, within, "rule", here, exported), item=facts)
    if change.state is ImportState.SAME and here and here.enabled != facts.enabled:
        wanted = {**_assignment_of(here).plain, "enabled": facts.enabled}
        now, incoming = value_digest(_assignment_of(here).plain), value_digest(wanted)
        switched = state_of(exported=facts.mark, incoming=incoming, here=now)
        way = "on" if facts.enabled else "off"
        return replace(change, state=switched, reason=f"Its text is the same; it is switched {way} in the archive.")
    if change.state in {ImportState.NEW, ImportState.CHANGED} and (fault := rule_fault(change.after)):
        return replace(change, state=ImportState.REFUSED, reason=fault.detail)
    return change


def _import_rule(change: ImportChange, import_context: ImportContext) -> None:
    facts: RuleAssignment = change.item
    name = change.name.rpartition("/")[2].removesuffix(ENDING)
    rule = StoredRule.objects.filter(name=name).first()
    if rule is None:
        rule_create(
            name=name,
            content=change.after,
            owner=_find_owner(facts),
            enabled=facts.enabled,
            principal=import_context.principal,
            note=import_context.note,
        )
    else:
        rule_save(
            rule=rule,
            content=change.after,
            enabled=facts.enabled,
            expected_version=change.version,
            principal=import_context.principal,
            note=import_context.note,
        )


def _find_owner(facts: RuleAssignment) -> Owner:
    """Whom a new rule is for. Raises NotFound: a rule for one must not become a rule for everybody."""
    owner: Owner = None
    if facts.agent:
        owner = Agent.objects.filter(slug=facts.agent).first()
    elif facts.team:
        owner = Team.objects.filter(slug=facts.team).first()
    if owner is None and (facts.agent or facts.team):
        raise NotFound(f"Whom this rule is for, “{facts.agent or facts.team}”,")
    return owner


register(RuleArchiveSection())
