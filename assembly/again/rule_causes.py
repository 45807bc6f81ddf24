"""What became of rules between two contexts: added, changed, switched off, or they apply at another time alone."""

import datetime
from collections.abc import Iterable, Mapping

from assembly.again.cause import Cause, Kind
from assembly.engine.rules import Rule
from assembly.models import StoredRuleVersion


def rule_causes(
    before: Iterable[Rule], after: Iterable[Rule], then: datetime.datetime, until: datetime.datetime | None
) -> dict[str, Cause]:
    """By name, why a rule did not fire in both contexts alike: one query.

    `then`: when the first was made; `until`: when the second was, None for today.
    """
    old, new = ({rule.name: rule for rule in rules} for rules in (before, after))
    names = {name for name in old.keys() | new.keys() if _version(old, name) != _version(new, name)}
    if not names:
        return {}
    newest = _newest(names, until)
    return {name: _cause(name, old.get(name), new.get(name), newest.get(name), then) for name in sorted(names)}


def _cause(
    name: str, old: Rule | None, new: Rule | None, newest: StoredRuleVersion | None, then: datetime.datetime
) -> Cause:
    versions = old.version if old else None, new.version if new else None
    if newest is None:
        return Cause("rule_deleted", name, f"rule:{name}", *versions)
    kind = _kind(old, new, newest, then)
    after = new.version if new else newest.version
    return Cause(kind, name, f"rule:{name}", versions[0], after, newest.editor_name, newest.created, newest.note)


def _kind(old: Rule | None, new: Rule | None, newest: StoredRuleVersion, then: datetime.datetime) -> Kind:
    if old and new:
        return "rule_changed"
    if new:
        if newest.file.created > then:
            return "rule_added"
        return "rule_changed" if newest.created > then else "rule_applies"
    if not newest.file.enabled and newest.version == newest.file.version:
        return "rule_switched_off"
    return "rule_changed" if old and newest.version != old.version else "rule_applies_no_more"


def _version(rules: Mapping[str, Rule], name: str) -> int | None:
    return rules[name].version if name in rules else None


def _newest(names: Iterable[str], until: datetime.datetime | None) -> dict[str, StoredRuleVersion]:
    """The newest version that each had then, by the rule's name, with the rule as it is today."""
    found = StoredRuleVersion.objects.filter(file__name__in=names, **({"created__lte": until} if until else {}))
    distinct = found.order_by("file_id", "-version").distinct("file_id").defer("content", "file__content")
    return {version.file.name: version for version in distinct.select_related("file")}
