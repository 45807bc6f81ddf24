"""Rules that people write: their text and their versions."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from agents.models import Agent
from agents.services import agent_delete
from assembly.engine.rules import Condition, Rule, Selector, TimeWindow
from assembly.models import StoredRule, StoredRuleVersion
from assembly.profiles.catalogue import known_sources
from assembly.profiles.yaml_reader import UnreadableDocument
from assembly.rules.evaluation import parse_rules, rules_statement
from assembly.rules.parser import parse_rule
from assembly.rules.services import MAX_RULES, rule_delete, rule_save
from config.db.statements import run_statement
from config.http.errors import Conflict, Invalid
from teams.models import Erasure, Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import StaleVersion, file_create
from tests.assembly.one_of_each import everything
from tests.assembly.rule_factories import OFF, ON, made

SEED = """\
when:
  task_contains: ["auth", "login", "session"]
then:
  always_include:
    - path: "docs/security-decisions.md"
  boost:
    - kg_entity: "AuthService"
      weight: 2.0
  exclude:
    - path: "generated/**"
"""


def read(text: str) -> Rule:
    return parse_rule(text, name="r", version=1, scope="everywhere", sources=known_sources()).rule


# --- the text ------------------------------------------------------------------------------------------------------


def test_the_form_of_the_seed_is_read() -> None:
    rule = read(SEED)
    assert rule.when == Condition(task_contains=("auth", "login", "session"))
    assert rule.then.always_include == (Selector("path", "docs/security-decisions.md"),)
    assert [(boost.selector, boost.weight) for boost in rule.then.boost] == [(Selector("kg_entity", "AuthService"), 2)]
    assert rule.then.exclude == (Selector("path", "generated/**"),)


def test_conditions_nest_and_times_are_read() -> None:
    rule = read("""\
description: Evenings of the campaign.
when:
  agent: ada
  intent: [fix, Question]
  between: {from: 2026-11-01, until: 2026-12-24, weekdays: [mon, FRI], hours: 18:00-23:30}
  any: [{team: [care, far]}, {all: [{profile: coding}, {not: {task_contains: [404]}}]}]
then: {exclude: [{source: turns}, {memory_kind: preference}, {tag: ops}]}
""")
    assert rule.when.agent == ("ada",)
    assert rule.when.intent == ("fix", "question")
    days = datetime.date(2026, 11, 1), datetime.date(2026, 12, 24)
    assert rule.when.between == TimeWindow(*days, ("mon", "fri"), datetime.time(18), datetime.time(23, 30))
    nested = Condition(profile=("coding",)), Condition(never=Condition(task_contains=("404",)))
    assert rule.when.any == (Condition(team=("care", "far")), Condition(all=nested))


def test_without_a_condition_a_rule_always_fires() -> None:
    assert read("then: {exclude: [{tag: x}]}").when == Condition()


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        ("when:", "whenever:", 1, "“whenever” is not known here. A rule has"),
        ("  task_contains:", "  task_conatins:", 2, "“task_conatins” is not known"),
        ('["auth", "login", "session"]', "{}", 2, "must be a list of 1 to 100"),
        ('["auth", "login", "session"]', "[[a]]", 2, "must be words"),
        ("then:", "than:", 3, "“than” is not known here"),
        ("  always_include:", "  include:", 4, "“include” is not known here. “then” has"),
        ("    - path: ", "    - source: ", 5, "“source” is not known here"),
        ('"docs/security-decisions.md"', '""', 5, "must be one line of 1 to 500"),
        ('"docs/security-decisions.md"', "[a]", 5, "must be one line"),
        ("      weight: 2.0\n", "", 7, "“weight” is missing"),
        ("weight: 2.0", "weight: 11", 8, "must be a number from 0 to 10"),
        ("weight: 2.0", "weight: .nan", 8, "must be a number from 0 to 10"),
        ("weight: 2.0", "weight: 2.0\n      path: a", 7, "must be the only key: each item has exactly one of:"),
        ('- path: "generated/**"', "- source: moons", 10, "must be one of: agent_files"),
        ('- path: "generated/**"', "- {}", 10, "must be the only key: each item has exactly one of:"),
        ('- path: "generated/**"', "", 9, "must be a list"),
        ("  task_contains:", "  between: {}\n  task_contains:", 2, "needs at least one of"),
        ("  task_contains:", "  between: {from: 2026-02-30}\n  task_contains:", 2, "must be a day of the calendar"),
        ("  task_contains:", "  between: {from: 2026-02-03, until: 2026-02-02}\n  task_contains:", 2, "not be before"),
        ("  task_contains:", "  between: {weekdays: [someday]}\n  task_contains:", 2, "must be of: mon, tue"),
        ("  task_contains:", "  between: {hours: 25:00-26:00}\n  task_contains:", 2, "two different times"),
        ("  task_contains:", "  between: {hours: 9:00}\n  task_contains:", 2, "two different times"),
        ("  task_contains:", "  intent: [guess]\n  task_contains:", 2, "must be of: question"),
        ("  task_contains:", f"  not: {'[' * 5_000}\n  task_contains:", 2, "nested more than"),
        ("  task_contains:", "  agent: &a ada\n  team: *a\n  task_contains:", 2, "Anchors"),
        (SEED, "", 1, "The text is empty"),
        (SEED, "when: {agent: ada}", 1, "“then” is missing"),
        (SEED, "then: {}", 1, "needs at least one of: always_include"),
        (SEED, "- a", 1, "A rule is written as lines"),
        (SEED, "then: !!python/object:os.system {}", 1, "Tags"),
    ],
)
def test_a_fault_is_named_with_its_line(before: str, after: str, line: int, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as raised:
        read(SEED.replace(before, after, 1))
    assert raised.value.line == line
    assert reason in raised.value.reason


# --- the store -----------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(db: None) -> tuple[Agent, Team]:
    return everything()


def test_the_story_of_a_rule(kept: tuple[Agent, Team]) -> None:
    rule = made("quiet", OFF)
    saved = rule_save(rule=rule, content=ON, enabled=True, expected_version=1, principal=SYSTEM)
    assert (saved.version, saved.content) == (2, ON)
    assert rule_save(rule=rule, content=ON, enabled=True, expected_version=2, principal=SYSTEM).version == 2
    switched = rule_save(rule=rule, content=ON, enabled=False, expected_version=2, principal=SYSTEM)
    assert (switched.version, switched.enabled) == (3, False)
    with pytest.raises(StaleVersion):
        rule_save(rule=rule, content=OFF, enabled=True, expected_version=2, principal=SYSTEM)
    assert [version.content for version in rule.versions.order_by("version")] == [OFF, ON, ON]
    rule_delete(rule=rule, principal=SYSTEM)
    assert not rule.versions.exists()
    assert Erasure.objects.get(target=rule.id).kind == "rules"


@pytest.mark.parametrize("name", ["new", "check", "try", "Own", "a" * 61, "", "a b"])
def test_a_name_can_stand_in_an_address(name: str, db: None) -> None:
    with pytest.raises(Invalid):
        made(name, OFF)


def test_a_name_is_given_once_and_there_is_a_limit(kept: tuple[Agent, Team]) -> None:
    made("quiet", OFF)
    with pytest.raises(Conflict, match="There is a rule “quiet” already"):
        made("quiet", OFF, kept[0])
    for number in range(MAX_RULES - 1):
        file_create(file=StoredRule(name=f"r-{number}", content=OFF), author=SYSTEM.author)
    with pytest.raises(Conflict, match="100 rules"):
        made("one-more", OFF)
    made("another", OFF, kept[1])


def test_the_database_refuses_a_rule_of_two_owners_and_a_change_of_its_history(kept: tuple[Agent, Team]) -> None:
    made("quiet", OFF)
    agent, team = kept
    for change in (
        lambda: StoredRule.objects.create(name="both", content=OFF, agent=agent, team=team),
        lambda: StoredRuleVersion.objects.update(content=ON),
        lambda: StoredRuleVersion.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_rules_go_with_their_agent(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    made("mine", OFF, agent)
    made("ours", OFF, team)
    agent_delete(agent=agent, principal=SYSTEM)
    assert [rule.name for rule in StoredRule.objects.all()] == ["ours"]
    assert StoredRuleVersion.objects.count() == 1


def test_those_in_force_are_the_enabled_ones_of_the_agent_its_team_and_everybody(
    kept: tuple[Agent, Team], django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    agent, team = kept
    for name, owner, enabled in (("a", agent, True), ("b", team, True), ("c", None, True), ("d", agent, False)):
        made(name, OFF, owner, enabled=enabled)
    with django_assert_num_queries(1):
        rules, unreadable = parse_rules(run_statement(rules_statement(agent, team)))
    assert [(rule.name, rule.scope) for rule in rules] == [
        ("a", "agent"), ("b", "team"), ("c", "everywhere"), ("hurry", "agent"),
    ]  # fmt: skip
    assert not unreadable
    assert [rule.name for rule in parse_rules(run_statement(rules_statement(agent, None)))[0]] == ["a", "c", "hurry"]
