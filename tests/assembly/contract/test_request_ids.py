"""The same request_id with the same body has one assembly and one answer, byte for byte, whatever happens meanwhile."""

import json
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent, AgentFile
from assembly.contract.request_ids import RETENTION
from assembly.models import Assembly, MemoryRequest
from assembly.records.followers import new_assemblies_follow
from assembly.records.pruning import records_prune
from memories.models import Chunk, Document, Entity, Event, Memory, Pattern, Thread, Tool
from teams.access import team_for
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.contract.contract_checks import ask, sent
from tests.assembly.one_of_each import everything
from tests.assembly.pipeline.stored_texts import recorded_texts
from tests.assembly.records.conftest import keep
from tests.client import Api, errors_of, problem
from tests.concurrency import at_once


def forget_everything(agent: Agent) -> None:
    """Edit every file and delete every item of the agent and its team."""
    team = team_for(SYSTEM, "press")
    for file in [*AgentFile.objects.filter(agent=agent), *team.files.all()]:
        file_save(file=file, content="Something else.", expected_version=file.version, author=SYSTEM.author)
    for model in (Chunk, Document, Event, Entity, Pattern, Thread, Tool):
        model.objects.all().delete()
    with connection.cursor() as cursor:
        for memory in Memory.objects.all():
            cursor.execute("SELECT erase('memories', %s, 'system')", [memory.id])


@pytest.mark.django_db
def test_the_answer_is_the_same_after_everything_was_edited_or_deleted(mira: Agent, mira_api: Api) -> None:
    members: dict[str, Any] = {"format": "messages", "budgets": {"tokens_max": 150}}
    first = sent(mira_api, **members)
    assert first.json()["fragments"]
    forget_everything(mira)
    second = sent(mira_api, **members)
    assert (second.status_code, second.content) == (201, first.content)
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert second["Location"] == first["Location"] == f"/api/v1/assemblies/{first.json()['metadata']['assembly']}"
    assert Assembly.objects.count() == 1
    other = ask(mira_api, "two", **members)
    assert other["fragments"] != first.json()["fragments"]


@pytest.mark.django_db
def test_members_in_another_order_are_the_same_request(mira_api: Api) -> None:
    first = mira_api.post("memory/assemble", {"request_id": "one", "intent": "Ink", "budgets": {"time_ms": 900}})
    again = mira_api.post("memory/assemble", {"budgets": {"time_ms": 900}, "intent": "Ink", "request_id": "one"})
    assert first.content == again.content


@pytest.mark.django_db
def test_another_body_is_refused(mira_api: Api) -> None:
    ask(mira_api)
    refused = sent(mira_api, intent="Is the paper dry?")
    assert problem(refused) == (422, "request_id_reused")
    assert errors_of(refused) == {"request_id"}
    assert Assembly.objects.count() == 1


@pytest.mark.django_db
def test_an_id_belongs_to_who_sent_it(mira: Agent, mira_api: Api, admin_api: Api) -> None:
    first = ask(mira_api)
    other_key = Api(api_key_create(agent=mira, name="Other")[1])
    others = [ask(other_key, intent="Other"), ask(admin_api, agent="mira")]
    assert len({one["metadata"]["assembly"] for one in [first, *others]}) == 3


@pytest.mark.django_db
def test_after_an_error_the_id_may_be_used_again(mira_api: Api) -> None:
    assert problem(sent(mira_api, profile="nonsense")) == (422, "invalid")
    assert not MemoryRequest.objects.exists()
    ask(mira_api)


@pytest.mark.django_db
def test_an_id_is_kept_for_a_day(mira_api: Api) -> None:
    first = ask(mira_api)
    for request_id in ("old", "older"):
        ask(mira_api, request_id)
    MemoryRequest.objects.update(created=timezone.now() - RETENTION + timedelta(minutes=1))
    assert ask(mira_api) == first
    MemoryRequest.objects.update(created=timezone.now() - RETENTION)
    again = ask(mira_api, intent="Something new")
    assert again["metadata"]["assembly"] != first["metadata"]["assembly"]
    assert [row.request_id for row in MemoryRequest.objects.all()] == ["one"]


@pytest.mark.django_db
def test_an_id_is_gone_with_its_record(mira_api: Api) -> None:
    then = timezone.now() - timedelta(days=40)
    with mock.patch("assembly.records.record.timezone.now", return_value=then):
        first = ask(mira_api)
    new_assemblies_follow()
    keep(30)
    assert records_prune().records == 1
    assert not MemoryRequest.objects.exists()
    assert ask(mira_api)["metadata"]["assembly"] != first["metadata"]["assembly"]


@pytest.mark.django_db
def test_the_answer_is_not_given_to_a_key_that_lost_its_team(mira: Agent, mira_api: Api) -> None:
    ask(mira_api)
    mira.teams.clear()
    assert problem(sent(mira_api)) == (404, "not_found")


@pytest.mark.django_db
def test_no_text_of_an_answer_is_stored_beside_its_record(mira_api: Api) -> None:
    ask(mira_api, format="messages")
    (row,) = MemoryRequest.objects.values_list()
    assert not [value for value in row if isinstance(value, str) and "ink" in value.lower()]
    assert any("ink" in text.lower() for text in recorded_texts())


@pytest.mark.django_db
def test_the_header_of_everybody_works_too(mira_api: Api) -> None:
    body = {"request_id": "one", "intent": "Ink"}
    first, again = (mira_api.post("memory/assemble", body, idempotency_key="k") for _ in range(2))
    assert first.content == again.content == mira_api.post("memory/assemble", body).content


@pytest.mark.usefixtures("committed_database")
@pytest.mark.parametrize("cached", [False, True], ids=["new", "from the cache"])
def test_identical_requests_at_once_have_one_assembly(cached: bool) -> None:
    agent, _team = everything(timezone.now())
    api = Api(api_key_create(agent=agent)[1])
    if cached:
        ask(api, "before")
    before = Assembly.objects.count()
    answers = at_once([partial(sent, api, "one") for _ in range(6)])
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert Assembly.objects.count() == before + 1
    assert sum("Idempotency-Replayed" in answer for answer in answers) == 5
    document = json.loads(answers[0].content)
    assert api.post(f"assemblies/{document['metadata']['assembly']}/replay").json()["identical"]
    ask(api, "after")


@pytest.mark.usefixtures("committed_database")
def test_of_different_requests_at_once_with_one_id_one_is_answered() -> None:
    agent, _team = everything(timezone.now())
    api = Api(api_key_create(agent=agent)[1])
    answers = at_once([partial(sent, api, "one", intent=f"Ink {number}") for number in range(4)])
    assert sorted(answer.status_code for answer in answers) == [201, 422, 422, 422]
    assert Assembly.objects.count() == 1
