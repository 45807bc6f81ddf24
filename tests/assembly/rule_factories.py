"""Rules that are stored, and contexts that are told under them."""

from typing import Any

from agents.models import Agent
from assembly.models import Assembly, StoredRule
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import Owner, rule_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.recorded_decisions import decided


def made(name: str, content: str, owner: Owner = None, *, enabled: bool = True) -> StoredRule:
    return rule_create(name=name, content=content, owner=owner, enabled=enabled, principal=SYSTEM)


def told(kept: tuple[Agent, Team], topic: str = "", **options: Any) -> AssemblyResult:
    agent, team = kept
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic=topic, now=NOW, **options))


def fates(assembly: Assembly) -> dict[str, set[str]]:
    """The codes by the first word of the refs."""
    found: dict[str, set[str]] = {}
    for decision in decided(assembly):
        found.setdefault(decision.ref.partition(":")[0], set()).add(decision.code)
    return found


OFF = "then: {exclude: [{source: daily_logs}]}\n"
ON = "then: {boost: [{source: daily_logs, weight: 2}]}\n"
