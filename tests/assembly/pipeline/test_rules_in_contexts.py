"""What rules that people write do to contexts from the database."""

import datetime

import pytest

from agents.models import Agent
from assembly import sources
from assembly.models import StoredRule
from assembly.pipeline.append_event import append_event
from assembly.records.reader import load_record, replay
from assembly.rules.services import rule_delete, rule_save
from memories.models import Document, Entity, Event, Memory, Pattern, Relation
from memories.services import MemoryFacts, memory_create
from memories.services.document import documents_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.one_of_each import everything
from tests.assembly.recorded_decisions import decided
from tests.assembly.rule_factories import OFF, fates, made, told


@pytest.fixture
def kept(db: None) -> tuple[Agent, Team]:
    return everything()


def test_a_rule_leaves_out_a_source_and_says_so(kept: tuple[Agent, Team]) -> None:
    assert "Recent Activity" in told(kept).content
    made("quiet", OFF, kept[1])
    answer = told(kept)
    assert "Recent Activity" not in answer.content
    assert fates(answer.assembly)["daily_log"] == {"rule_excluded"}
    (entry,) = answer.assembly.request["rules"]
    assert (entry["name"], entry["version"], entry["scope"]) == ("quiet", 1, "team")
    assert entry["did"] == {"included": 0, "boosted": 0, "excluded": 1}
    assert replay(load_record(answer.assembly)).identical


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


@pytest.mark.parametrize(("profile", "memories"), [("conversation", 4), ("coding", 2)])
def test_what_is_always_included_is_there_whatever_the_topic(
    profile: str, memories: int, kept: tuple[Agent, Team]
) -> None:
    """The agent and its team keep the same two memories; `coding` tells equal texts once."""
    made("promise", ALWAYS)
    answer = told(kept, "nothing of it", profile=profile)
    section = answer.content.partition("## Always Included" if profile == "conversation" else '"Always Included"')[2]
    for text in ("GOALS: print.", "**press.md**", "**thing**: Ink", "Ink dries in a day", "Wait for the ink."):
        assert text in section, text
    included = [
        decision.ref.partition(":")[0]
        for decision in answer.decisions
        if decision.section == "always_included" and decision.code == "rule_included"
    ]
    assert included == ["team_file", "document", "entity", *["memory"] * memories, "pattern"]
    assert answer.content.count("GOALS: print.") == 1
    own = [item for item in answer.decisions if item.ref.startswith("agent_file") and item.section == "always_included"]
    assert [item.code.value for item in own] == ["duplicate"], "IDENTITY is required, so it is in already"
    (entry,) = answer.assembly.request["rules"]
    assert entry["did"]["included"] == 4 + memories
    assert replay(load_record(answer.assembly)).identical


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
    assert replay(load_record(answer.assembly)).identical


def test_a_boost_reaches_what_it_names(kept: tuple[Agent, Team]) -> None:
    made("up", "then: {boost: [{kg_entity: Paper, weight: 4}, {path: '*.md', weight: 2}, {tag: ink, weight: 3}]}")
    answer = told(kept, "Is the ink dry?", profile="coding")
    by_kind = {item.ref.partition(":")[0]: dict(item.signals).get("boost") for item in answer.decisions}
    assert by_kind.items() >= {"relation": 4, "chunk": 2, "pattern": 3, "thread": None}.items()
    assert {"entity"} <= {item.ref.partition(":")[0] for item in answer.decisions if item.detail.get("rule") == "up@1"}
    assert replay(load_record(answer.assembly)).identical


def test_a_replay_needs_neither_the_rule_nor_what_it_included(kept: tuple[Agent, Team]) -> None:
    made("promise", ALWAYS, kept[1])
    answer = told(kept, "ink", profile="coding")
    for model in (Relation, Entity, Document, Pattern):
        model.objects.all().delete()
    Memory.objects.update(text="changed")
    rule_delete(rule=StoredRule.objects.get(name="promise"), principal=SYSTEM)
    again = replay(load_record(answer.assembly))
    assert (again.identical, again.content) == (True, answer.content)


def test_an_appended_event_leaves_the_rules_as_they_were(kept: tuple[Agent, Team]) -> None:
    made("promise", ALWAYS)
    first = told(kept, "ink", profile="coding")
    event = Event.objects.get()
    Event.objects.filter(id=event.id).update(outcome="done")
    answer = append_event(assembly=first.assembly, event=event, principal=SYSTEM)
    assert '<section name="Always Included"' in answer.content
    assert answer.assembly.request["rules"] == first.assembly.request["rules"]
    assert replay(load_record(answer.assembly)).identical


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


@pytest.mark.finding("3a")
def test_what_a_line_always_includes_has_a_largest_sum_of_texts(luna: Agent, demo_team: Team) -> None:
    facts = [{"path": f"src/{number}.md", "content": "word " * 120_000, "language": ""} for number in range(4)]
    documents_create(agent=luna, principal=SYSTEM, facts=facts)
    made("sources", "description: d\nthen:\n  always_include:\n    - path: src/**\n")
    included = [one for one in decided(told((luna, demo_team)).assembly) if one.section == "always_included"]
    assert len(included) == 2
