"""Rules that people write: their text, their versions, and what they do to contexts from the database."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from agents.models import Agent
from agents.services import agent_delete
from assembly import sources
from assembly.appending import append
from assembly.asked import Asked
from assembly.cache import Answer
from assembly.engine.rules import Condition, Rule, Selector, Window
from assembly.models import Assembly, StoredRule, StoredRuleVersion
from assembly.profiles.catalogue import known_sources
from assembly.profiles.tree import UnreadableProfile
from assembly.replay import replay
from assembly.rules.access import Owner
from assembly.rules.catalogue import in_force, rules_read
from assembly.rules.reading import rule_read
from assembly.rules.services import MAX_RULES, rule_create, rule_delete, rule_save
from assembly.service import assemble
from assembly.statements import rows_of
from config.http.errors import Conflict, Invalid
from memories.models import Document, Entity, Event, Memory, Pattern, Relation
from memories.services import MemoryFacts, memory_create
from teams.files import StaleVersion, file_create
from teams.models import Erasure, Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.everything import everything

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
    return rule_read(text, name="r", version=1, scope="everywhere", sources=known_sources()).rule


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
    assert rule.when.between == Window(*days, ("mon", "fri"), datetime.time(18), datetime.time(23, 30))
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
        ("weight: 2.0", "weight: 2.0\n      path: a", 7, "must stand alone"),
        ('- path: "generated/**"', "- source: moons", 10, "must be one of: agent_files"),
        ('- path: "generated/**"', "- {}", 10, "must stand alone"),
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
    with pytest.raises(UnreadableProfile) as raised:
        read(SEED.replace(before, after, 1))
    assert raised.value.line == line
    assert reason in raised.value.reason


# --- the store -----------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(db: None) -> tuple[Agent, Team]:
    return everything()


def made(name: str, content: str, owner: Owner = None, *, enabled: bool = True) -> StoredRule:
    return rule_create(name=name, content=content, owner=owner, enabled=enabled, principal=SYSTEM)


def told(kept: tuple[Agent, Team], topic: str = "", **options: Any) -> Answer:
    agent, team = kept
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=Asked(topic=topic, now=NOW, **options))


def fates(assembly: Assembly) -> dict[str, set[str]]:
    """The codes by the first word of the refs."""
    found: dict[str, set[str]] = {}
    for decision in assembly.decisions.all():
        found.setdefault(decision.ref.partition(":")[0], set()).add(decision.code)
    return found


OFF = "then: {exclude: [{source: daily_logs}]}\n"
ON = "then: {boost: [{source: daily_logs, weight: 2}]}\n"


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
        rules, unreadable = rules_read(rows_of(in_force(agent, team)))
    assert [(rule.name, rule.scope) for rule in rules] == [
        ("a", "agent"), ("b", "team"), ("c", "everywhere"), ("hurry", "agent"),
    ]  # fmt: skip
    assert not unreadable
    assert [rule.name for rule in rules_read(rows_of(in_force(agent, None)))[0]] == ["a", "c", "hurry"]


# --- in contexts ---------------------------------------------------------------------------------------------------


def test_a_rule_leaves_out_a_source_and_says_so(kept: tuple[Agent, Team]) -> None:
    assert "Recent Activity" in told(kept).content
    made("quiet", OFF, kept[1])
    answer = told(kept)
    assert "Recent Activity" not in answer.content
    assert fates(answer.assembly)["daily_log"] == {"rule_excluded"}
    (entry,) = answer.assembly.request["rules"]
    assert (entry["name"], entry["version"], entry["scope"]) == ("quiet", 1, "team")
    assert entry["did"] == {"included": 0, "boosted": 0, "excluded": 1}
    assert replay(answer.assembly).identical


def test_a_rule_that_does_not_fire_is_not_on_record(kept: tuple[Agent, Team]) -> None:
    made("quiet", f"when: {{task_contains: [ink]}}\n{OFF}")
    assert told(kept, "Paper").assembly.request["rules"] == []
    assert [entry["name"] for entry in told(kept, "Is the INK dry?").assembly.request["rules"]] == ["quiet"]


def test_times_are_those_of_the_agent(kept: tuple[Agent, Team]) -> None:
    made("night", f"when: {{between: {{hours: 22:00-23:00}}}}\n{OFF}")
    agent, team = kept
    assert told(kept).assembly.request["rules"] == [], NOW
    hour = NOW.astimezone(datetime.UTC).hour
    offset = (hour - 22) % 24  # Etc/GMT+5 is five hours behind
    agent.timezone = f"Etc/GMT+{offset}" if offset <= 12 else f"Etc/GMT-{24 - offset}"
    agent.save()
    assert len(told((agent, team)).assembly.request["rules"]) == 1


ALWAYS = """\
then:
  always_include:
    - path: GOALS
    - path: "**/press*.md"
    - path: IDENTITY
    - kg_entity: ink
    - memory_kind: FACT
    - tag: ink
"""


@pytest.mark.parametrize("profile", ["conversation", "coding"])
def test_what_is_always_included_is_there_whatever_the_topic(profile: str, kept: tuple[Agent, Team]) -> None:
    made("promise", ALWAYS)
    answer = told(kept, "nothing of it", profile=profile)
    section = answer.content.partition("## Always Included\n\n")[2]
    for text in ("GOALS: print.", "**press.md**", "**thing**: Ink", "Ink dries in a day", "Wait for the ink."):
        assert text in section, text
    included = [
        decision.ref.partition(":")[0]
        for decision in answer.decisions
        if decision.section == "always_included" and decision.code == "rule_included"
    ]
    assert included == ["team_file", "document", "entity", "memory", "memory", "memory", "memory", "pattern"]
    assert answer.content.count("GOALS: print.") == 1
    own = [item for item in answer.decisions if item.ref.startswith("agent_file") and item.section == "always_included"]
    assert [item.code.value for item in own] == ["duplicate"], "IDENTITY is required, so it is in already"
    (entry,) = answer.assembly.request["rules"]
    assert entry["did"]["included"] == 8
    assert replay(answer.assembly).identical


def test_the_position_of_what_is_included_is_the_order_of_the_rule(kept: tuple[Agent, Team]) -> None:
    made("b", "then: {always_include: [{path: GOALS}]}")
    made("a", "then: {always_include: [{path: RULES}]}", kept[0])
    made("c", "then: {always_include: [{path: CONTEXT}, {path: nowhere.md}]}", kept[1])
    section = told(kept).content.partition("## Always Included\n\n")[2].partition("\n\n## ")[0]
    assert section == "RULES: print.\n\nCONTEXT: print.\n\nGOALS: print."


def test_a_promise_without_room_is_a_warning(kept: tuple[Agent, Team]) -> None:
    made("promise", "then: {always_include: [{path: press.md}]}")
    (file,) = kept[0].files.filter(file_key="IDENTITY")
    required = sum(section["tokens"] for section in told(kept).assembly.sections[:2])
    answer = told(kept, max_tokens=required + 1)
    assert answer.assembly.warnings == ["RULE_NOT_KEPT"]
    assert (answer.assembly.tokens, file.content in answer.content) == (required, True)
    assert replay(answer.assembly).identical


def test_a_boost_reaches_what_it_names(kept: tuple[Agent, Team]) -> None:
    made("up", "then: {boost: [{kg_entity: Paper, weight: 4}, {path: '*.md', weight: 2}, {tag: ink, weight: 3}]}")
    answer = told(kept, "Is the ink dry?", profile="coding")
    by_kind = {item.ref.partition(":")[0]: dict(item.signals).get("boost") for item in answer.decisions}
    assert by_kind.items() >= {"relation": 4, "chunk": 2, "pattern": 3, "thread": None}.items()
    assert {"entity"} <= {item.ref.partition(":")[0] for item in answer.decisions if item.detail.get("rule") == "up@1"}
    assert replay(answer.assembly).identical


def test_a_replay_needs_neither_the_rule_nor_what_it_included(kept: tuple[Agent, Team]) -> None:
    made("promise", ALWAYS, kept[1])
    answer = told(kept, "ink", profile="coding")
    for model in (Relation, Entity, Document, Pattern):
        model.objects.all().delete()
    Memory.objects.update(text="changed")
    rule_delete(rule=StoredRule.objects.get(name="promise"), principal=SYSTEM)
    again = replay(answer.assembly)
    assert (again.identical, again.content) == (True, answer.content)


def test_an_appended_event_leaves_the_rules_as_they_were(kept: tuple[Agent, Team]) -> None:
    made("promise", ALWAYS)
    first = told(kept, "ink", profile="coding")
    event = Event.objects.get()
    Event.objects.filter(id=event.id).update(outcome="done")
    answer = append(assembly=first.assembly, event=event, principal=SYSTEM)
    assert "## Always Included" in answer.content
    assert answer.assembly.request["rules"] == first.assembly.request["rules"]
    assert replay(answer.assembly).identical


def test_a_rule_that_cannot_be_read_any_more_is_passed_over_and_named(
    kept: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sources.SOURCES, "moons", sources.SOURCES["daily_logs"])
    made("moonlight", "then: {exclude: [{source: moons}]}")
    made("quiet", OFF)
    monkeypatch.delitem(sources.SOURCES, "moons")
    answer = told(kept)
    assert [entry["name"] for entry in answer.assembly.request["rules"]] == ["quiet"]
    (unreadable,) = answer.assembly.request["unreadable_rules"]
    assert unreadable["name"] == "moonlight"
    assert unreadable["fault"].startswith("Line 1: “source” must be one of")
    row = StoredRule.objects.get(name="moonlight")
    off = rule_save(rule=row, content=row.content, enabled=False, expected_version=1, principal=SYSTEM)
    assert not off.enabled, "it can still be switched off"


def test_a_cached_context_is_not_given_again_once_a_rule_has_changed(kept: tuple[Agent, Team]) -> None:
    assert "Recent Activity" in told(kept).content
    rule = made("quiet", OFF)
    assert "Recent Activity" not in told(kept).content
    rule_save(rule=rule, content=OFF, enabled=False, expected_version=1, principal=SYSTEM)
    assert "Recent Activity" in told(kept).content


def test_a_rule_finds_at_most_twenty_of_a_kind(kept: tuple[Agent, Team]) -> None:
    for number in range(30):
        facts = MemoryFacts(kind="rumour", text=f"Rumour {number}")
        memory_create(owner=kept[0], facts=facts, principal=SYSTEM)
        Document.objects.create(agent=kept[0], path=f"notes/{number:02}.md", content=f"Note {number}")
    made("promise", "then: {always_include: [{memory_kind: rumour}, {path: 'notes/*'}]}")
    answer = told(kept)
    refs = [item.ref.partition(":")[0] for item in answer.decisions if item.section == "always_included"]
    assert refs == ["memory"] * 20 + ["document"] * 20
