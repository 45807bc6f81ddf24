"""The largest context that can be recorded can be read and replayed, however little CPU time there is."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.engine.tokenizers import DEFAULT_TOKENIZER, Tiktoken, get_tokenizer
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records import reader as reading
from assembly.records.reader import load_record
from teams.models import Team
from teams.principal import SYSTEM
from tests.benchmarks.costly_agents import LADEN, TEAM, laden
from tests.client import Api

pytestmark = pytest.mark.django_db

NO_TIME_MS = 1


@pytest.fixture
def largest() -> Assembly:
    """A context of an agent that has the most of everything, with the largest budget."""
    laden(timezone.now())
    asked = AssemblyRequest(profile="stack", max_tokens=200_000, topic="w1 x1", budgets=RequestBudgets(time_ms=60_000))
    agent, team = Agent.objects.get(slug=LADEN), Team.objects.get(slug=TEAM)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly


@pytest.fixture
def encoded() -> Iterator[list[int]]:
    """The characters of each text that is counted from now on, in a process that knows no count of any text."""
    get_tokenizer.cache_clear()
    tokenizer = get_tokenizer(DEFAULT_TOKENIZER)
    assert isinstance(tokenizer, Tiktoken)
    found: list[int] = []
    count = tokenizer.counts._count

    def counted(text: str) -> int:
        found.append(len(text))
        return count(text)

    tokenizer.counts._count = counted
    reading._record_cache.clear()
    yield found
    get_tokenizer.cache_clear()


@pytest.mark.deep
@pytest.mark.finding("3c")
def test_the_largest_record_is_read_without_cpu_time_and_without_counting_its_texts(
    admin_api: Api, largest: Assembly, encoded: list[int], settings: Any
) -> None:
    settings.REQUEST_CPU_MS = NO_TIME_MS
    path = f"assemblies/{largest.id}"
    assert largest.tokens > 190_000
    assert admin_api.post(f"{path}/replay", {}).json()["identical"] is True
    assert len(admin_api.get(path).json()["content"]) > 500_000
    assert admin_api.get(f"{path}/decisions").status_code == 200
    considered = sum(len(one.text) for one in load_record(largest).inputs.candidates)
    assert considered > 10_000_000, "so that this is about a large record"
    assert sum(encoded) < considered / 5
