"""What became of rules between two contexts: added, changed, switched off, or they apply at another time alone."""

import datetime
from collections.abc import Iterable, Mapping

from assembly.again.cause import Cause, Kind
from assembly.engine.rules import Rule
from assembly.models import StoredRule, StoredRuleVersion


def rule_causes(before: Iterable[Rule], after: Iterable[Rule], then: datetime.datetime) -> dict[str, Cause]:
    """By name, why a rule did not fire in both contexts alike: two queries. `then`: when the first was made."""
    old, new = ({rule.name: rule for rule in rules} for rules in (before, after))
    names = {name for name in old.keys() | new.keys() if _version(old, name) != _version(new, name)}
    if not names:
        return {}
    rows = StoredRule.objects.in_bulk(names, field_name="name")
    newest = _newest(list(rows.values()))
    return {
        name: _cause(name, old.get(name), new.get(name), rows.get(name), newest=newest, then=then)
        for name in sorted(names)
    }


def _cause(
    name: str,
    old: Rule | None,
    new: Rule | None,
    row: StoredRule | None,
    *,
    newest: Mapping[str, StoredRuleVersion],
    then: datetime.datetime,
) -> Cause:
    versions = old.version if old else None, new.version if new else None
    if row is None:
        return Cause("rule_deleted", name, f"rule:{name}", *versions)
    kind = _kind(old, new, row, then)
    note = newest[name].note if name in newest else ""
    before, after = versions[0], new.version if new else row.version
    return Cause(kind, name, f"rule:{name}", before, after, row.editor_name, row.updated_at, note)


def _kind(old: Rule | None, new: Rule | None, row: StoredRule, then: datetime.datetime) -> Kind:
    if old and new:
        return "rule_changed"
    if new:
        if row.created > then:
            return "rule_added"
        return "rule_changed" if row.updated_at > then else "rule_applies"
    if not row.enabled:
        return "rule_switched_off"
    return "rule_changed" if old and row.version != old.version else "rule_applies_no_more"


def _version(rules: Mapping[str, Rule], name: str) -> int | None:
    return rules[name].version if name in rules else None


def _newest(rows: list[StoredRule]) -> dict[str, StoredRuleVersion]:
    """The newest version of each, by the rule's name."""
    found = StoredRuleVersion.objects.filter(file_id__in=[row.id for row in rows])
    names = {row.id: row.name for row in rows}
    distinct = found.order_by("file_id", "-version").distinct("file_id").defer("content")
    return {names[version.file_id]: version for version in distinct}
