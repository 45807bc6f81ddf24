"""Trying a text shows exactly the context that publishing it makes; nothing is recorded, nothing else is different."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from random import Random
from typing import Any

import pytest

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_create, daily_log_append, daily_log_create
from assembly.comparison.side_by_side import SideBySide
from assembly.engine.codes import Code
from assembly.models import Assembly, StoredRule, StoredText
from assembly.pipeline.answer_cache import AssemblyCache
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_create
from assembly.simulation.draft_preview import services as trials
from assembly.simulation.draft_preview.services import preview_drafts
from assembly.sources.file_passages import DRAFT
from config.http.errors import Invalid
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import VersionedFile, file_save
from tests.assembly.conftest import NOW
from tests.assembly.one_of_each import everything

pytestmark = pytest.mark.django_db
DAY = datetime.timedelta(days=1)
PARAGRAPH = "The tide table hangs beside the door of the net loft, and whoever opens up reads it aloud."


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "kept", AssemblyCache[SideBySide]())


def tried(agent: Agent, team: Team | None, texts: dict[str, str], **options: Any) -> SideBySide:
    return preview_drafts(agent=agent, team=team, asked=AssemblyRequest(**{"now": NOW, **options}), texts=texts)


def told(agent: Agent, team: Team | None, **options: Any) -> Any:
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(**{"now": NOW, **options}))


def publish(file: VersionedFile, content: str) -> None:
    file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


def rich(chance: Random) -> tuple[Agent, Team]:
    """An agent and a team that keep so much that any text may push something out."""
    team = team_create(slug="loft", name="Loft")
    agent = agent_create(slug="nell", name="Nell", teams=[team], instructions=_text(chance, 3))
    for file in (*agent.files.all(), *team.files.all()):
        publish(file, _text(chance, chance.randrange(12)))
    for days in range(7):
        if chance.random() < 0.7:
            log = _text(chance, chance.randrange(1, 20))
            daily_log_append(agent=agent, date=NOW.date() - days * DAY, text=log, principal=SYSTEM)
    facts = [MemoryFacts(kind="fact", text=f"{_text(chance, 1)} Number {number}.") for number in range(8)]
    memories_create(owner=team, facts=facts, principal=SYSTEM)
    memories_create(owner=agent, facts=facts[:4], principal=SYSTEM)
    if chance.random() < 0.5:
        content = "then: {always_include: [{path: GOALS}, {path: KNOWLEDGE}], exclude: [{memory_kind: decision}]}\n"
        rule_create(name="always", content=content, owner=agent, principal=SYSTEM)
    return agent, team


def _text(chance: Random, paragraphs: int) -> str:
    words = PARAGRAPH.split()
    return "\n\n".join(" ".join(chance.sample(words, chance.randrange(3, len(words)))) for _ in range(paragraphs))


def _any_text(agent: Agent, team: Team, chance: Random) -> tuple[str, Callable[[str], object]]:
    """What a text is about, and how it is published: any file, a log that is there, or one that is not begun."""
    day = NOW.date() - chance.randrange(9) * DAY
    log = DailyLog.objects.filter(agent=agent, date=day).first()
    files: list[VersionedFile] = [*agent.files.all(), *team.files.all(), *([log] if log else [])]
    if not log and chance.random() < 0.3:
        about = DailyLog(agent=agent, date=day).about
        return about, lambda text: daily_log_create(agent=agent, date=day, content=text, principal=SYSTEM)
    file = chance.choice(files)
    return file.about, lambda text: publish(file, text)


@pytest.mark.parametrize("profile", ["conversation", "coding", "stack"])
@pytest.mark.parametrize("seed", range(6))
def test_publishing_a_text_makes_the_context_that_trying_it_showed(seed: int, profile: str) -> None:
    chance = Random(seed)
    agent, team = rich(chance)
    wishes = {
        "topic": chance.choice(["", "the tide table", "who reads aloud"]),
        "max_tokens": chance.choice([0, 60, 300, 900, 2_500, 16_000]),
        "profile": profile,
    }
    before = told(agent, team, **wishes)
    for _ in range(3):
        about, published = _any_text(agent, team, chance)
        text = _text(chance, chance.randrange(25))
        found = tried(agent, team, {about: text}, **wishes)
        assert found.before.content == before.content
        published(text)
        after = told(agent, team, **wishes)
        assert found.after.content == after.content
        assert found.after.tokens == after.assembly.tokens
        assert [one.code for one in found.after.decisions] == [one.code for one in after.decisions]
        assert list(found.after.warnings) == after.assembly.warnings
        before = after


def test_one_of_everything_is_tried_as_it_would_be_told() -> None:
    agent, team = everything()
    goals = team.files.get(file_key="GOALS")
    wishes = {"topic": "Is the ink dry?", "profile": "coding"}
    content = "then: {always_include: [{path: GOALS}], boost: [{source: recent_events, weight: 3}]}\n"
    rule_create(name="goals", content=content, owner=team, principal=SYSTEM)
    found = tried(agent, team, {goals.about: "Print it in colour."}, **wishes)
    publish(goals, "Print it in colour.")
    assert found.after.content == told(agent, team, **wishes).content
    assert "Print it in colour." in found.after.content
    assert StoredRule.objects.filter(name="goals").exists()


def test_invisible_characters_are_removed_as_by_publishing(luna: Agent, demo_team: Team) -> None:
    goals = demo_team.files.get(file_key="GOALS")
    text = "Ship the \u200bdemo.\u202e"
    found = tried(luna, demo_team, {goals.about: text})
    publish(goals, text)
    assert found.after.content == told(luna, demo_team).content


def test_nothing_is_recorded_and_no_agent_notices(luna: Agent, demo_team: Team) -> None:
    goals = demo_team.files.get(file_key="GOALS")
    context = told(luna, demo_team)
    rows = Assembly.objects.count(), StoredText.objects.count()
    found = tried(luna, demo_team, {goals.about: "Another goal."})
    assert (Assembly.objects.count(), StoredText.objects.count()) == rows
    assert told(luna, demo_team).content == context.content == found.before.content
    assert "Another goal." in found.after.content


def test_texts_that_the_context_is_not_made_of_change_nothing(luna: Agent, demo_team: Team) -> None:
    other = team_create(slug="other", name="Other")
    theirs = other.files.get(file_key="GOALS")
    long_ago = DailyLog(agent=luna, date=NOW.date() - 7 * DAY)
    same = luna.files.get(file_key="IDENTITY")
    texts = {theirs.about: "Theirs", long_ago.about: "Long ago", same.about: same.content, "nobody:1": "Nobody's"}
    found = tried(luna, demo_team, texts)
    assert found.comparison.is_same
    assert found.before == found.after
    assert tried(luna, None, {demo_team.files.get(file_key="GOALS").about: "Unread"}).comparison.is_same


def test_the_log_of_a_day_that_is_not_begun_stands_among_the_others(luna: Agent) -> None:
    yesterday = DailyLog(agent=luna, date=NOW.date() - DAY)
    found = tried(luna, None, {yesterday.about: "Wrote the end."})
    assert "### 2025-03-14\nMet the team.\n\n### 2025-03-13\nWrote the end." in found.after.content
    (came,) = found.comparison.newly_in
    assert came.decision.ref == f"{yesterday.about}@{DRAFT}"


def test_what_a_longer_text_pushes_out_is_told(luna: Agent, demo_team: Team) -> None:
    context = told(luna, demo_team)
    goals = demo_team.files.get(file_key="GOALS")
    budget = context.assembly.tokens
    found = tried(luna, demo_team, {goals.about: "Ship the demo, and the one after it."}, max_tokens=budget)
    (knowledge,) = [*found.comparison.newly_cut, *found.comparison.pushed_out]
    assert knowledge.decision.section == "knowledge"
    assert knowledge.decision.code in {Code.TRUNCATED, Code.OVER_TOTAL_BUDGET}
    assert sum(one.tokens_before for one in found.comparison.sections) == found.comparison.tokens_before == budget
    assert sum(one.tokens_after for one in found.comparison.sections) == found.comparison.tokens_after


def test_several_texts_are_tried_at_once(luna: Agent, demo_team: Team) -> None:
    files = [demo_team.files.get(file_key="RULES"), luna.files.get(file_key="KNOWLEDGE")]
    found = tried(luna, demo_team, {file.about: f"New {file.about}" for file in files})
    for file in files:
        publish(file, f"New {file.about}")
    assert found.after.content == told(luna, demo_team).content


def test_missing_files_are_provided_on_the_way(db: None) -> None:
    agent = Agent.objects.create(slug="old", name="Old", instructions="From before.")
    assert tried(agent, None, {}).before.content == "## Instructions\nFrom before."
    assert AgentFile.objects.filter(agent=agent).count() == 3


@pytest.mark.parametrize("options", [{"profile": "nope"}, {"tokenizer": "nope"}])
def test_what_cannot_be_assembled_cannot_be_tried(options: dict[str, Any], luna: Agent, demo_team: Team) -> None:
    with pytest.raises(Invalid):
        tried(luna, demo_team, {}, **options)
    with pytest.raises(Invalid, match="does not work in"):
        tried(luna, team_create(slug="other", name="Other"), {})


def test_the_same_again_is_not_run_again_until_something_changes(
    luna: Agent, demo_team: Team, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    goals = demo_team.files.get(file_key="GOALS")
    texts = {goals.about: "Another goal."}
    first = tried(luna, demo_team, texts)
    with django_assert_num_queries(1):
        assert tried(luna, demo_team, texts) is first
    assert tried(luna, demo_team, {goals.about: "A third goal."}) is not first
    publish(goals, "Saved meanwhile.")
    assert "Saved meanwhile." in tried(luna, demo_team, texts).before.content


def test_both_contexts_come_of_one_gathering(
    luna: Agent, demo_team: Team, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    goals = demo_team.files.get(file_key="GOALS")
    tried(luna, demo_team, {})
    with django_assert_num_queries(4):
        tried(luna, demo_team, {goals.about: "Another goal."})
