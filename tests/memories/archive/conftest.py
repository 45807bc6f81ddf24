"""An organisation with everything that is hard to write down exactly."""

import datetime

import pytest

from agents.models import Agent
from agents.services import agent_create, daily_log_create
from memories.services import MemoryFacts, facts_of, memories_create, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save

EXACT = "---\r\nfront: matter\r\n---\r\n\r\n# Ünïcödé \u2028 \t\r\nno final newline  "
MEMORIES = (
    MemoryFacts(kind="decision", text="Ship on Tuesdays."),
    MemoryFacts(kind="fact", text="Two lines\n  - and a list\n\n- [fact] that looks like a memory\n", salience=0.9),
    MemoryFacts(kind="fact", text="  leading, trailing  \r\n\r\n\x0b\u00a0\n", external_id="mail:17 --> “x”"),
    MemoryFacts(kind="fact", text='<!-- {"id":1} -->', credibility=0.125),
    MemoryFacts(
        kind="learning", text="When it rains", occurred_at=datetime.datetime(2026, 3, 1, 9, 0, 1, 5, datetime.UTC)
    ),
    MemoryFacts(kind="learning", text="When it rains"),
)


@pytest.fixture
def team(db: None) -> Team:
    team = team_create(slug="care", name="Customer “Care” & Co.")
    file_save(file=team.files.get(file_key="GOALS"), content=EXACT, expected_version=1, author=SYSTEM.author)
    memories_create(owner=team, facts=MEMORIES[:1], principal=SYSTEM)
    return team


@pytest.fixture
def agent(team: Team) -> Agent:
    agent = agent_create(slug="ada", name="Ada", teams=[team], timezone="Europe/Berlin", instructions="Be kind.\n")
    for day, content in ((1, EXACT), (2, ""), (3, "\ufeffwith a mark")):
        daily_log_create(agent=agent, date=datetime.date(2026, 3, day), content=content, principal=SYSTEM)
    first, *_, last = memories_create(owner=agent, facts=MEMORIES, principal=SYSTEM)
    memory_update(memory=first, expected_version=1, facts=facts_of(first), superseded_by=last, principal=SYSTEM)
    return agent
