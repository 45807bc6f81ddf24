"""Time travel: as of each moment of a story, the context is byte for byte the one that was told there."""

import datetime

import pytest
from django.db import InternalError, connection

from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create, profile_save
from assembly.profiles.shipped import SHIPPED
from assembly.simulation.time_travel.services import PastContext, assemble_as_of
from assembly.simulation.time_travel.shadow_tables import database_as_of
from config.http.errors import Invalid
from memories.embeddings.file_splitting import file_split, files_without_passages
from memories.search import candidates, owner_sample
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from teams.services import team_create
from tests.assembly.one_of_each import everything
from tests.assembly.simulation.time_travel.edit_story import BEGUN, PROFILE, Story, clock_set, story_begun

pytestmark = pytest.mark.django_db

STEPS = 14
WISHES = (
    AssemblyRequest(topic="the ferry of the market", profile="memory"),
    AssemblyRequest(),
    AssemblyRequest(topic="the lantern at the harbour"),
    AssemblyRequest(topic="which tide was it yesterday?", profile="quay"),
    AssemblyRequest(profile="quay", max_tokens=90),
)


def as_of(story: Story, moment: datetime.datetime, asked: AssemblyRequest) -> PastContext:
    return assemble_as_of(agent=story.agent, team=story.team, asked=asked, moment=moment, principal=SYSTEM)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in (1, 2, 3))])
def test_as_of_each_moment_it_is_what_was_told_then(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    story = story_begun(monkeypatch, seed)
    told = []
    for _ in range(STEPS):
        story.goes_on()
        if story.chance.random() < 0.5:  # sometimes the jobs that split files have run
            for kind, id_ in list(files_without_passages(None)):
                file_split(kind=kind, id_=id_)
        for asked in WISHES:
            answer = assemble(agent=story.agent, team=story.team, asked=asked, principal=SYSTEM)
            told.append((story.clock.now, asked, answer))
    story.clock.goes_on(days=30)
    rows = Assembly.objects.count()
    for moment, asked, answer in told:
        then = as_of(story, moment, asked).context
        assert then.content == answer.content
        fates = [(one.section, one.ref, one.code, one.rank) for one in answer.decisions]
        assert [(one.section, one.ref, one.code, one.rank) for one in then.decisions] == fates
    assert Assembly.objects.count() == rows


def test_without_a_team_it_is_as_of_then_too(monkeypatch: pytest.MonkeyPatch) -> None:
    story = story_begun(monkeypatch, seed=3)
    asked = AssemblyRequest(topic="the lantern")
    for _ in range(5):
        story.goes_on()
    answer = assemble(agent=story.agent, asked=asked, principal=SYSTEM)
    then = story.clock.now
    for _ in range(5):
        story.goes_on()
    found = assemble_as_of(agent=story.agent, asked=asked, moment=then, principal=SYSTEM)
    assert found.context.content == answer.content


def test_of_an_owner_with_many_memories_the_same_ones_come_into_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "EXACT_ROWS", 0)
    monkeypatch.setattr(owner_sample, "ROWS", 200)
    story = story_begun(monkeypatch, seed=7)
    facts = [
        MemoryFacts(kind="fact", text=story.text(), occurred_at=BEGUN - datetime.timedelta(hours=hour))
        for hour in range(90)
    ]
    memories_create(owner=story.agent, facts=facts, principal=SYSTEM)
    asked = AssemblyRequest(topic="the lantern of the captain")
    answer = assemble(agent=story.agent, team=story.team, asked=asked, principal=SYSTEM)
    then = story.clock.now
    for _ in range(12):
        story.goes_on()
    assert as_of(story, then, asked).context.content == answer.content


def test_nothing_can_be_written_in_the_past(monkeypatch: pytest.MonkeyPatch) -> None:
    story = story_begun(monkeypatch, seed=1)
    with (
        pytest.raises(InternalError, match="read-only"),
        database_as_of(BEGUN, [story.agent.id]),
        connection.cursor() as cursor,
    ):
        cursor.execute("INSERT INTO change_counters VALUES (%s, 1, 1)", [story.agent.id])


@pytest.mark.parametrize("profile", SHIPPED)
def test_all_that_an_agent_keeps_is_read_as_ever(monkeypatch: pytest.MonkeyPatch, profile: str) -> None:
    monkeypatch.setattr("assembly.pipeline.gather.PendingExternalSources.asked", lambda *_: None)
    clock = clock_set(monkeypatch, BEGUN)
    agent, team = everything(BEGUN)
    asked = AssemblyRequest(topic="Is the ink dry before the deadline?", profile=profile)
    answer = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    clock.goes_on(days=9)
    found = assemble_as_of(agent=agent, team=team, asked=asked, moment=BEGUN, principal=SYSTEM)
    assert found.context.content == answer.content
    assert found.context.decisions == answer.decisions


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (datetime.datetime(1, 1, 1, tzinfo=datetime.UTC), "was created on 2026-03-01 19:00:00 (Pacific/Auckland)"),
        (datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC), "This time is in the future. Choose an earlier one."),
        (BEGUN - datetime.timedelta(seconds=1), "Choose a later time"),
        (BEGUN + datetime.timedelta(days=9), "This time is in the future. Choose an earlier one."),
    ],
)
def test_a_moment_that_cannot_be_looked_back_to(
    monkeypatch: pytest.MonkeyPatch, moment: datetime.datetime, said: str
) -> None:
    story = story_begun(monkeypatch, seed=1)
    with pytest.raises(Invalid) as refused:
        as_of(story, moment, AssemblyRequest())
    assert said in refused.value.detail
    assert "at" in refused.value.extra["errors"]


def test_a_profile_that_was_not_written_yet_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    story = story_begun(monkeypatch, seed=1)
    then = story.clock.now
    story.clock.goes_on(hours=1)
    content = PROFILE.replace("name: quay", "name: later").format(budget=400, cap=60)
    profile_create(name="later", content=content, principal=SYSTEM)
    with pytest.raises(Invalid, match="no profile “later”"):
        as_of(story, then, AssemblyRequest(profile="later"))


def test_a_shipped_profile_is_as_it_was_before_it_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    story = story_begun(monkeypatch, seed=1)
    then = story.clock.now
    story.clock.goes_on(hours=1)
    changed = SHIPPED["research"].replace("budget: 32000", "budget: 900")
    profile_save(name="research", content=changed, expected_version=1, principal=SYSTEM)
    after = story.clock.now
    story.clock.goes_on(hours=1)
    assert as_of(story, then, AssemblyRequest(profile="research")).context.budget == 32_000
    assert as_of(story, after, AssemblyRequest(profile="research")).context.budget == 900


def test_a_team_that_it_does_not_work_in(monkeypatch: pytest.MonkeyPatch) -> None:
    story = story_begun(monkeypatch, seed=1)
    other = team_create(slug="other", name="Other")
    with pytest.raises(Invalid, match="does not work in Other"):
        assemble_as_of(agent=story.agent, team=other, asked=AssemblyRequest(), moment=story.clock.now, principal=SYSTEM)
