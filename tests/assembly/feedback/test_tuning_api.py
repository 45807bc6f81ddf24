"""REST of a tuning: everyone reads it, organisation admins change it."""

import pytest

from agents.models import Agent
from assembly.models import Assembly
from tests.assembly.feedback.tuning_factories import made, measured
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def record(agent: Agent) -> Assembly:
    return made(agent)


def test_everyone_reads_the_tuning_and_admins_change_it(record: Assembly, agent_api: Api, admin_api: Api) -> None:
    measured(contradiction_rate=1)
    found = agent_api.get("profiles/memory/tuning").json()
    assert (found["is_on"], found["conflict_sensitivity"], found["entity_share"]) == (True, 1.2, 1)
    (version,) = found["versions"]
    assert (version["change"], version["before"], version["after"], version["mean"]) == ("contradictions", 1, 1.2, 1)
    assert len(version["evidence"]) == 50
    assert agent_api.put("profiles/memory/tuning", {"is_on": False}).status_code == 403
    assert agent_api.delete("profiles/memory/tuning").status_code == 403
    assert admin_api.put("profiles/memory/tuning", {"is_on": False}).json()["is_on"] is False
    assert admin_api.delete("profiles/memory/tuning").status_code == 204
    assert agent_api.get("profiles/memory/tuning").json()["conflict_sensitivity"] == 1


def test_bad_requests_are_refused(admin_api: Api) -> None:
    assert errors_of(admin_api.put("profiles/memory/tuning", {"is_on": "yes"})) == {"is_on"}
    assert errors_of(admin_api.put("profiles/memory/tuning", {})) == {"is_on"}
    assert problem(admin_api.put("profiles/conversation/tuning", {"is_on": True}))[0] == 409
    assert admin_api.get("profiles/unknown/tuning").status_code == 404
