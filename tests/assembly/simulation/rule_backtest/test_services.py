"""Trying a rule tells what it would have changed: exactly what the engine does once the rule is on."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from uuid_utils.compat import uuid7

from agents.models import Agent
from agents.services import agent_delete, agent_update
from assembly.engine.rules import Rule
from assembly.models import Assembly, StoredRule
from assembly.models.assembly import packed
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.append_event import append_event
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.catalogue import entry_of_row, parse_draft_rule
from assembly.rules.services import Owner, owner_scope, rule_create, rule_save
from assembly.simulation.rule_backtest import services
from assembly.simulation.rule_backtest.services import (
    LIMIT,
    ContextBacktest,
    RuleBacktest,
    rule_backtest,
)
from assembly.simulation.rule_overrides import CurrentOwners
from config.http.cpu_budget import TooCostly
from memories.models import Document, Event, Session
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.services import membership_set, team_create
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conftest import NOW
from tests.assembly.one_of_each import everything

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]

RULES = {
    "include": "then: {always_include: [{path: GOALS}, {path: '**/press*.md'}, {kg_entity: ink}, {memory_kind: fact}]}",
    "include twice": "then: {always_include: [{tag: ink}, {path: '*'}, {path: GOALS}, {path: IDENTITY}]}",
    "boost": "then: {boost: [{kg_entity: Paper, weight: 4}, {path: '*', weight: 2}, {memory_kind: fact, weight: 0}]}",
    "exclude": "then: {exclude: [{source: daily_logs}, {memory_kind: fact}, {tag: ink}]}",
    "all": "then: {always_include: [{path: CONTEXT}], boost: [{tag: ink, weight: 3}], exclude: [{source: threads}]}",
    "elsewhere": "when: {task_contains: [moon]}\nthen: {exclude: [{source: daily_logs}]}",
}


@pytest.fixture(scope="module")
def built() -> tuple[Agent, Team]:
    return everything()


@pytest.fixture
def kept(built: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch) -> tuple[Agent, Team]:
    """Read anew. What was assembled in another test was rolled back."""
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
    return Agent.objects.get(pk=built[0].pk), Team.objects.get(pk=built[1].pk)


def told(kept: tuple[Agent, Team | None], topic: str = "Is the ink dry?", **options: Any) -> AssemblyResult:
    agent, team = kept
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic=topic, now=NOW, **options))


def drafted(content: str, owner: Owner = None, name: str = "tried", version: int = 1) -> Rule:
    return parse_draft_rule(content, name=name, version=version, scope=owner_scope(owner))


def tried(content: str, owner: Owner = None, principal: Principal = SYSTEM, **options: Any) -> RuleBacktest:
    return rule_backtest(rule=drafted(content, owner), owner=owner, principal=principal, **options)


def only(trials: RuleBacktest) -> ContextBacktest:
    (trial,) = trials.trials
    return trial


Fates = dict[tuple[str, str], tuple[Any, ...]]


def fates(answer: AssemblyResult) -> Fates:
    return {
        (item.section, item.ref): (item.code, item.rank, item.score, (item.end or 0) - (item.start or 0))
        for item in answer.decisions
    }


def differences(old: Fates, new: Fates) -> set[str]:
    """The refs of which a reader would see a difference: in or out, or another score, place or cut."""
    nothing = (None, None, None, 0)
    seen = set()
    for place in old.keys() | new.keys():
        before, after = old.get(place, nothing), new.get(place, nothing)
        was, would = (bool(code and code.included) for code in (before[0], after[0]))
        rescored = None not in {before[2], after[2]} and before[2] != after[2]
        if was != would or rescored or (was and before != after):
            seen.add(place[1])
    return seen


@pytest.mark.parametrize("profile", ["conversation", "coding", "research"])
@pytest.mark.parametrize("content", RULES.values(), ids=RULES)
def test_what_is_told_is_what_the_engine_does_once_the_rule_is_on(
    content: str, profile: str, kept: tuple[Agent, Team]
) -> None:
    before = told(kept, profile=profile)
    trial = only(tried(content))
    rule_create(name="tried", content=content, owner=None, principal=SYSTEM)
    after = told(kept, profile=profile)
    assert {change.ref for change in trial.changes} == differences(fates(before), fates(after))
    real = {(item.section, item.ref): item for item in after.decisions}
    for change in trial.changes:
        if change.after:
            assert change.after == real[change.after.section, change.ref]
        else:
            assert (change.before.section, change.ref) not in real if change.before else False
    assert (trial.tokens, list(trial.warnings)) == (after.assembly.tokens, after.assembly.warnings)
    assert trial.applies is bool(after.assembly.request["rules"])
    assert not trial.applied


@pytest.mark.finding("E16")
@pytest.mark.parametrize("content", RULES.values(), ids=RULES)
def test_a_rule_in_force_is_compared_with_its_absence(content: str, kept: tuple[Agent, Team]) -> None:
    rule = rule_create(name="tried", content=content, owner=kept[1], principal=SYSTEM)
    other = "then: {always_include: [{path: '*'}], exclude: [{source: turns}]}"
    rule_create(name="other", content=other, owner=kept[0], principal=SYSTEM)
    told(kept, profile="coding")
    for file in kept[1].files.all():
        file_save(file=file, content="Changed since.", expected_version=file.version, author=SYSTEM.author)
    entry = entry_of_row(rule)
    assert entry.described
    trial = only(rule_backtest(rule=entry.described.rule, owner=rule.owner, principal=SYSTEM))
    assert trial.tokens == trial.assembly.tokens
    assert trial.applied is trial.applies is ("moon" not in content)
    assert bool(trial.changes) is trial.applied


@pytest.mark.parametrize("profile", ["conversation", "coding"])
@pytest.mark.parametrize("content", RULES.values(), ids=RULES)
def test_a_changed_text_takes_the_place_of_the_one_that_had_applied(
    content: str, profile: str, kept: tuple[Agent, Team]
) -> None:
    rule = rule_create(name="tried", content=RULES["all"], owner=None, principal=SYSTEM)
    rule_create(name="z-other", content="then: {always_include: [{path: RULES}]}", owner=None, principal=SYSTEM)
    told(kept, profile=profile)
    number = 1 if content == RULES["all"] else 2
    trial = only(rule_backtest(rule=drafted(content, version=number), owner=None, principal=SYSTEM))
    rule_save(rule=rule, content=content, enabled=True, expected_version=1, principal=SYSTEM)
    after = told(kept, profile=profile)
    assert trial.applied
    assert trial.tokens == after.assembly.tokens
    real = {(item.section, item.ref): item for item in after.decisions}
    assert all(change.after == real[change.after.section, change.ref] for change in trial.changes if change.after)
    assert trial.changes


def effects(trial: ContextBacktest) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for change in trial.changes:
        found.setdefault(change.effect, set()).add(change.ref.partition(":")[0])
    return found


def test_each_change_has_its_effect(kept: tuple[Agent, Team]) -> None:
    told(kept)
    assert effects(only(tried(RULES["exclude"]))) == {"out": {"daily_log", "memory"}}
    assert effects(only(tried("then: {always_include: [{path: GOALS}]}"))) == {"moved": {"team_file"}}
    assert effects(only(tried("then: {always_include: [{path: press.md}]}"))) == {"in": {"document"}}
    assert effects(only(tried("then: {boost: [{memory_kind: fact, weight: 2}]}"))) == {"changed": {"memory"}}


def test_a_promise_that_could_not_be_kept_is_told(kept: tuple[Agent, Team]) -> None:
    required = sum(section["tokens"] for section in told(kept).assembly.sections[:2])
    told(kept, max_tokens=required + 1)
    small, large = tried("then: {always_include: [{path: press.md}]}").trials
    assert (small.misses_required_item, large.misses_required_item) == (True, False)
    assert small.changes == ()


def test_those_whom_the_rule_is_for_are_tried_the_newest_first(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    mine, ours = (told((agent, owner), max_tokens=500).assembly for owner in (None, team))
    other = team_create(slug="other", name="Other")
    agent_update(agent=agent, expected_version=1, name="Mira", timezone="UTC", teams=[team, other], principal=SYSTEM)
    theirs = told((agent, other)).assembly
    content = RULES["exclude"]
    of = {owner: [trial.assembly.id for trial in tried(content, owner).trials] for owner in (None, agent, team, other)}
    assert of == {
        None: [theirs.id, ours.id, mine.id],
        agent: [theirs.id, ours.id, mine.id],
        team: [ours.id],
        other: [theirs.id],
    }
    person = User.objects.create_user("mia")
    membership_set(team=team, user=person, role="viewer")
    assert [trial.assembly.id for trial in tried(content, None, person.principal).trials] == [ours.id, mine.id]
    stranger = User.objects.create_user("eve")
    assert tried(content, None, stranger.principal) == RuleBacktest((), 0, 0)


def test_what_was_told_again_is_tried_once(kept: tuple[Agent, Team]) -> None:
    first = told(kept).assembly
    assert told(kept).assembly.request["repeats"] == str(first.id)
    assert [trial.assembly.id for trial in tried(RULES["exclude"]).trials] == [first.id]


def test_an_appended_context_is_tried_like_others(kept: tuple[Agent, Team]) -> None:
    first = told(kept, profile="coding")
    append_event(assembly=first.assembly, event=Event.objects.get(), principal=SYSTEM)
    appended, _first = tried("then: {exclude: [{source: threads}]}").trials
    assert effects(appended) == {"out": {"thread"}}


def test_conditions_are_asked_of_the_record(kept: tuple[Agent, Team]) -> None:
    agent, _team = kept
    told(kept, "Fix the press")
    told(kept, "", profile="stack", session=str(Session.objects.get().id))  # the task's goal stands in for the topic
    goal, fix = (
        [trial.applies for trial in tried(f"when: {{{when}}}\n{RULES['exclude']}").trials]
        for when in ("task_contains: [newspaper], profile: stack", "intent: fix, agent: mira, team: press")
    )
    assert (goal, fix) == ([True, False], [False, True])
    night = f"when: {{between: {{hours: 22:00-23:00}}}}\n{RULES['exclude']}"
    assert tried(night).applying == 0
    agent.timezone = "Etc/GMT-10"  # ten hours ahead of NOW, at noon
    agent.save()
    assert tried(night).applying == 2


def test_the_last_twenty_are_tried_within_their_time(kept: tuple[Agent, Team]) -> None:
    for number in range(LIMIT + 2):
        told(kept, max_tokens=1_000 + number)
    trials = tried(RULES["exclude"], seconds=600)
    assert (len(trials.trials), trials.changed, trials.untried) == (LIMIT, LIMIT, 0)
    assert trials.trials[0].assembly.budget == 1_000 + LIMIT + 1
    hurried = tried(RULES["exclude"], seconds=0)
    assert (len(hurried.trials), hurried.untried) == (1, LIMIT - 1)


@pytest.mark.finding("3a")
def test_what_was_tried_is_told_where_the_cpu_time_ends(
    kept: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        told(kept, max_tokens=1_000 + number)
    done: list[Assembly] = []

    def costly(rule: Rule, assembly: Assembly, today: CurrentOwners) -> ContextBacktest:
        if len(done) == most:
            raise TooCostly("Enough.")
        done.append(assembly)
        return real(rule, assembly, today)

    real, most = services._backtest_context, 2
    monkeypatch.setattr(services, "_backtest_context", costly)
    trials = tried(RULES["exclude"])
    assert (len(trials.trials), trials.untried) == (2, 2)
    done, most = [], 0
    with pytest.raises(TooCostly):
        tried(RULES["exclude"])


def test_few_queries_are_made(
    kept: tuple[Agent, Team], django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(3):
        told(kept, max_tokens=1_000 + number)
    with django_assert_num_queries(3):  # contexts, agents, teams
        tried(RULES["elsewhere"])
    with django_assert_num_queries(3 + 3):  # and of each its pieces
        tried(RULES["exclude"])
    with django_assert_num_queries(3 + 3 + 4):  # files of the agent, of the team, sealed documents, documents: once
        tried("then: {always_include: [{path: GOALS}]}")


def test_a_damaged_record_is_passed_over_and_counted(kept: tuple[Agent, Team]) -> None:
    good = told(kept).assembly
    bodies = [packed({**good.contents, "profile": "00" * 32}), packed({**good.contents, "decisions": {}}), b""]
    damages: list[dict[str, Any]] = [{"budget": 3}, {"tokenizer": "gone"}, *({"body": body} for body in bodies)]
    for damage in damages:
        broken = Assembly.objects.get(id=good.id)
        broken.id = uuid7()
        for name, value in damage.items():
            setattr(broken, name, value)
        broken.save(force_insert=True)
    trials = tried(RULES["exclude"])
    assert ([trial.assembly.id for trial in trials.trials], trials.damaged) == ([good.id], 5)


def test_what_is_gone_is_not_always_included(kept: tuple[Agent, Team]) -> None:
    agent, _team = kept
    told(kept)
    content = "then: {always_include: [{path: press.md}], exclude: [{source: daily_logs}]}"
    assert effects(only(tried(content))) == {"in": {"document"}, "out": {"daily_log"}}
    Document.objects.all().delete()
    assert effects(only(tried(content))) == {"out": {"daily_log"}}
    agent_delete(agent=agent, principal=SYSTEM)
    assert effects(only(tried(content))) == {"out": {"daily_log"}}


def test_nothing_is_stored(kept: tuple[Agent, Team]) -> None:
    told(kept)
    counts = Assembly.objects.count(), StoredRule.objects.count()
    tried(RULES["all"])
    assert (Assembly.objects.count(), StoredRule.objects.count()) == counts


def test_the_text_of_then_counts_where_the_record_has_one(kept: tuple[Agent, Team]) -> None:
    """A file that changed since stands in the tried context as it was told then, not twice."""
    told(kept)
    goals = kept[1].files.get(file_key="GOALS")
    file_save(file=goals, content="Other goals.", expected_version=goals.version, author=SYSTEM.author)
    trial = only(tried("then: {always_include: [{path: GOALS}]}"))
    assert effects(trial) == {"moved": {"team_file"}}
