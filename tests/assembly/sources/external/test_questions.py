"""What is asked, and of whom: put together from the profile and the situation, by one query."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
from django.test import RequestFactory

from agents.models import Agent
from assembly.engine.codes import SourceCode
from assembly.engine.profile import Profile, Section
from assembly.engine.types import InvalidAssembly
from assembly.models import ExternalSource
from assembly.sources import SOURCES
from assembly.sources.base import RequestFilters
from assembly.sources.external.http_queries import query_all
from assembly.sources.external.questions import external_queries
from assembly.sources.external.services import unregistered_sections
from config.http.encryption import encrypt
from config.observability.request_context import CURRENT_REQUEST
from memories.models import Session
from teams.sensitivity import Clearances, Sensitivity
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import gather_context
from tests.engine.factories import profile_of


def section(key: str) -> Section:
    return Section(key, key.capitalize(), "L6", "external", "blocks")


def profile(*keys: str) -> Profile:
    return profile_of(Section("events", "Events", "L6", "recent_events", "blocks"), *map(section, keys))


def registered(name: str = "tickets", **facts: Any) -> ExternalSource:
    return ExternalSource.objects.create(name=name, label=name.capitalize(), url=f"https://{name}.example.org", **facts)


def test_the_question_says_what_is_wanted_and_for_whom(luna: Agent) -> None:
    registered(sealed_secret=encrypt("quite-a-secret"), limit=7, timeout_ms=300)
    team = luna.teams.get()
    session = Session.objects.create(agent=luna, started_at=NOW, external_id="run-7")
    asked = gather_context(luna, "Fix the ferry timetable", session=session, filters=RequestFilters(exclude=("a", "b")))
    (asking,) = external_queries(profile("tickets"), replace(asked, team=team))
    assert asking.question == {
        "query": "Fix the ferry timetable",
        "agent": "luna",
        "team": "demo",
        "session": "run-7",
        "intent": "fix",
        "keywords": ["fix", "ferry", "timetable"],
        "limit": 9,  # one more for each that the request excludes
        "now": "2025-03-14T12:00:00+00:00",
    }
    assert (asking.name, asking.url, asking.secret) == (
        "external:tickets", "https://tickets.example.org", "quite-a-secret",
    )  # fmt: skip
    assert (asking.limit, asking.timeout_ms, asking.fault) == (9, 300, "")


def test_without_a_team_and_a_session_they_are_null(luna: Agent) -> None:
    registered()
    (asking,) = external_queries(profile("tickets"), gather_context(luna))
    assert (asking.question["team"], asking.question["session"]) == (None, None)
    assert (asking.question["query"], asking.question["intent"]) == ("", "other")


def test_a_session_without_an_id_of_its_own_goes_by_ours(luna: Agent) -> None:
    registered()
    session = Session.objects.create(agent=luna, started_at=NOW)
    (asking,) = external_queries(profile("tickets"), gather_context(luna, session=session))
    assert asking.question["session"] == str(session.id)


def test_the_request_id_goes_along(luna: Agent) -> None:
    registered()
    request = RequestFactory().get("/")
    request.request_id = "r-42"  # type: ignore[attr-defined]
    token = CURRENT_REQUEST.set(request)
    try:
        (asking,) = external_queries(profile("tickets"), gather_context(luna))
    finally:
        CURRENT_REQUEST.reset(token)
    assert asking.request_id == "r-42"
    (outside,) = external_queries(profile("tickets"), gather_context(luna))
    assert outside.request_id not in {"", "r-42"}


def test_who_is_unknown_switched_off_or_cannot_prove_itself_has_a_fault(luna: Agent) -> None:
    registered("off", enabled=False)
    registered("lost", sealed_secret="sealed under another key")
    asked = external_queries(profile("tickets", "off", "lost"), gather_context(luna))
    assert [(asking.section, asking.fault) for asking in asked] == [
        ("tickets", "There is no external source “tickets”. An admin can register it."),
        ("off", "The external source “off” is switched off."),
        ("lost", "Its secret cannot be read, as SECRET_KEY was changed. Enter it again."),
    ]


def test_it_takes_one_query_and_none_without_such_sections(
    luna: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for name in ("tickets", "weather", "off"):
        registered(name)
    asked = gather_context(luna)
    with django_assert_num_queries(1):
        assert len(external_queries(profile("tickets", "weather", "nobody"), asked)) == 3
    with django_assert_num_queries(0):
        assert external_queries(profile(), asked) == []


def test_a_profile_knows_which_of_its_sections_nobody_fills(db: None) -> None:
    registered("weather")
    assert unregistered_sections(profile("tickets", "weather", "parking")) == ["tickets", "parking"]
    assert unregistered_sections(profile()) == []


def test_the_registry_knows_it_as_remote_and_never_gathers_it(luna: Agent) -> None:
    assert [name for name, source in SOURCES.items() if source.remote] == ["external"]
    with pytest.raises(InvalidAssembly, match="ask_all"):
        SOURCES["external"].gather(gather_context(luna), [section("tickets")])


@pytest.mark.parametrize(("source", "asked", "is_sent"), [(0, 1, True), (1, 2, False), (2, 2, True), (2, 3, False)])
def test_a_sensitive_question_is_only_sent_to_a_source_of_its_level(
    source: int, asked: int, is_sent: bool, luna: Agent
) -> None:
    registered(sensitivity=source)
    (asking,) = external_queries(profile("tickets"), replace(gather_context(luna, "Ferry"), sensitivity=asked))
    assert bool(asking.question) == is_sent
    assert ("was not asked" in asking.fault) != is_sent


def test_an_endpoint_above_the_clearance_is_not_asked_and_its_report_says_so(luna: Agent) -> None:
    registered(sensitivity=Sensitivity.RESTRICTED)
    below = replace(gather_context(luna, "Ferry"), clearances=Clearances().limited_to(Sensitivity.CONFIDENTIAL))
    (asking,) = external_queries(profile("tickets"), below)
    assert (asking.url, asking.question, asking.fault_code) == ("", {}, SourceCode.SOURCE_NOT_ASKED)
    (answer,) = query_all([asking], seconds=1)
    assert (answer.code, answer.candidates) == (SourceCode.SOURCE_NOT_ASKED, ())
    assert answer.fault == "The external source “tickets” is above the clearance of the request, so it was not asked."
