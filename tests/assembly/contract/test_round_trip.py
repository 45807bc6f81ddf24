"""Generated requests, each valid by the published schema, get answers that are valid by the other one, twice the same.

The queries of a request are counted: more of them would be slower for everybody.
"""

from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache
from memories.models import Entity, Event, Pattern, Thread
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.assembly.contract.contract_checks import REQUESTS, check_answer, sent
from tests.assembly.contract.request_strategies import requests
from tests.assembly.one_of_each import everything
from tests.client import Api
from tests.examples import examples

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
_numbers = count()


@pytest.fixture(scope="module")
def key(module_database: str) -> str:
    agent = everything(timezone.now())[0]
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    return api_key_create(agent=agent, scopes=[ApiKey.Scope.RESTRICTED])[1]


@pytest.fixture(autouse=True)
def _no_older_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


@settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(body=requests(), whole=st.booleans())
def test_a_valid_request_gets_a_valid_answer_and_gets_it_again(body: dict[str, Any], whole: bool, key: str) -> None:
    body = {**body, "request_id": f"{next(_numbers)} {body['request_id']}"[:200]}
    if whole:
        body["format"] = "messages"
    REQUESTS.validate(body)
    api = Api(key)
    answer = api.post("memory/assemble", body)
    assert answer.status_code == 201, answer.content
    document = answer.json()
    check_answer(document)
    assert document["request_id"] == body["request_id"]
    most = body.get("budgets", {}).get("tokens_max")
    assert most is None or document["metadata"]["overrun"] or document["metadata"]["total_tokens"] <= most
    assert api.post("memory/assemble", body).content == answer.content


def queries_of(api: Api, request_id: str, **members: Any) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        assert sent(api, request_id, **members).status_code == 201
    return [query["sql"] for query in captured]


def test_a_request_asks_the_database_little_more_than_the_other_endpoint(key: str) -> None:
    api = Api(key)
    body = {"agent": "mira", "team": "press", "topic": "Is the ink dry?", "profile": "memory"}
    queries_of(api, "warm", intent="Is the ink dry, by now?")
    with CaptureQueriesContext(connection) as captured:
        assert api.post("assemblies", body).status_code == 201
    usual = len(captured)
    # The id is looked up; the agent's teams are read in place of the named one; a savepoint, the claim, its release.
    mine = queries_of(api, "one", intent="Is the ink dry now?")
    assert len(mine) <= usual + 5, "\n".join(mine)
    # The key, the id, the record with its body and its pieces; who may see it.
    again = queries_of(api, "one", intent="Is the ink dry now?")
    assert len(again) <= 5, "\n".join(again)


def test_more_of_everything_needs_no_more_queries(key: str, module_database: str) -> None:
    def asked(word: str) -> int:
        return len(queries_of(Api(key), word, intent=f"Which sheet is wet {word}?"))

    agent = Agent.objects.get(slug="mira")
    asked("today")
    few = asked("now")
    facts = [MemoryFacts(kind="fact", text=f"The sheet {number} is wet.") for number in range(30)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    for number in range(30):
        text, moment = f"The sheet {number} is wet.", timezone.now()
        content = {"role": "user", "text": text}
        Event.objects.create(agent=agent, type="message", content=content, size=40, occurred_at=moment)
        Entity.objects.create(agent=agent, type="sheet", name=f"Sheet {number}")
        Pattern.objects.create(agent=agent, name=f"Dry {number}", keywords=["wet"], guidance=text)
        Thread.objects.create(agent=agent, title=f"Sheets {number}", summary=text, touched_at=moment)
    asked("again")
    assert asked("still") <= few
