"""An agent with years behind it: every section gets something, and nothing takes more queries than for a new one."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import agent_create, daily_log_append
from assembly.engine.profile import Profile, Section
from assembly.engine.query_signals import parse_signals
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import Assembly
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.gather import gather
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.sources.base import ConversationTurn, GatherContext
from assembly.sources.relations import LIMIT as RELATIONS
from assembly.sources.search_reuse import forget_searches
from assembly.sources.time_budget import TimeBudget
from memories.models import Session
from memories.services import MemoryFacts, memory_create
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conftest import NOW
from tests.assembly.large_agent import ONE_OF_EACH, TOPIC, analyse, fill
from tests.assembly.recorded_decisions import decided
from tests.postgres import cloned_database, connected_to

SITUATION = Profile(
    name="situation",
    version=1,
    sections=(
        Section("task_root", "Root Goal", "L6", "task_stack", "sequence"),
        Section("task_path", "Task Path", "L6", "task_stack", "sequence"),
        Section("sibling_results", "Done Beside It", "L6", "task_stack", "sequence"),
        Section("current_task", "Current Task", "L6", "task_stack", "sequence"),
        Section("events", "Recent Activity", "L6", "recent_events", "blocks", share=25),
        Section("content", "Relevant Content", "L6", "semantic_content", "blocks", share=30),
        Section("entities", "Known Entities", "L6", "entities", "blocks", share=10),
        Section("relations", "Relationships", "L6", "relations", "blocks", share=10),
        Section("patterns", "Applicable Patterns", "L6", "patterns", "blocks"),
        Section("files", "Open Files", "L6", "open_files", "blocks"),
        Section("threads", "Narrative Threads", "L6", "threads", "blocks"),
        Section("tools", "Tools", "L6", "tools", "blocks"),
        Section("results", "Tool Results", "L6", "tool_results", "blocks"),
        Section("additional", "Additional Context", "L6", "additional_context", "blocks"),
        Section("turns", "Recent Turns", "L6", "turns", "turns"),
    ),
)
"""Every source of layer L6."""


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, tuple[Agent, Session]]]:
    """A large agent and a small one, committed in a database of this module's own."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        team = team_create(slug="desk", name="Desk")
        large, small = (
            agent_create(slug=name.lower(), name=name, teams=[team], instructions="Be brief.")
            for name in ("Large", "Small")
        )
        for owner in (large, small, team):
            for file in owner.files.all():
                file_save(file=file, content=f"{file.file_key}.", expected_version=file.version, author=SYSTEM.author)
        for owner in (large, team):
            memory_create(owner=owner, facts=MemoryFacts(kind="fact", text="Logins time out."), principal=SYSTEM)
        organisation_file_create(key="desk", title="Desk", content="Logins are logged.", principal=SYSTEM)
        daily_log_append(agent=large, date=NOW.date(), text="Looked at the login.", principal=SYSTEM)
        sessions = fill(large, NOW), fill(small, NOW, ONE_OF_EACH)
        analyse()
        yield {"large": (large, sessions[0]), "small": (small, sessions[1])}


def gather_context(agent: Agent, session: Session | None, topic: str = TOPIC) -> GatherContext:
    return GatherContext(
        agent=agent,
        team=None,
        now=NOW,
        topic=topic,
        signals=parse_signals(topic),
        session=session,
        history=(ConversationTurn("user", topic),),
        additional_context="The shop opens at nine.",
    )


@pytest.mark.parametrize("topic", [TOPIC, ""])
@pytest.mark.parametrize("size", [pytest.param("large", marks=pytest.mark.deep), "small"])
def test_every_section_gets_candidates(filled: dict[str, tuple[Agent, Session]], size: str, topic: str) -> None:
    gathered = gather(SITUATION, gather_context(*filled[size], topic=topic), TimeBudget.running(None))
    candidates, reports = gathered.candidates, gathered.reports
    assert {candidate.section for candidate in candidates} == {section.key for section in SITUATION.sections}
    assert all(report.count <= report.limit for report in reports)
    assert len({(candidate.section, candidate.ref) for candidate in candidates}) == len(candidates)


def test_a_large_agent_takes_as_many_queries_as_a_small_one(filled: dict[str, tuple[Agent, Session]]) -> None:
    counts = []
    for agent, session in filled.values():
        with CaptureQueriesContext(connection) as captured:
            gather(SITUATION, gather_context(agent, session), TimeBudget.running(None))
        counts.append(len(captured))
    # Two open and close the snapshot; the rules; the current task and the mentioned entities; two for the task stack;
    # one each for events, content, entities, relations, patterns, files, threads, tools and tool results.
    assert counts == [2 + 1 + 2 + 2 + 9] * 2


def test_the_same_question_gathers_the_same(filled: dict[str, tuple[Agent, Session]]) -> None:
    question, time = gather_context(*filled["large"]), TimeBudget.running(None)
    first, second = (gather(SITUATION, question, time).candidates for _ in range(2))
    assert first == second


def test_limits_hold_however_much_there_is(filled: dict[str, tuple[Agent, Session]]) -> None:
    reports = gather(SITUATION, gather_context(*filled["large"]), TimeBudget.running(None)).reports
    counts = {report.name: report.count for report in reports}
    assert counts["relations"] == RELATIONS
    assert counts["semantic_content"] == counts["patterns"] == counts["tools"] == 20
    assert 50 < counts["recent_events"] <= 50 + 50 + 25
    assert counts["tool_results"] == 10
    assert counts["open_files"] == 6


# --- The profile `coding`, from the question to the replay ---------------------------------------------------------


def coding(agent: Agent, session: Session, **wishes: Any) -> AssemblyResult:
    asked = AssemblyRequest(
        profile="coding",
        topic=TOPIC,
        now=NOW,
        session=str(session.id),
        history=(
            ConversationTurn("user", TOPIC),
            ConversationTurn("assistant", "Let me look."),
            ConversationTurn("user", "Please do."),
        ),
        additional_context="The shop opens at nine.",
        **wishes,
    )
    team = agent.teams.get()
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)


def test_coding_fills_every_section_of_a_large_agent(filled: dict[str, tuple[Agent, Session]]) -> None:
    sections = coding(*filled["large"]).assembly.sections
    empty = {section["key"] for section in sections if not section["included"]}
    assert empty <= {"personal_memories"}, "its own memories may be those of the team, which come first"


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "chars4"])
@pytest.mark.parametrize("max_tokens", [0, 700, 4_000, 16_000, 32_000, 200_000])
def test_the_promises_hold_on_the_record(
    filled: dict[str, tuple[Agent, Session]], max_tokens: int, tokenizer: str
) -> None:
    answer = coding(*filled["large"], max_tokens=max_tokens, tokenizer=tokenizer)
    assembly, decisions = answer.assembly, decided(answer.assembly)
    count = get_tokenizer(tokenizer).count
    assert assembly.tokens == count(answer.content) == sum(decision.tokens for decision in decisions)
    if assembly.warnings:  # what is required is larger than the budget, and stands alone
        assert {decision.section for decision in decisions if decision.included} <= {"identity", "instructions"}
    else:
        assert assembly.tokens <= max_tokens
    for section in assembly.sections:
        assert section["cap"] is None or section["tokens"] <= section["cap"]
    considered = sum(source["count"] for source in assembly.sources)
    assert considered == len(decisions) == len({(one.section, one.ref) for one in decisions})
    again = replay(load_record(Assembly.objects.get(id=assembly.id)))
    assert (again.identical, again.content) == (True, answer.content)
    uncached = coding(*filled["large"], max_tokens=max_tokens, tokenizer=tokenizer)
    assert (uncached.content, uncached.assembly.sha256) == (answer.content, assembly.sha256)


def test_coding_takes_as_many_queries_whatever_there_is(filled: dict[str, tuple[Agent, Session]]) -> None:
    counts = []
    for place, (agent, session) in enumerate(filled.values()):
        coding(agent, session)  # what is loaded once, and files that are provisioned
        forget_searches()
        with CaptureQueriesContext(connection) as captured:
            coding(agent, session, max_tokens=9_000 + place)
        counts.append(len(captured))
    assert counts[0] == counts[1]
