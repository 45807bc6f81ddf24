"""The folder `rules/` of an archive has all rules as texts; rules.json says for whom each is, and whether it is
enabled.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.models import Agent
from assembly.models import StoredRule
from assembly.rules.catalogue import rule_fault
from assembly.rules.services import Owner, rule_create, rule_save
from config.http.errors import NotFound
from memories.archive.digests import ImportState, state_of, value_digest
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, ImportUnit, register
from memories.archive.text_section import (
    ENDING,
    DocumentSection,
    load_metadata,
    refuse_unreadable,
    text_change,
    text_entries,
)
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class RuleAssignment:
    """The owner of a rule, by slug ("" for none), and whether it is enabled.

    `mark` is a digest of these values at export.
    """

    agent: str = ""
    team: str = ""
    enabled: bool = True
    mark: str = ""

    @property
    def plain(self) -> dict[str, Any]:
        return {"agent": self.agent, "team": self.team, "enabled": self.enabled}


class RuleArchiveSection(DocumentSection):
    folder = "rules"

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        if scope.organisation:
            rows = list(StoredRule.objects.select_related("agent", "team").order_by("name"))
            facts = {row.name: _assignment_document(_assignment_of(row)) for row in rows}
            texts = ((row.name, row.content) for row in rows)
            yield from text_entries(self.folder, texts, {"rules": facts})

    def change_of(self, unit: ImportUnit, principal: Principal) -> Callable[[str, str], ImportChange]:
        said = load_metadata(unit).get("rules")
        rows = {row.name: row for row in StoredRule.objects.select_related("agent", "team")}

        def change(within: str, exported: str) -> ImportChange:
            name = within.removesuffix(ENDING)
            facts = _parse_assignment(said.get(name) if isinstance(said, dict) else None)
            return _import_change(unit, within, rows.get(name), facts, exported)

        return change

    def save(self, name: str, change: ImportChange, import_context: ImportContext) -> None:
        facts: RuleAssignment = change.item
        principal, note = import_context.principal, import_context.note
        rule = StoredRule.objects.filter(name=name).first()
        if rule is None:
            rule_create(
                name=name,
                content=change.after,
                owner=_find_owner(facts),
                enabled=facts.enabled,
                principal=principal,
                note=note,
            )
        else:
            rule_save(
                rule=rule,
                content=change.after,
                enabled=facts.enabled,
                expected_version=change.version,
                principal=principal,
                note=note,
            )


def _assignment_of(row: StoredRule) -> RuleAssignment:
    return RuleAssignment(row.agent.slug if row.agent else "", row.team.slug if row.team else "", row.enabled)


def _assignment_document(facts: RuleAssignment) -> dict[str, Any]:
    return {**facts.plain, "mark": value_digest(facts.plain)}


def _parse_assignment(said: Any) -> RuleAssignment:
    """Return the values in rules.json for a rule; a rule that is not listed is for all agents."""
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
    return refuse_unreadable(change, rule_fault)


def _find_owner(facts: RuleAssignment) -> Owner:
    """Return the owner of a new rule. Raises NotFound: a rule for one owner must not become a rule for all agents."""
    owner: Owner = None
    if facts.agent:
        owner = Agent.objects.filter(slug=facts.agent).first()
    elif facts.team:
        owner = Team.objects.filter(slug=facts.team).first()
    if owner is None and (facts.agent or facts.team):
        raise NotFound(f"Whom this rule is for, “{facts.agent or facts.team}”,")
    return owner


register(RuleArchiveSection())
