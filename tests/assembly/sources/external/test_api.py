"""External sources over REST: registered by admins, by their names known to all, and no secret ever comes back."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import connection

from agents.models import Agent
from assembly.models import ExternalSource
from assembly.sources.external.services import ExternalSourceConfig, external_source_create
from teams.models import User
from teams.principal import SYSTEM
from tests.client import Api, errors_of, problem
from tests.http_endpoints import GOOD, closed_port, giving, serving
from tests.rights.test_tenancy import EXTERNAL_SOURCES

pytestmark = pytest.mark.django_db

SECRET = "quite-a-secret"
URL = "https://93.184.216.34/ask"
ONE = "external-sources/tickets"
BODY = {"name": "tickets", "label": "Open tickets", "url": URL, "secret": SECRET}


@pytest.fixture
def source() -> ExternalSource:
    """A registered endpoint with a secret."""
    return external_source_create(
        name="tickets", facts=ExternalSourceConfig("Open tickets", URL), secret=SECRET, principal=SYSTEM
    )


def test_the_story_of_an_external_source(admin_api: Api) -> None:
    made = admin_api.post("external-sources", BODY)
    assert (made.status_code, made["Location"], made["ETag"]) == (201, "/api/v1/external-sources/tickets", '"1"')
    facts = {"name": "tickets", "label": "Open tickets", "url": URL, "has_secret": True, "limit": 20}
    assert made.json().items() >= {**facts, "timeout_ms": 1000, "enabled": True}.items()
    changed = admin_api.patch(ONE, {"limit": 5, "timeout_ms": 300, "enabled": False}, if_match='"1"')
    assert (changed.status_code, changed["ETag"], changed.json()["has_secret"]) == (200, '"2"', True)
    assert admin_api.patch(ONE, {"limit": 5}, if_match='"2"').json()["version"] == 2, "nothing new, no version"
    assert admin_api.patch(ONE, {"secret": ""}, if_match='"2"').json()["has_secret"] is False
    assert [row["name"] for row in admin_api.get("external-sources").json()["results"]] == ["tickets"]
    assert admin_api.get(ONE, if_none_match='"3"').status_code == 304
    assert admin_api.delete(ONE).status_code == 204
    assert problem(admin_api.get(ONE)) == (404, "not_found")


READERS = ("owner", "teammate", "outsider", "agent_api", "other_agent_api")


@pytest.mark.parametrize("who", READERS)
def test_readers_see_names_and_labels_and_may_do_nothing(
    who: str, source: ExternalSource, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    for document in (api.get(ONE).json(), api.get("external-sources").json()["results"][0]):
        assert (document["name"], document["label"], document["enabled"]) == ("tickets", "Open tickets", True)
        assert [document[name] for name in ("url", "has_secret", "limit", "timeout_ms")] == [None] * 4
    answers = [
        api.post("external-sources", {**BODY, "name": "more"}),
        api.patch(ONE, {"label": "Stolen"}, if_match='"1"'),
        api.delete(ONE),
        api.post(f"{ONE}/query", {"query": "x"}),
    ]
    assert [problem(answer) for answer in answers] == [(403, "forbidden")] * 4
    assert ExternalSource.objects.get().label == "Open tickets"


def test_a_key_is_needed(source: ExternalSource, anonymous_api: Api) -> None:
    for method, path in (("GET", ""), ("POST", ""), ("GET", "/tickets"), ("PATCH", "/tickets"), ("DELETE", "/tickets")):
        assert problem(anonymous_api.send(method, f"external-sources{path}")) == (401, "not_authenticated")
    assert problem(anonymous_api.post(f"{ONE}/query", {"query": "x"})) == (401, "not_authenticated")


def test_every_address_is_tried_here() -> None:
    tried = {"external-sources", "external-sources/<slug:name>", "external-sources/<slug:name>/query"}
    assert tried == EXTERNAL_SOURCES


def test_the_secret_never_comes_back(source: ExternalSource, admin_api: Api) -> None:
    answers = [
        admin_api.post("external-sources", {**BODY, "name": "more"}, idempotency_key="k"),
        admin_api.post("external-sources", {**BODY, "name": "more"}, idempotency_key="k"),
        admin_api.get("external-sources"),
        admin_api.get(ONE),
        admin_api.patch(ONE, {"secret": "another-secret"}, if_match='"1"'),
        admin_api.patch(ONE, {"secret": "another-secret"}, if_match='"1"'),  # stale: `current` is in the answer
        admin_api.post("external-sources", {**BODY, "url": "ftp://x"}),
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200, 200, 412, 422]
    for answer in answers:
        assert not any(word in answer.content.decode() for word in (SECRET, "another-secret", source.sealed_secret))
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(idempotent_requests::text, '') FROM idempotent_requests")
        assert SECRET not in cursor.fetchone()[0]


NO_NUMBERS: list[Any] = ["20", 2.5, True, None, [], 10**40]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("name", ["Tickets", "open-tickets", "7up", "", "t" * 51, 5, None, "new", "rules\n", "a\x00b"]),
        ("label", ["", " ", "l" * 81, "a\nb", 5, None, "a\x00b", "a\ud800b"]),
        ("url", ["", "x", "https://10.0.0.1/", "http://93.184.216.34/", "https://u:p@e.org", 5, None, "https://a\x00/"]),
        ("secret", ["short", "with a space", "s" * 1001, "line\nbreak-line", "geheim-ö-geheim", 5, None, "a\x00bcdef"]),
        ("limit", [0, 101, *NO_NUMBERS]),
        ("timeout_ms", [49, 10_001, *NO_NUMBERS]),
        ("enabled", ["maybe", "true", "on", 1, 0, None, []]),
    ],
)  # fmt: skip
def test_bad_values_are_named(field: str, values: list[Any], source: ExternalSource, admin_api: Api) -> None:
    for value in values:
        assert errors_of(admin_api.post("external-sources", {**BODY, "name": "more", field: value})) == {field}
        if field != "name":
            assert errors_of(admin_api.patch(ONE, {field: value}, if_match='"1"')) == {field}
    assert ExternalSource.objects.get().version == 1


def test_unknown_fields_and_the_name_cannot_be_changed(source: ExternalSource, admin_api: Api) -> None:
    assert errors_of(admin_api.patch(ONE, {"name": "other"}, if_match='"1"')) == {"name"}
    assert errors_of(admin_api.post("external-sources", {**BODY, "has_secret": True})) == {"has_secret"}
    assert problem(admin_api.post("external-sources", BODY)) == (409, "conflict")


def test_a_change_names_the_version_it_was_made_from(source: ExternalSource, admin_api: Api) -> None:
    assert problem(admin_api.patch(ONE, {"limit": 5})) == (428, "precondition_required")
    assert problem(admin_api.patch(ONE, {"limit": 5}, if_match='"7"')) == (412, "stale_version")
    assert problem(admin_api.delete(ONE, if_match='"7"')) == (412, "stale_version")


@pytest.mark.parametrize("name", ["nobody", "n" * 300, "-", "Tickets"])
def test_what_is_not_there_is_a_404(name: str, source: ExternalSource, admin_api: Api) -> None:
    path = f"external-sources/{name}"
    answers = [
        admin_api.get(path),
        admin_api.patch(path, {}, if_match="*"),
        admin_api.delete(path),
        admin_api.post(f"{path}/query", {"query": "x"}),
    ]
    assert [problem(answer) for answer in answers] == [(404, "not_found")] * 4


def test_asking_it_now_shows_what_comes_back(source: ExternalSource, admin_api: Api, settings: Any) -> None:
    settings.EXTERNAL_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    document = {"results": [*GOOD["results"], {"id": "broken"}]}
    with serving(giving(document)) as endpoint:
        facts = {"url": endpoint.url, "secret": SECRET, "enabled": False}
        admin_api.patch(ONE, facts, if_match='"1"')
        told = admin_api.post(f"{ONE}/query", {"query": "Is the ferry late?"}).json()
    (seen,) = endpoint.seen
    expected = {"query": "Is the ferry late?", "agent": None, "team": None, "session": None, "intent": "question"}
    assert seen.body.items() >= {**expected, "keywords": ["ferry", "late"], "limit": 20}.items()
    assert (told["code"], told["error"], told["skipped"]) == (None, "", 1)
    assert told["results"] == [
        {
            "ref": "external:tickets:7", "text": "The ferry is cancelled.", "kind": "notice", "score": 0.9,
            "occurred_at": "2025-03-14T11:00:00Z", "labels": {}, "sensitivity": "internal",
        },
        {
            "ref": "external:tickets:8", "text": "Trains run.", "kind": "external", "score": 0.5, "occurred_at": None,
            "labels": {"path": ["travel/today.md"], "tag": ["rail"]}, "sensitivity": "internal",
        },
    ]  # fmt: skip


def test_asking_one_that_fails_says_why(source: ExternalSource, admin_api: Api, settings: Any) -> None:
    settings.EXTERNAL_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    admin_api.patch(ONE, {"url": f"http://127.0.0.1:{closed_port()}/", "secret": ""}, if_match='"1"')
    answer = admin_api.post(f"{ONE}/query", {"query": "x"})
    told = answer.json()
    assert (answer.status_code, told["code"], told["error"]) == (200, "SOURCE_FAILED", "It could not be reached.")
    assert errors_of(admin_api.post(f"{ONE}/query", {})) == {"query"}
    assert errors_of(admin_api.post(f"{ONE}/query", {"query": "x" * 2001})) == {"query"}


def test_the_list_comes_page_by_page_with_one_query(
    agent: Agent, agent_api: Api, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        ExternalSource.objects.create(name=f"t{number}", label="T", url=URL)
    agent_api.get("external-sources")  # the first use of the key is noted
    with django_assert_num_queries(2):  # the key, the rows
        page = agent_api.get("external-sources?limit=3").json()
    assert [row["name"] for row in page["results"]] == ["t4", "t3", "t2"]
    assert [row["name"] for row in agent_api.get(page["next"]).json()["results"]] == ["t1", "t0"]
