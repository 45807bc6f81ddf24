"""An agent with files and memories, and tests of what its contexts must include."""

import pytest

from agents.models import Agent, AgentFile
from assembly.models import RecallTest
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save

RULE_TEXT = "Never promise a refund before the parcel is scanned."


@pytest.fixture
def knowledge(agent: Agent) -> AgentFile:
    file = agent.files.get(file_key="KNOWLEDGE")
    return file_save(
        file=file, content=f"# Refunds\n\n{RULE_TEXT}\n", expected_version=file.version, author=SYSTEM.author
    )


@pytest.fixture
def memory(agent: Agent) -> Memory:
    facts = MemoryFacts(kind="fact", text="The courier collects returned parcels on Tuesday.")
    return memory_create(owner=agent, facts=facts, principal=SYSTEM)


@pytest.fixture
def refund_test(agent: Agent, team: Team, knowledge: AgentFile, memory: Memory) -> RecallTest:
    """A test of the team for its one agent; it passes."""
    return create(
        Expectation("include", ref=f"memory:{memory.id}"), Expectation("include", text=RULE_TEXT), agent=None, team=team
    )


def create(
    *expectations: Expectation, agent: Agent | None, team: Team | None, name: str = "Refunds", profile: str = ""
) -> RecallTest:
    facts = RecallFacts(
        name=name, topic="When is a refund for a returned parcel paid?", expectations=expectations, profile=profile
    )
    return recall_test_create(agent=agent, team=team, facts=facts, principal=SYSTEM)
