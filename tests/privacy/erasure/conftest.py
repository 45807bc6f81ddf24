"""A committed database in which everything says something about one person."""

from collections.abc import Iterator

import pytest

from agents.models import Agent
from privacy.erasure import table_rewrite
from teams.models import Team, User
from tests.client import Api
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.privacy.erasure.world import Told, no_other_requests, tell


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
