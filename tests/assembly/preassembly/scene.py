"""An agent whose past is recorded, and a worker that reads ahead for it."""

import datetime
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from prometheus_client import REGISTRY

from agents.models import Agent
from assembly.models import Assembly, Purpose
from assembly.models.assembly import packed
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyResult, assembly_cache
from assembly.pipeline.read_cache import row_cache
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.preassembly.reading_ahead import Preassembly
from assembly.sources.search_reuse import forget_searches
from config.caching.background_writes import background_writes
from config.db.statements import execute_sql
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.one_of_each import everything

A, B, C = "How is the ink mixed?", "Who has the key of the attic?", "When does the ferry leave?"

Owners = tuple[Agent, Team]


@pytest.fixture(autouse=True)
def on(settings: Any, committed_database: str) -> Iterator[None]:
    settings.PREASSEMBLY, settings.SHARED_CACHE_BYTES = True, 10_000_000
    shared_answers.shared_answers.cache_clear()
    restarted()
    yield
    background_writes.flush()
    shared_answers.shared_answers.cache_clear()


@pytest.fixture
def owners(on: None) -> Owners:
    return everything(timezone.now())


@pytest.fixture
def worker() -> Preassembly:
    return Preassembly(idle=lambda: True, rest=lambda _: None)


def ask(owners: Owners, topic: str, **asked: Any) -> AssemblyResult:
    """What the agent is told by a web process, which has no answer in its cache any more."""
    agent, team = owners
    restarted()
    wished = AssemblyRequest(topic=topic, purpose=asked.pop("purpose", Purpose.AGENT), **asked)
    return assemble(agent=agent, team=team, asked=wished, principal=SYSTEM)


def restarted() -> None:
    """As in another web process, after the lifetime of answers; shared readings live longer."""
    background_writes.flush()
    row_cache.forget()
    forget_searches()
    assembly_cache._entries.clear()
    execute_sql("DELETE FROM shared_cache WHERE expires < now() + interval '31 seconds'")


def hits_of(call: Callable[[], object]) -> tuple[float, float]:
    """How many hits and misses of pre-assembly the call counts."""
    counted = lookups_of(call)
    return counted["hit"], counted["miss"]


def lookups_of(call: Callable[[], object]) -> dict[str, float]:
    """Return how many contexts of each result the call counts."""
    before = _lookups()
    call()
    return {result: count - before[result] for result, count in _lookups().items()}


def _lookups() -> dict[str, float]:
    return {
        result: REGISTRY.get_sample_value("memory_preassembly_lookups_total", {"result": result}) or 0
        for result in ("hit", "known", "miss")
    }


def move_to(assembly: Assembly, moment: datetime.datetime) -> None:
    """Record the context once more, at that moment."""
    names = [field.attname for field in Assembly._meta.concrete_fields]
    again = Assembly(**{name: getattr(assembly, name) for name in names})
    again.id, again.created = uuid4(), moment
    again.body = packed(assembly.contents)  # an encrypted one belongs to its own record
    again.save(force_insert=True)
