"""What if something had been different: on the record where it is enough, else read anew, and said so."""

from typing import Any

import pytest
from django.utils import timezone

from agents.services import agent_delete
from assembly.models import Assembly, StoredRule
from assembly.pipeline.append_event import append_event
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_create
from assembly.simulation.basis import OwnerDeleted
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.services import WhatIfResult, run_what_if
from config.http.errors import Invalid
from memories.models import Event
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.comparison.conftest import Kept

pytestmark = pytest.mark.django_db

PROFILES = ["conversation", "coding", "research", "operations", "stack"]


def told(kept: Kept, topic: str = "", **options: Any) -> Any:
    agent, team = kept
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic=topic, **options))


def tried(assembly: Assembly, **wishes: Any) -> WhatIfResult:
    return run_what_if(assembly=assembly, overrides=Overrides(**wishes))


@pytest.mark.parametrize("profile", PROFILES)
def test_another_budget_gives_what_was_told_with_that_budget(kept: Kept, profile: str) -> None:
    now = timezone.now()
    before, after = (told(kept, "ink", profile=profile, now=now, max_tokens=most) for most in (900, 120))
    found = tried(before.assembly, max_tokens=120)
    assert found.basis == "record"
    assert found.beside.after.content == after.content
    assert [one.code for one in found.beside.after.decisions] == [one.code for one in after.decisions]
    assert found.beside.before.content == before.content


def test_the_record_is_enough_after_everything_changed(kept: Kept) -> None:
    agent, _ = kept
    now = timezone.now()
    before, after = (told(kept, "ink", now=now, max_tokens=most) for most in (900, 120))
    agent_delete(agent=agent, principal=SYSTEM)
    assert tried(before.assembly, max_tokens=120).beside.after.content == after.content
    with pytest.raises(OwnerDeleted):
        tried(before.assembly, topic="paper")


def test_nothing_is_recorded(kept: Kept) -> None:
    answer = told(kept)
    rows = Assembly.objects.count(), StoredRule.objects.count()
    tried(answer.assembly, topic="paper", max_tokens=300, with_rule="then: {exclude: [{path: GOALS}]}\n")
    assert (Assembly.objects.count(), StoredRule.objects.count()) == rows


def test_another_tokenizer_counts_otherwise(kept: Kept) -> None:
    found = tried(told(kept).assembly, tokenizer="chars4")
    assert found.basis == "record"
    assert found.beside.is_same
    assert found.beside.after.tokens != found.beside.before.tokens
    assert [setting.name for setting in found.beside.settings] == ["tokenizer"]


def test_a_cap_of_one_section(kept: Kept) -> None:
    file = kept[0].files.get(file_key="KNOWLEDGE")
    file_save(file=file, content="Ink dries in a day. " * 200, expected_version=2, author=SYSTEM.author)
    answer = told(kept)
    found = tried(answer.assembly, caps={"knowledge": 50})
    section = {one.section.key: one for one in found.beside.comparison.sections}["knowledge"]
    assert section.before
    assert section.after
    assert (section.before.status, section.after.status) == ("whole", "cut")
    assert section.after.tokens <= 50
    (setting,) = found.beside.settings
    assert (setting.name, setting.of, setting.before, setting.after) == (
        "section",
        "Knowledge",
        "limit 2,000",
        "limit 50",
    )


def test_another_profile_of_the_same_sources_needs_no_reading(kept: Kept) -> None:
    before = told(kept, profile="coding")
    Event.objects.all().delete()
    found = tried(before.assembly, profile="coding", max_tokens=5_000)
    assert found.basis == "record"
    assert "event" in {one.ref.partition(":")[0] for one in found.beside.after.decisions}


def test_a_profile_with_other_sources_reads_anew(kept: Kept) -> None:
    before, after = told(kept), told(kept, profile="coding")
    found = tried(before.assembly, profile="coding")
    assert found.basis == "today"
    assert found.beside.after.content == after.content


def test_what_the_caller_added_is_in_contexts_of_another_profile_too(kept: Kept) -> None:
    answer = told(kept, profile="coding", additional_context="It rains.")
    assert "It rains." in answer.content
    found = tried(answer.assembly, profile="conversation")
    assert "It rains." in found.beside.after.content


def test_another_topic_reads_anew_as_of_now(kept: Kept) -> None:
    before = told(kept, "ink")
    after = told(kept, "Does paper come on Mondays?")
    found = tried(before.assembly, topic="Does paper come on Mondays?")
    assert found.basis == "today"
    assert found.beside.after.content == after.content
    assert found.beside.after.content != found.beside.before.content
    assert tried(before.assembly, topic="ink", max_tokens=300).basis == "record"


def test_without_a_rule_and_with_another_one(kept: Kept) -> None:
    answer = told(kept)
    hush = "then: {exclude: [{source: daily_logs}]}\n"
    rule_create(name="hush", content=hush, owner=None, principal=SYSTEM)
    hushed = told(kept)
    assert "Printed the first sheet." not in hushed.content
    found = tried(hushed.assembly, without_rules=("hush",))
    assert (found.basis, found.beside.after.content) == ("record", answer.content)
    found = tried(answer.assembly, with_rule=hush)
    assert (found.basis, found.beside.after.content) == ("record", hushed.content)
    found = tried(hushed.assembly, without_rules=("hush",), with_rule="then: {always_include: [{path: CONTEXT}]}\n")
    assert "## Always Included\n\nCONTEXT: print." in found.beside.after.content
    assert "Printed the first sheet." in found.beside.after.content


def test_the_condition_of_a_new_rule_is_asked_of_the_recorded_topic_or_the_new_one(kept: Kept) -> None:
    rule = "when: {task_contains: [paper]}\nthen: {exclude: [{source: daily_logs}]}\n"
    answer = told(kept, "ink")
    assert tried(answer.assembly, with_rule=rule).beside.is_same
    found = tried(answer.assembly, with_rule=rule, topic="paper")
    assert "Printed the first sheet." not in found.beside.after.content


def test_an_older_version_of_a_file(kept: Kept) -> None:
    goals = kept[1].files.get(file_key="GOALS")
    before = told(kept)
    file_save(file=goals, content="Print in colour.", expected_version=2, author=SYSTEM.author)
    after = told(kept)
    found = tried(after.assembly, files={"GOALS": 2})
    assert (found.basis, found.beside.after.content) == ("record", before.content)
    (change,) = found.beside.comparison.changes
    assert change.after
    assert change.after.ref == f"{goals.about}@2"
    newer = tried(before.assembly, files={"GOALS": 3})
    assert newer.beside.after.content == after.content


def test_a_context_that_grew_is_tried_too(kept: Kept) -> None:
    event = Event.objects.get(agent=kept[0])
    grown = append_event(assembly=told(kept).assembly, event=event, principal=SYSTEM)
    found = tried(grown.assembly, max_tokens=80)
    assert found.beside.before.content == grown.content
    assert found.beside.after.tokens <= 80
    assert tried(grown.assembly, profile="coding").basis == "today"


@pytest.mark.parametrize(
    ("wishes", "field"),
    [
        ({}, "overrides"),
        ({"tokenizer": "abacus"}, "tokenizer"),
        ({"profile": "nope"}, "profile"),
        ({"caps": {"nope": 1}}, "caps"),
        ({"caps": {"identity": 1}}, "caps"),
        ({"without_rules": ("nope",)}, "without_rules"),
        ({"with_rule": "then: 1"}, "with_rule"),
        ({"files": {"NOTES": 1}}, "files.NOTES"),
        ({"files": {"GOALS": 99}}, "files.GOALS"),
    ],
)
def test_what_cannot_be_is_refused(wishes: dict[str, Any], field: str, kept: Kept) -> None:
    assembly = told(kept).assembly
    with pytest.raises(Invalid) as refused:
        tried(assembly, **wishes)
    assert list(refused.value.extra["errors"]) == [field]


def test_wishes_are_kept_as_plain_data() -> None:
    wishes = Overrides(
        max_tokens=0, caps={"knowledge": None, "daily": 5}, without_rules=("a",), files={"GOALS": 2}, topic=""
    )
    assert Overrides.from_dict(wishes.to_dict()) == wishes
    assert Overrides().to_dict() == {}
