"""A committed database in which everything says something about one person."""

from collections.abc import Iterator

import pytest

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.services import MemoryFacts, memory_create
from privacy.erasure import table_rewrite
from privacy.models import Subject
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.privacy.erasure.world import Told, follow_all, no_other_requests, run_all_jobs, tell
from tests.privacy.subject_factories import NAME, link_all, scanned_subject


@pytest.fixture(autouse=True)
def patient_rewrites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables wait for transactions of other tests before they are written anew.

    For PostgreSQL, each transaction of the whole server that writes may still need the rows that were deleted since.
    """
    monkeypatch.setattr(table_rewrite, "ATTEMPTS", 60)


@pytest.fixture(autouse=True)
def without_waiting() -> Iterator[None]:
    """Keys are destroyed at once: no request runs in these tests that could still use them."""
    with no_other_requests():
        yield


@pytest.fixture
def told(committed_database: str, agent: Agent, team: Team, owner: User, admin_api: Api) -> Told:
    """Everything about the person, in fifty contexts and everywhere else."""
    return tell(agent, team, owner, admin_api)


@pytest.fixture
def told_twice(committed_database: str, agent: Agent) -> Subject:
    """A person of whom a memory says something, in two contexts whose requests name them."""
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} likes tea."), principal=SYSTEM)
    run_all_jobs()
    for topic in ("hot drinks", f"What does {NAME} like?"):
        assemble(agent=agent, asked=AssemblyRequest(topic=topic, entities=(NAME,)), principal=SYSTEM)
    follow_all()
    subject = scanned_subject()
    link_all(subject)
    return subject
