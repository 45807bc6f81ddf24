"""Alerts over REST: seen by those who see the agent and the team, settled by those who may edit them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from assembly.models import Alert
from teams.models import Team, User
from tests.assembly.monitoring.alerts.alert_factories import NOON, alert_on
from tests.client import Api, errors_of, problem
from tests.rights.test_tenancy import ALERTS

pytestmark = pytest.mark.django_db


@pytest.fixture
def alert(agent: Agent, team: Team) -> Alert:
    return alert_on(agent, team)


def ids(api: Api, query: str = "") -> list[str]:
    return [row["id"] for row in api.get(f"alerts{query}").json()["results"]]


def test_every_address_is_tried_here() -> None:
    tried = {"alerts", "alerts/<uuid:id_>"} | {
        f"alerts/<uuid:id_>/{done}" for done in ("acknowledge", "resolve", "reopen")
    }
    assert tried == ALERTS


def test_an_alert_says_what_is_wrong(alert: Alert, agent_api: Api) -> None:
    document = agent_api.get(f"alerts/{alert.id}").json()
    assert document == agent_api.get("alerts").json()["results"][0]
    expected = {
        "kind": "file_cut", "name": "Knowledge", "resource": "agent_file:1", "version": "7", "agent": "ada",
        "team": "care", "profile": "conversation", "reason": "Cut to fit: 3 of 9 paragraphs are in whole.",
        "opened_at": "2026-03-14T12:00:00Z", "closed_at": None, "acknowledged_at": None, "resolved_at": None,
        "occurrences": 1,
    }  # fmt: skip
    assert document.items() >= expected.items()


def test_it_is_seen_settled_and_taken_up_again(alert: Alert, editor: User, as_person: Callable[[User], Api]) -> None:
    api = as_person(editor)
    assert api.post(f"alerts/{alert.id}/acknowledge").json()["acknowledged_by"]["name"] == "Edda Editor"
    settled = api.post(f"alerts/{alert.id}/resolve").json()
    assert (settled["resolved_by"]["name"], settled["closed_at"]) == ("Edda Editor", None)
    assert api.post(f"alerts/{alert.id}/resolve").json()["resolved_at"] == settled["resolved_at"], "once"
    assert ids(api) == []
    assert ids(api, "?state=settled") == [str(alert.id)]
    assert api.post(f"alerts/{alert.id}/reopen").json()["resolved_at"] is None
    assert ids(api) == [str(alert.id)]


def test_the_same_request_again_has_one_answer(alert: Alert, editor: User, as_person: Callable[[User], Api]) -> None:
    api = as_person(editor)
    first = api.post(f"alerts/{alert.id}/resolve", idempotency_key="k")
    api.post(f"alerts/{alert.id}/reopen")
    again = api.post(f"alerts/{alert.id}/resolve", idempotency_key="k")
    assert again.content == first.content
    assert Alert.objects.get().settled is None


ACTIONS = ("acknowledge", "resolve", "reopen")


@pytest.mark.parametrize("who", ["outsider", "other_agent_api"])
def test_strangers_find_nothing(
    who: str, alert: Alert, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert ids(api, "?state=all") == []
    answers = [api.get(f"alerts/{alert.id}"), *(api.post(f"alerts/{alert.id}/{done}") for done in ACTIONS)]
    answers += [api.get("alerts?agent=ada"), api.get("alerts?team=care")]
    assert [problem(answer) for answer in answers] == [(404, "not_found")] * 6
    assert Alert.objects.filter(seen=None, settled=None).exists()


def test_who_may_only_read_settles_nothing(
    alert: Alert, teammate: User, agent_api: Api, as_person: Callable[[User], Api]
) -> None:
    for api in (as_person(teammate), agent_api):
        assert ids(api) == [str(alert.id)]
        for done in ACTIONS:
            assert problem(api.post(f"alerts/{alert.id}/{done}")) == (403, "forbidden")


def test_an_agents_key_settles_where_it_may_write_files(agent: Agent) -> None:
    alert = alert_on(agent)
    api = Api(api_key_create(agent=agent, name="Chat", scopes=["files:write"])[1])
    assert api.post(f"alerts/{alert.id}/resolve").json()["resolved_by"]["name"] == "Chat"


def test_a_key_is_needed(alert: Alert, anonymous_api: Api) -> None:
    answers = [anonymous_api.get("alerts"), anonymous_api.get(f"alerts/{alert.id}")]
    answers += [anonymous_api.post(f"alerts/{alert.id}/{done}") for done in ACTIONS]
    assert [problem(answer) for answer in answers] == [(401, "not_authenticated")] * 5


def test_the_list_is_narrowed(agent: Agent, team: Team, admin_api: Api) -> None:
    other = Agent.objects.create(slug="bob", name="Bob")
    mine, alone = alert_on(agent, team), alert_on(other)
    gone = alert_on(agent, team, cause="6", closed=NOON)
    assert ids(admin_api) == [str(alone.id), str(mine.id)]
    assert ids(admin_api, "?agent=bob") == [str(alone.id)]
    assert ids(admin_api, "?team=care&state=all") == [str(gone.id), str(mine.id)]
    assert ids(admin_api, "?state=closed") == [str(gone.id)]
    assert ids(admin_api, "?state=open&limit=1") == [str(alone.id)]
    assert errors_of(admin_api.get("alerts?state=odd")) == {"state"}
    assert errors_of(admin_api.get("alerts?kind=x")) == {"kind"}
    assert problem(admin_api.get("alerts?agent=nobody")) == (404, "not_found")


def test_the_list_takes_two_queries(
    agent: Agent, team: Team, admin_api: Api, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        alert_on(agent, team, cause=str(number))
    admin_api.get("alerts")  # the first use of the key is noted
    with django_assert_num_queries(2):  # the key, the rows
        assert len(ids(admin_api)) == 5


def test_alerts_survive_their_agent_for_admins_alone(alert: Alert, owner: User, admin_api: Api, as_person: Any) -> None:
    Alert.objects.update(agent_id=alert.id)  # as if the agent were gone
    assert ids(admin_api) == [str(alert.id)]
    assert admin_api.post(f"alerts/{alert.id}/resolve").status_code == 200
    assert ids(as_person(owner), "?state=all") == []
