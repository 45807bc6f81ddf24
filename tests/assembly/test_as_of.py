"""Time travel: as of each moment of a story, the context is byte for byte the one that was told there."""

import datetime
from random import Random

import pytest

from agents.services import agent_create
from assembly.as_of.service import AsOf, assemble_as_of
from assembly.asked import Asked
from assembly.models import Assembly
from assembly.profiles.services import profile_create
from assembly.service import assemble
from memories.services import MemoryFacts, memory_create
from teams.principal import SYSTEM
from teams.services import team_create
from tests.assembly.as_of_story import PROFILE, Story, clock_set

pytestmark = pytest.mark.django_db

BEGUN = datetime.datetime(2026, 3, 1, 6, tzinfo=datetime.UTC)
STEPS = 14
WISHES = (
    Asked(),
    Asked(topic="the lantern at the harbour"),
    Asked(topic="which tide was it yesterday?", profile="quay"),
    Asked(profile="quay", max_tokens=90),
)


def story_begun(monkeypatch: pytest.MonkeyPatch, seed: int) -> Story:
    clock = clock_set(monkeypatch, BEGUN)
    team = team_create(slug="quay", name="Quay")
    agent = agent_create(slug="mira", name="Mira", teams=[team], timezone="Pacific/Auckland")
    profile_create(name="quay", content=PROFILE.format(budget=400, cap=60), principal=SYSTEM)
    for owner in (agent, team):
        memory_create(owner=owner, facts=MemoryFacts(kind="fact", text="The tide turns the ferry"), principal=SYSTEM)
    return Story(agent, team, clock, Random(seed))


def as_of(story: Story, moment: datetime.datetime, asked: Asked) -> AsOf:
    return assemble_as_of(agent=story.agent, team=story.team, asked=asked, moment=moment, principal=SYSTEM)


@pytest.mark.parametrize("seed", range(6))
def test_as_of_each_moment_it_is_what_was_told_then(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    story = story_begun(monkeypatch, seed)
    told = []
    for _ in range(STEPS):
        story.goes_on()
        for asked in WISHES:
            answer = assemble(agent=story.agent, team=story.team, asked=asked, principal=SYSTEM)
            told.append((story.clock.now, asked, answer))
    story.clock.goes_on(days=30)
    rows = Assembly.objects.count()
    for moment, asked, answer in told:
        then = as_of(story, moment, asked).told.assembled
        assert then.content == answer.content
        fates = [(one.section, one.ref, one.code, one.rank) for one in answer.decisions]
        assert [(one.section, one.ref, one.code, one.rank) for one in then.decisions] == fates
    assert Assembly.objects.count() == rows
