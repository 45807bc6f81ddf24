"""The log of readings: what is one line, what is none, who reads the log, and when lines go."""

import csv
import datetime
import io
from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent, ApiKey, DailyLog
from agents.services import daily_log_append
from assembly.contexts import exports
from assembly.models import Assembly
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Activity, Reading, Team, User
from teams.principal import SYSTEM
from teams.readings.expired_lines import readings_prune
from teams.sensitivity import Sensitivity
from tests.client import Api
from tests.pages.conftest import SignedIn, text_of
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db

LOG = "/readings/"


def remembered(owner: Agent | Team, text: str = "Tea", level: Sensitivity = Sensitivity.RESTRICTED) -> Memory:
    """A memory of this level."""
    return memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=text, sensitivity=level), principal=SYSTEM)


def facts_of(line: Reading) -> tuple[str, str, dict[str, int]]:
    return line.kind, line.route, line.counts


def line_about(thing: UUID, created: datetime.datetime, **facts: Any) -> Reading:
    """A stored line, as a page would have written it."""
    values = {
        "actor": "person:1", "actor_name": "Ada", "kind": "read", "level": 3, "counts": {"memory": 1},
        "team_ids": [], "address": "127.0.0.1", "route": "GET /memories/<uuid:id_>/", **facts,
    }  # fmt: skip
    return Reading.objects.create(created=created, things=[thing], **values)


def test_a_page_writes_one_line_with_who_what_and_from_where(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    memory = remembered(agent)
    browser = signed_in(owner)
    assert browser.get(f"/memories/{memory.id}/", REMOTE_ADDR="192.0.2.7").status_code == 200
    line = Reading.objects.get()
    assert facts_of(line) == ("read", "GET /memories/<uuid:id_>/", {"memory": 1})
    assert (line.actor, line.actor_name) == (owner.principal.ref, owner.principal.name)
    assert (line.level, line.things, line.address) == (Sensitivity.RESTRICTED, [memory.id], "192.0.2.7")
    assert (line.agent_id, line.team_id, line.team_ids) == (agent.id, None, [team.id])
    assert timezone.now() - line.created < datetime.timedelta(minutes=1)


def test_the_same_reading_again_within_ten_minutes_is_no_second_line(
    signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    memory = remembered(agent)
    browser = signed_in(owner)
    path = f"/memories/{memory.id}/"
    for _ in range(3):
        browser.get(path)
    browser.get(f"{path}versions/")
    assert Reading.objects.count() == 1
    browser.get(path, REMOTE_ADDR="192.0.2.7")
    assert Reading.objects.count() == 2


def test_after_ten_minutes_it_is_a_line_again(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    memory = remembered(agent)
    same = {"actor": owner.principal.ref}
    line_about(memory.id, timezone.now() - datetime.timedelta(minutes=11), **same)
    signed_in(owner).get(f"/memories/{memory.id}/")
    assert Reading.objects.count() == 2


def test_what_is_internal_refused_or_read_by_an_agent_is_no_line(
    *, signed_in: SignedIn, owner: User, teammate: User, outsider: User, agent: Agent
) -> None:
    internal, secret = remembered(agent, level=Sensitivity.INTERNAL), remembered(agent, "Secret tea")
    browser = signed_in(owner)
    assert browser.get(f"/memories/{internal.id}/").status_code == 200
    assert browser.head(f"/memories/{secret.id}/").status_code == 200
    for person in (teammate, outsider):
        assert signed_in(person).get(f"/memories/{secret.id}/").status_code == 404
    assert browser.get(f"/memories/{uuid4()}/").status_code == 404
    assert browser.post(f"/memories/{secret.id}/pin/").status_code == 302
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    key = api_key_create(agent=agent, scopes=[ApiKey.Scope.RESTRICTED])[1]
    assert "Secret tea" in Api(key).get(f"agents/{agent.slug}/memories").content.decode()
    assert not Reading.objects.exists()


def test_a_list_is_one_line_for_each_owner_with_the_numbers(
    signed_in: SignedIn, admin: User, agent: Agent, team: Team
) -> None:
    ids = sorted(remembered(agent, f"Tea {number}").id for number in range(3))
    remembered(team, "Coffee", Sensitivity.CONFIDENTIAL)
    remembered(agent, "Water", Sensitivity.INTERNAL)
    signed_in(admin).get(f"/agents/{agent.slug}/memories/")
    line = Reading.objects.get()
    assert facts_of(line) == ("listed", "GET /agents/<slug:slug>/memories/", {"memory": 3})
    assert line.things == ids
    signed_in(admin).get(f"/teams/{team.slug}/memories/")
    by_level = {line.level: line.counts for line in Reading.objects.filter(route="GET /teams/<slug:slug>/memories/")}
    assert by_level.get(Sensitivity.CONFIDENTIAL) == {"memory": 1}


def test_an_export_is_one_line_that_counts_what_is_in_it(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    for number in range(3):
        remembered(agent, f"Tea {number}")
    remembered(agent, "Coffee", Sensitivity.CONFIDENTIAL)
    log = daily_log_append(agent=agent, date=datetime.date(2026, 1, 5), text="Tea", principal=SYSTEM)
    raise_level(DailyLog, log.pk, Sensitivity.CONFIDENTIAL)
    answer: Any = signed_in(owner).get(f"/agents/{agent.slug}/export/download/")
    assert answer.status_code == 200
    assert answer.getvalue()
    line = Reading.objects.get()
    assert (line.kind, line.level, line.counts) == ("exported", Sensitivity.RESTRICTED, {"daily_log": 1, "memory": 4})
    assert line.team_ids == [team.id]


def test_a_context_that_a_person_makes_is_read_by_whom_it_is_answered(agent: Agent, team: Team, admin: User) -> None:
    remembered(agent)
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    _key, secret = api_key_create(agent=None, name="Ops", principal=admin.principal)
    body = {"agent": agent.slug, "team": team.slug, "profile": "memory", "topic": "tea", "max_tokens": 4000}
    for _ in range(2):  # the second time, the answer is that of the first
        assert Api(secret).post("assemblies", body).status_code == 201
    lines = Reading.objects.order_by("created")
    assert [facts_of(line) for line in lines] == [("read", "POST /api/v1/assemblies", {"context": 1})] * 2
    assert {line.things[0] for line in lines} == set(Assembly.objects.values_list("id", flat=True))
    assert {line.actor_name for line in lines} == {"Ops"}
    assert [(line.agent_id, line.team_id, line.team_ids) for line in lines] == [(agent.id, team.id, [team.id])] * 2


def test_a_simulation_counts_what_it_tells(agent: Agent, team: Team, admin: User) -> None:
    memory = remembered(agent, "Tea at nine")
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    api = Api(person=admin.principal)
    path = (
        f"agents/{agent.slug}/as-of?at={timezone.now():%Y-%m-%dT%H:%M:%S.%fZ}&team={team.slug}&profile=memory&topic=tea"
    )
    answer = api.get(path)
    assert answer.status_code == 200, answer.content
    assert "Tea at nine" in answer.content.decode()
    line = Reading.objects.get()
    assert (line.kind, line.things, line.agent_id) == ("listed", [memory.id], agent.id)


def test_a_list_that_a_job_prepared_counts_when_it_is_downloaded() -> None:
    context, other = uuid4(), uuid4()
    part = f'"{context}","2026-01-05T12:00:00Z","tea"\r\n"{other}"\r\n'
    assert exports._noted_as_read(part) == part
    assert set(exports.UUID_PATTERN.findall(part)) == {str(context), str(other)}


@pytest.mark.parametrize(
    ("level", "required", "failing", "status"),
    [
        ("restricted", "restricted", "readings_record", 503),
        ("restricted", "restricted", "demanded_response", 503),
        ("restricted", "restricted", "reading_groups", 503),
        ("restricted", "never", "readings_record", 200),
        ("confidential", "restricted", "readings_record", 200),
        ("confidential", "confidential", "readings_record", 503),
    ],
)
def test_nothing_restricted_is_shown_if_its_line_cannot_be_written(
    *, level: str, required: str, failing: str, status: int, signed_in: SignedIn, owner: User, agent: Agent,
    settings: Any, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    memory = remembered(agent, "Quince jam", Sensitivity[level.upper()])
    settings.READINGS_REQUIRED = required
    browser, api = signed_in(owner), Api(person=owner.principal)
    with patch(f"teams.readings.recording_middleware.{failing}", side_effect=DatabaseError):
        answers = browser.get(f"/memories/{memory.id}/"), api.get(f"agents/{agent.slug}/memories/{memory.id}")
        assert browser.get("/teams/").status_code == 200
    assert [answer.status_code for answer in answers] == [status, status]
    assert [memory.text in answer.content.decode() for answer in answers] == [status == 200] * 2
    if status == 503:
        assert answers[1].json()["code"] == "reading_not_recorded"
    assert "a reading could not be recorded" in caplog.text


def test_lines_cannot_be_changed_and_go_when_their_time_is_over(settings: Any) -> None:
    now = timezone.now()
    ages = {days: line_about(uuid4(), now - datetime.timedelta(days=days)).id for days in (1, 50, 399, 401, 800)}
    for change in (lambda: Reading.objects.update(actor="x"), lambda: Reading.objects.all().delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    assert readings_prune() == 2
    assert set(Reading.objects.values_list("id", flat=True)) == {ages[1], ages[50], ages[399]}
    settings.READINGS_DAYS = 1  # less than the database allows
    with patch("teams.readings.expired_lines.BATCH", 1):
        assert readings_prune() == 2
    assert [line.id for line in Reading.objects.all()] == [ages[1]]
    assert readings_prune() == 0


@pytest.fixture
def three_lines(agent: Agent, team: Team) -> dict[str, UUID]:
    """A line of the team's, one of its agent's, and one of the organisation's."""
    now, ids = timezone.now(), {name: uuid4() for name in ("team", "agent", "organisation")}
    line_about(ids["team"], now, team_id=team.id, team_ids=[team.id], actor_name="Tia", level=2)
    line_about(ids["agent"], now, agent_id=agent.id, team_ids=[team.id], actor_name="Ansel", address="192.0.2.9")
    facts: dict[str, Any] = {"actor_name": "Oto", "counts": {"organisation_file": 1}, "kind": "listed"}
    line_about(ids["organisation"], now - datetime.timedelta(days=40), **facts)
    return ids


def names_in(text: str) -> set[str]:
    return {name for name in ("Tia", "Ansel", "Oto") if name in text}


def test_admins_of_the_organisation_read_everything_and_those_of_a_team_its_own(
    *, signed_in: SignedIn, admin: User, owner: User, teammate: User, outsider: User, three_lines: dict[str, UUID]
) -> None:
    expected = {admin: {"Tia", "Ansel", "Oto"}, owner: {"Tia", "Ansel"}, teammate: set(), outsider: set()}
    for person, names in expected.items():
        browser = signed_in(person)
        assert names_in(text_of(browser.get(LOG))) == names
        assert names_in(browser.get("/readings/log.csv").content.decode()) == names
        results = Api(person=person.principal).get("readings").json()["results"]
        assert {one["actor"]["name"] for one in results} == names
    assert Client().get(LOG).status_code == 302
    assert Client().get("/readings/log.csv").status_code == 302
    assert Api().get("readings").status_code == 401
    assert three_lines


def test_filters_of_the_page_the_csv_and_the_api_agree(
    *, signed_in: SignedIn, admin: User, agent: Agent, team: Team, three_lines: dict[str, UUID]
) -> None:
    browser, api = signed_in(admin), Api(person=admin.principal)
    cases = {
        "q=ansel": {"Ansel"},
        "q=192.0.2.9": {"Ansel"},
        "kind=listed": {"Oto"},
        "level=confidential": {"Tia"},
        f"owner=team:{team.id}": {"Tia", "Ansel"},
        f"owner=agent:{agent.id}": {"Ansel"},
        f"thing={three_lines['organisation']}": {"Oto"},
        "days=7": {"Tia", "Ansel"},
    }
    for query, names in cases.items():
        assert names_in(text_of(browser.get(f"{LOG}?{query}"))) == names, query
        rows = list(csv.DictReader(io.StringIO(browser.get(f"/readings/log.csv?{query}").content.decode())))
        assert {row["actor_name"] for row in rows} == names, query
    asked = {
        "reading=listed": {"Oto"},
        "sensitivity=confidential": {"Tia"},
        f"team_id={team.id}": {"Tia", "Ansel"},
        f"agent_id={agent.id}": {"Ansel"},
        f"thing={three_lines['team']}": {"Tia"},
        "actor=person:1": {"Tia", "Ansel", "Oto"},
        "actor=person:2": set(),
    }
    for query, names in asked.items():
        results = api.get(f"readings?{query}").json()["results"]
        assert {one["actor"]["name"] for one in results} == names, query
    for query in ("thing=nope", "level=nope", "owner=team:nope", "days=nope"):
        assert browser.get(f"{LOG}?{query}").status_code == 422, query
    for query in ("thing=nope", "reading=nope", "sensitivity=internal", "team_id=1", "actor=a%00"):
        assert api.get(f"readings?{query}").status_code == 422, query


def test_downloading_the_log_is_in_the_activity_log(signed_in: SignedIn, owner: User, team: Team) -> None:
    signed_in(owner).get("/readings/log.csv")
    entry = Activity.objects.get(action="export.downloaded")
    assert (entry.actor, entry.target, entry.team_ids) == (owner.principal.ref, "readings.csv", [team.id])
    assert entry.detail == {"rows": 0}


def test_admins_find_who_read_a_thing_from_its_page(
    signed_in: SignedIn, owner: User, editor: User, agent: Agent
) -> None:
    memory = remembered(agent, level=Sensitivity.CONFIDENTIAL)
    address = f"{LOG}?thing={memory.id}"
    for path in (f"/memories/{memory.id}/", f"/sensitivity/memory/{memory.id}/"):
        assert address in text_of(signed_in(owner).get(path))
        assert address not in text_of(signed_in(editor).get(path))
    page = text_of(signed_in(owner).get(address))
    assert str(editor) in page
    assert f"/sensitivity/memory/{memory.id}/" in page


def test_the_page_takes_few_queries(
    signed_in: SignedIn, admin: User, agent: Agent, team: Team, django_assert_num_queries: Callable[..., Any]
) -> None:
    browser = signed_in(admin)
    browser.get(LOG)
    for number in range(30):
        owners = {"agent_id": agent.id} if number % 2 else {"team_id": team.id}
        line_about(uuid4(), timezone.now(), **owners)
    with django_assert_num_queries(7):
        browser.get(LOG)


def test_a_page_with_something_restricted_takes_one_query_more(signed_in: SignedIn, admin: User, agent: Agent) -> None:
    browser = signed_in(admin)
    path = f"/agents/{agent.slug}/memories/"
    remembered(agent, level=Sensitivity.INTERNAL)
    browser.get(path)
    counts = []
    for level in (Sensitivity.INTERNAL, Sensitivity.RESTRICTED):
        for memory in Memory.everything.all():
            raise_level(Memory, memory.pk, level)
        with CaptureQueriesContext(connection) as queries:
            browser.get(path)
        counts.append(len(queries))
    assert counts[1] == counts[0] + 1
