"""The demo: what a newcomer meets first must show what Dossier does, on any day."""

from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Agent, AgentFile, DailyLog
from assembly.conflicts.compared_texts import items_of_all_kinds
from assembly.conflicts.counts import conflicts_to_decide
from assembly.conflicts.find import item_conflicts_find
from assembly.demo.loading import FOLDER, demo_load, load_plan
from assembly.engine.codes import Code
from assembly.models import Alert, Assembly, Conflict, DayCount, FileLoss, Purpose, RecallTest, StoredRule
from assembly.records.reader import load_record, replay
from assembly.rules.catalogue import parse_described_rule
from assembly.simulation.rule_backtest.services import rule_backtest
from assembly.sources.memories import LIMIT
from memories.archive.memory_markdown import parse_memory_file
from memories.embeddings.file_splitting import file_split, files_without_passages
from memories.models import (
    Chunk,
    Document,
    Entity,
    Event,
    EventType,
    Memory,
    Pattern,
    Relation,
    Session,
    TaskFrame,
    TaskStatus,
    Thread,
    ThreadStatus,
    Tool,
)
from memories.services import task_path
from teams.models import Membership, OrganisationFile, Team, TeamFile, User
from teams.principal import SYSTEM, Role
from teams.versioned_text.drafts import drafts_of
from teams.versioned_text.versioned_file import VersionedFile
from tests.assembly.recorded_decisions import decided

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]


@pytest.fixture(scope="module")
def demo() -> None:
    demo_load(plan=load_plan(), now=timezone.now(), advance=lambda _: None)


def present() -> QuerySet[Assembly]:
    """The contexts that the demo ends with, after its thirty days of past."""
    newest = Assembly.objects.order_by("-created", "-id").values("id")[: len(load_plan().contexts)]
    return Assembly.objects.filter(id__in=newest)


def codes(section: str, **of: Any) -> set[str]:
    return {one.code for assembly in present().filter(**of) for one in decided(assembly, section=section)}


def test_it_has_teams_agents_and_people(demo: None) -> None:
    assert Team.objects.count() == 2
    assert {agent.slug for agent in Agent.objects.all()} == {"luna", "edda", "otis", "wren"}
    assert {person.has_usable_password() for person in User.objects.all()} == {False}
    assert not User.objects.filter(is_admin=True).exists()
    assert set(Membership.objects.values_list("role", flat=True)) == set(Role.values)
    files: list[VersionedFile] = [*AgentFile.objects.all(), *TeamFile.objects.all()]
    assert len(files) == 4 * 3 + 2 * 3
    assert all(file.content and file.editor_name for file in files)
    assert [file.title for file in OrganisationFile.objects.order_by("title")] == ["House voice", "Promises"]
    assert all(file.content and file.editor_name == "Ines Okafor" for file in OrganisationFile.objects.all())
    assert any(file.version == 3 for file in files)  # some have an earlier text to compare with


def test_somebody_is_writing_and_says_what_changed(demo: None) -> None:
    goals = TeamFile.objects.get(team__slug="story-room", file_key="GOALS")
    assert list(goals.versions.values_list("note", flat=True)) == [
        "One opening night, and two studio days instead of three",
        "First plan for the season",
        "",
    ]
    [draft] = drafts_of(User.objects.get(username="ines.okafor").id)
    assert draft.about == goals.about
    assert draft.based_on == goals.version
    assert "eleven of them" in draft.content
    [draft] = drafts_of(User.objects.get(username="tomasz.lind").id)
    assert "name the phone" in draft.content


def test_it_has_memories_of_several_kinds(demo: None) -> None:
    for agent in Agent.objects.all():
        assert 20 <= agent.memories.count() <= 40
        assert agent.memories.values("kind").distinct().count() >= 4
    for team in Team.objects.all():
        assert team.memories.count() >= 15
        assert team.memories.values("kind").distinct().count() >= 4
    assert Memory.objects.exclude(superseded_by=None).get().superseded_by is not None


def test_nothing_in_its_texts_is_left_over_or_passed_over(demo: None) -> None:
    texts = [
        *AgentFile.objects.values_list("content", flat=True),
        *TeamFile.objects.values_list("content", flat=True),
        *OrganisationFile.objects.values_list("content", flat=True),
        *DailyLog.objects.values_list("content", flat=True),
        *Memory.objects.values_list("text", flat=True),
        *Document.objects.values_list("content", flat=True),
        *(str(event.content) for event in Event.objects.all()),
        *(str(entity.properties) for entity in Entity.objects.all()),
        *(f"{task.goal} {task.result}" for task in TaskFrame.objects.all()),
        *Thread.objects.values_list("summary", flat=True),
    ]
    assert not [text for text in texts if "{{" in text]
    for path in FOLDER.glob("*/*/MEMORY.md"):
        lines = parse_memory_file(path.read_text(encoding="utf-8"), path.name)
        assert (lines.other, lines.repeated) == ((), 0)


@pytest.mark.parametrize("slug", ["luna", "edda"])
def test_two_of_its_agents_have_lived(demo: None, slug: str) -> None:
    agent = Agent.objects.get(slug=slug)
    sessions = Session.objects.filter(agent=agent)
    assert sessions.count() == 4
    assert sessions.filter(ended_at=None).count() == 1  # one goes on
    for session in sessions:
        assert 25 <= session.events.count() <= 40
        assert set(EventType.values) <= set(session.events.values_list("type", flat=True))
    assert 25 <= Entity.objects.filter(agent=agent).count() <= 40
    assert 40 <= Relation.objects.filter(agent=agent).count() <= 60
    assert 6 <= Pattern.objects.filter(agent=agent, applications__gt=0).count() <= 8
    assert 5 <= Tool.objects.filter(agent=agent).exclude(schema={}).count() <= 6
    threads = Thread.objects.filter(agent=agent)
    assert 3 <= threads.count() <= 5
    assert threads.filter(status=ThreadStatus.RESOLVED).count() == 1


@pytest.mark.parametrize("slug", ["luna", "edda"])
def test_their_tasks_lie_three_deep(demo: None, slug: str) -> None:
    session = Session.objects.get(agent__slug=slug, ended_at=None)
    path = task_path(agent=session.agent, session=session)
    assert [task.depth for task in path] == [0, 1, 2]
    for task in path[1:]:
        done = TaskFrame.objects.filter(parent=task.parent, status=TaskStatus.COMPLETE)
        assert done.exists()
        assert all(sibling.result for sibling in done)


@pytest.mark.parametrize("slug", ["luna", "edda"])
def test_their_documents_are_split_without_a_worker(demo: None, slug: str) -> None:
    documents = Document.objects.filter(agent__slug=slug)
    assert 6 <= documents.count() <= 10
    assert documents.filter(is_open=True).count() == 2
    assert all(document.split_version == document.version for document in documents)
    assert not Chunk.objects.filter(embedding=None).exists()


def test_every_section_of_its_other_profiles_is_filled(demo: None) -> None:
    others = present().exclude(profile_name="conversation")
    assert sorted(others.values_list("profile_name", flat=True)) == ["coding", "operations", "research", "stack"]
    for assembly in others:
        assert [section["key"] for section in assembly.sections if not section["included"]] == [], assembly.profile_name


def test_its_contexts_show_what_dossier_does(demo: None) -> None:
    assert present().count() == len(load_plan().contexts)
    luna = {"agent_slug": "luna", "budget": 16_000, "profile_name": "conversation"}
    assert codes("knowledge", **luna) == {Code.TRUNCATED}
    assert Code.SUPERSEDED in codes("team_knowledge", **luna)
    assert Code.OUTRANKED in codes("personal_memories", **luna, topic="")
    assert codes("knowledge", agent_slug="luna", budget=2_500) == {Code.OVER_TOTAL_BUDGET}
    very_long_day = {Code.FITS, Code.TRUNCATED, Code.OVER_SECTION_BUDGET}
    assert codes("recent_activity", agent_slug="wren") == very_long_day
    assert not present().exclude(warnings=[]).exists()
    assert (
        Memory.objects.filter(team__slug="story-room").count() <= LIMIT
    )  # or the superseded one may not be considered


def test_a_search_in_it_finds_what_one_would_hope_for(demo: None) -> None:
    ferry = present().get(agent_slug="edda", profile_name="conversation")
    (best,) = decided(ferry, section="personal_memories", rank=1)
    assert "rowing ferry across the Harrow" in Memory.objects.get(id=best.ref[7:43]).text


def test_its_rule_applies_to_one_context_and_can_be_tried_there(demo: None) -> None:
    rule = StoredRule.objects.get()
    assert (rule.name, rule.scope, rule.editor_name) == ("refunds", "team", "Priya Raman")
    (told,) = [assembly for assembly in present() if assembly.request["rules"]]
    assert (told.agent_slug, told.topic.split()[4]) == ("otis", "refund")
    assert all(told.request["rules"][0]["did"].values()), "it includes, weighs and leaves out"
    trials = rule_backtest(rule=parse_described_rule(rule.content).rule, owner=rule.owner, principal=SYSTEM)
    assert trials.applying > 3


def test_its_contexts_can_be_replayed(demo: None) -> None:
    assert all(replay(load_record(assembly)).identical for assembly in Assembly.objects.all())


def test_its_past_answers_the_questions_of_an_admin(demo: None) -> None:
    today = timezone.now().date()
    days = {(today - created.date()).days for created in Assembly.objects.values_list("created", flat=True)}
    assert len(days) >= 20
    assert max(days) in {28, 29, 30}
    purposes = set(Assembly.objects.values_list("purpose", flat=True))
    assert {Purpose.AGENT, Purpose.PREVIEW} <= purposes
    assert Assembly.objects.filter(requested_by__startswith="key:").count() > 20
    assert Assembly.objects.filter(warnings__contains=["SOURCE_FAILED"]).count() == 2
    losses = FileLoss.objects.filter(ref__startswith="agent_file:").dates("created", "day")
    assert len(losses) >= 5, "Luna's KNOWLEDGE is cut on several days, by several amounts"
    assert FileLoss.objects.values("tokens_lost").distinct().count() >= 2
    assert DayCount.objects.exists()
    assert Alert.objects.exclude(closed=None).exists()
    assert not Alert.objects.filter(created__gte=timezone.now()).exists()
    rule = StoredRule.objects.get()
    assert [one.version for one in rule.versions.order_by("version")] == [1, 2]
    draft = drafts_of(User.objects.get(username="priya.raman").id)[0]
    goals = TeamFile.objects.get(team__slug="visitor-care", file_key="GOALS")
    assert draft.based_on < goals.version, "publishing it leads to the page of conflicts"


def test_one_memory_contradicts_a_file_and_waits_for_a_decision(demo: None) -> None:
    [conflict] = Conflict.objects.waiting().exclude(kind="duplicate")
    statements = {conflict.left_statement, conflict.right_statement}
    assert {"430" in one for one in statements} == {"340" in one for one in statements} == {True, False}
    assert {*conflict.cue.split(" against ")} == {"“430 metres”", "“340 metres”"}
    assert {side.kind for side in conflict.sides} == {"memory", "agent_file"}
    priya = User.objects.get(username="priya.raman").principal
    assert [*conflicts_to_decide(priya)] == [conflict]


def test_no_other_texts_are_called_contradictions_when_workers_have_compared_them_all(demo: None) -> None:
    """Nearly all pairs of texts of an installation are unrelated, unlike the pairs with labels."""
    planned = Conflict.objects.waiting().exclude(kind="duplicate").get()
    for kind, id_ in [*files_without_passages(None)]:
        file_split(kind=kind, id_=id_)
    for kind, ids in items_of_all_kinds():
        for id_ in ids:
            item_conflicts_find(kind=kind, id_=id_)
    found = Conflict.objects.waiting().exclude(kind="duplicate")
    assert [(one.left_statement, one.right_statement) for one in found.exclude(id=planned.id)] == []
    assert found.get() == planned


def test_a_recall_test_has_passed(demo: None) -> None:
    test = RecallTest.objects.get()
    assert (test.owner.slug, test.editor_name) == ("visitor-care", "Priya Raman")
    assert [result.passed for result in test.results.all()] == [True]


def test_nothing_was_told_before_it_was_known(demo: None) -> None:
    for assembly in Assembly.objects.all():
        for decision, candidate in load_record(assembly).decided:
            if decision.included and candidate.occurred_at:
                assert candidate.occurred_at <= assembly.created
