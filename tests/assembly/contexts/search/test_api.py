"""The list of assemblies narrowed by its parameters."""

import json
from typing import Any
from uuid import uuid4

import pytest

from agents.models import Agent
from assembly.models.assembly import packed
from teams.models import Team
from tests.assembly.contexts.context_rows import context, piece
from tests.client import Api, errors_of

pytestmark = pytest.mark.django_db


def topics(api: Api, query: str) -> list[str]:
    response = api.get(f"assemblies?{query}")
    assert response.status_code == 200, response.content
    return [one["topic"] for one in json.loads(response.content)["results"]]


def test_each_parameter_narrows_the_list(admin_api: Api, agent: Agent, team: Team) -> None:
    held = piece("memory:1@1", "Ferries leave at noon.")
    context(agent, team, topic="told", told=[held], codes=["fits"], profile_name="research")
    context(agent, age=1, topic="left", omitted=[held], codes=["outranked"], warnings=["TIME_EXCEEDED"], left_out=1)
    assert topics(admin_api, "included_ref=memory:1") == ["told"]
    assert topics(admin_api, "excluded_ref=memory:1@1") == ["left"]
    assert topics(admin_api, "reason=outranked&warning=TIME_EXCEEDED&outcome=excluded") == ["left"]
    assert topics(admin_api, "profile=research&team=care&requested_by=system") == ["told"]
    assert topics(admin_api, "since=2026-11-20T11:59:30Z") == ["told"]
    assert topics(admin_api, "until=2026-11-20&q=ferry") == ["told"]
    assert topics(admin_api, "included_ref=memory:2") == []


def test_the_list_costs_few_queries_however_many_rows(
    admin_api: Api, agent: Agent, team: Team, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        context(agent, team, age=number, topic="one of many")
    topics(admin_api, "")
    with django_assert_num_queries(8):  # key, transaction, limits, plan, ids, whether it is all, rows, its end
        assert len(topics(admin_api, "")) == 5


def test_pages_keep_their_parameters(admin_api: Api, agent: Agent) -> None:
    for number in range(3):
        context(agent, age=number, topic=str(number), left_out=1)
    page = json.loads(admin_api.get("assemblies?outcome=excluded&limit=2").content)
    assert "outcome=excluded" in page["next"]
    page = json.loads(admin_api.get(page["next"]).content)
    assert ([one["topic"] for one in page["results"]], page["next"]) == (["2"], None)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("agent=nobody", "agent"),
        ("since=soon", "since"),
        ("warning=LOUD", "warning"),
        ("reason=fits%20well", "reason"),
        ("included_ref=what", "included_ref"),
        ("excluded_ref=/contexts/", "excluded_ref"),
        ("outcome=some", "outcome"),
        ("q=" + "x" * 201, "q"),
        ("q=%00", "q"),
        ("limit=0", "limit"),
        ("cursor=nonsense", "cursor"),
        ("when=week", "when"),
    ],
)
def test_nonsense_is_refused_by_name(query: str, named: str, admin_api: Api) -> None:
    assert errors_of(admin_api.get(f"assemblies?{query}")) == {named}


@pytest.mark.parametrize(
    "facts",
    [
        {"body": b""},
        {"body": packed({"sources": [{"code": "SOURCE_TIMEOUT"}]})},
        {"body": packed({"sources": None})},
        {"decided_in": uuid4()},
    ],
)
def test_one_damaged_record_does_not_hide_the_others(facts: dict[str, Any], admin_api: Api, agent: Agent) -> None:
    context(agent, topic="sound")
    context(agent, age=1, topic="damaged", warnings=["SOURCE_TIMEOUT", "TIME_EXCEEDED"], **facts)
    answer = admin_api.get("assemblies")
    assert answer.status_code == 200
    sound, damaged = answer.json()["results"]
    assert (sound["topic"], sound["warnings"], damaged["topic"]) == ("sound", [], "damaged")
    (source, time) = damaged["warnings"]
    assert source["code"] == "SOURCE_TIMEOUT"
    assert source["message"].startswith(
        "The name of the source cannot be read, because the record was changed outside of Dossier."
    )
    assert time["message"] == "Assembling took longer than its deadline."


def test_sources_that_were_late_are_named_by_one_query(
    admin_api: Api, agent: Agent, team: Team, django_assert_num_queries: Any
) -> None:
    sources = [{"name": "memories", "code": "SOURCE_TIMEOUT"}]
    late: dict[str, Any] = {"warnings": ["SOURCE_TIMEOUT"], "body": packed({"sources": sources})}
    first = context(agent, team, **late)
    for age in range(1, 4):
        context(agent, team, age=age, **late)
    context(agent, team, age=4, warnings=["SOURCE_TIMEOUT"], decided_in=first.id)
    topics(admin_api, "")
    with django_assert_num_queries(9):
        found = admin_api.get("assemblies").json()["results"]
    messages = {one["warnings"][0]["message"] for one in found}
    assert len(found) == 5
    assert [message.partition(":")[0] for message in messages] == ["memories"]


def test_a_key_finds_its_own_alone(agent_api: Api, other_agent_api: Api, agent: Agent, team: Team) -> None:
    context(agent, team, topic="mine", told=[piece("memory:1@1", "Ferries.")])
    for query in ("", "included_ref=memory:1", "q=ferry"):
        assert topics(agent_api, query) == ["mine"]
        assert topics(other_agent_api, query) == []
    assert errors_of(other_agent_api.get("assemblies?agent=ada")) == {"agent"}
