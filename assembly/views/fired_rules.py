"""The rules that applied to a context, and what each did."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from assembly.models import Assembly, StoredRule
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class FiredRule:
    """A rule as it was. `address` leads to that version; empty where it can no longer be read."""

    name: str
    version: int
    scope: str
    did: Mapping[str, int]
    address: str


def fired_rules(principal: Principal, assembly: Assembly) -> list[FiredRule]:
    """Those that fired, in the order in which they counted; one query where any did."""
    recorded = assembly.request.get("rules", ())
    names = [rule["name"] for rule in recorded]
    readable = set(_readable(principal, names)) if names else set()
    return [_fired(rule, readable=rule["name"] in readable) for rule in recorded]


def _readable(principal: Principal, names: list[str]) -> list[str]:
    return list(StoredRule.objects.visible_to(principal).filter(name__in=names).values_list("name", flat=True))


def _fired(rule: Mapping[str, Any], *, readable: bool) -> FiredRule:
    name, version = rule["name"], rule["version"]
    address = reverse("rule_version", args=[name, version]) if readable else ""
    return FiredRule(name, version, rule["scope"], rule["did"], address)
