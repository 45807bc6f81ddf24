"""What is answered for an agent that knows nothing: here is no organisation, either, whose files it would be told."""

import pytest

from agents.models import Agent
from tests.assembly.contract.contract_checks import ask
from tests.client import Api

pytestmark = pytest.mark.django_db


def test_an_agent_that_knows_nothing_gets_an_empty_answer(admin_api: Api, agent: Agent) -> None:
    document = ask(admin_api, agent="ada", source_scope=["L1"], format="markdown")
    assert document["fragments"] == []
    assert document["metadata"]["content"] == ""
    assert (document["metadata"]["source_coverage"], document["metadata"]["total_tokens"]) == (1, 0)
    assert ask(admin_api, "two", agent="ada", intent="")["metadata"]["quality_achieved"] is None
