"""Assembling from the database: what is read, what is refused, how many queries it takes."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent, AgentFile
from agents.services import agent_create, daily_log_append
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.http.errors import Invalid
from memories.services import MemoryFacts, memories_create, memory_create, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_create
from tests.assembly.conftest import NOW
from tests.assembly.recorded_decisions import decided

pytestmark = pytest.mark.django_db
DAY = datetime.timedelta(days=1)


def context(agent: Agent, team: Team | None = None, **options: Any) -> tuple[Assembly, str]:
    answer = assemble(
        agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(now=options.pop("now", NOW), **options)
    )
    return answer.assembly, answer.content


def codes(assembly: Assembly) -> dict[str, str]:
    return {decision.ref.split("@")[0]: decision.code for decision in decided(assembly)}


def test_everything_that_an_agent_and_its_team_keep_comes_in_its_order(luna: Agent, demo_team: Team) -> None:
    _, content = context(luna, demo_team)
    assert content == (
        "## Identity\nYou are Luna.\n\n## Instructions\nBe kind.\n\n## Team Goals\nShip the demo.\n\n"
        "## Recent Activity\n### 2025-03-14\nMet the team.\n\n## Team Knowledge\n- [decision] Use three acts\n\n"
        "## Personal Memories\n- [preference] Bullet points\n\n## Knowledge Base\nStories have a beginning."
    )


def test_without_a_team_nothing_of_a_team_is_read(luna: Agent) -> None:
    assembly, content = context(luna)
    assert "Team" not in content
    assert not decided(assembly, section=["goals", "context", "rules", "team_knowledge"])


def test_an_agent_is_not_told_about_a_team_that_it_does_not_work_in(luna: Agent) -> None:
    with pytest.raises(Invalid, match="does not work in"):
        context(luna, team_create(slug="other", name="Other"))
    assert not Assembly.objects.exists()


@pytest.mark.parametrize("options", [{"profile": "nope"}, {"tokenizer": "nope"}])
def test_what_does_not_exist_is_refused_with_what_does(luna: Agent, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=r"conversation|cl100k_base"):
        context(luna, **options)


def test_files_are_provisioned_on_the_way(luna: Agent) -> None:
    agent = Agent.objects.create(slug="old", name="Old", instructions="From before.")
    _, content = context(agent)
    assert content == "## Instructions\nFrom before."
    assert AgentFile.objects.filter(agent=agent).count() == 3


def test_a_week_is_today_and_six_days_before_in_the_time_zone_of_the_agent() -> None:
    agent = agent_create(slug="kiri", name="Kiri", timezone="Pacific/Kiritimati")  # 14 hours ahead
    today = datetime.date(2025, 3, 15)  # there, at noon UTC on the 14th
    for days in range(-1, 9):
        daily_log_append(agent=agent, date=today - days * DAY, text=f"day {days}", principal=SYSTEM)
    _, content = context(agent)
    assert [line for line in content.splitlines() if line.startswith("day")] == [f"day {n}" for n in range(7)]


def test_a_topic_finds_by_meaning_and_without_one_the_newest_come_first() -> None:
    agent = agent_create(slug="a", name="A")
    texts = ["The cat chased a mouse", *(f"Invoice {n} was paid" for n in range(6))]
    for day, text in enumerate(texts):
        memory_create(
            owner=agent, facts=MemoryFacts(kind="fact", text=text, occurred_at=NOW + day * DAY), principal=SYSTEM
        )
    _, newest = context(agent)
    _, nearest = context(agent, topic="Which animal did the kitten hunt?")
    assert newest.splitlines()[1:] == [f"- [fact] Invoice {n} was paid" for n in (5, 4, 3, 2, 1)]
    assert nearest.splitlines()[1] == "- [fact] The cat chased a mouse"


def test_where_the_search_finds_nothing_the_newest_are_used() -> None:
    agent = agent_create(slug="a", name="A")
    for day in range(7):
        facts = MemoryFacts(kind="fact", text=f"Invoice {day} was paid", occurred_at=NOW + day * DAY)
        memory_create(owner=agent, facts=facts, principal=SYSTEM)
    assembly, content = context(agent, topic="zzzz qqqq xxxx")
    assert content.splitlines()[1] == "- [fact] Invoice 6 was paid"
    assert len(decided(assembly, code="outranked")) == 2


def test_a_superseded_memory_is_left_out_and_says_so() -> None:
    agent = agent_create(slug="a", name="A")
    old, new = (
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
        for text in ("The budget is 400", "The budget is 600")
    )
    facts = MemoryFacts(kind="fact", text=old.text)
    memory_update(memory=old, expected_version=1, facts=facts, superseded_by=new, principal=SYSTEM)
    assembly, content = context(agent, topic="budget")
    assert content == "## Personal Memories\n- [fact] The budget is 600"
    assert codes(assembly)[f"memory:{old.id}"] == "superseded"


def test_memories_of_others_are_never_considered(luna: Agent, demo_team: Team) -> None:
    stranger = agent_create(slug="stranger", name="Stranger")
    memory_create(owner=stranger, facts=MemoryFacts(kind="fact", text="Three acts secret"), principal=SYSTEM)
    assembly, content = context(luna, demo_team, topic="three acts")
    assert "secret" not in content
    assert not decided(assembly, ref=[memory.ref for memory in stranger.memories.all()])


def test_the_number_of_queries_does_not_grow_with_the_rows(
    luna: Agent, demo_team: Team, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for owner in (luna, demo_team):
        facts = [MemoryFacts(kind="fact", text=f"Number {number}") for number in range(200)]
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    # one that says what may be at hand, one for all that needs no search, within a savepoint, whose end makes one more
    # with the end of the deadline; two searches by three queries each; the record
    with django_assert_num_queries(11):
        context(luna, demo_team, topic="numbers")


def test_every_row_that_a_source_returned_has_one_decision(luna: Agent, demo_team: Team) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Number {number}") for number in range(60)]
    memories_create(owner=luna, facts=facts, principal=SYSTEM)
    assembly, _ = context(luna, demo_team, topic="numbers", max_tokens=120)
    by_source = {source["name"]: source["count"] for source in assembly.sources}
    decisions = decided(assembly)
    assert len(decisions) == sum(by_source.values()) == len({(one.section, one.ref) for one in decisions})
    assert assembly.tokens == sum(decision.tokens for decision in decisions) <= 120


def test_a_topic_in_which_the_model_knows_nothing_is_no_error(luna: Agent) -> None:
    for topic in ("   ", "🙂", "\u200b", "\N{COMBINING ACUTE ACCENT}"):
        assert "Personal Memories" in context(luna, topic=topic)[1]
