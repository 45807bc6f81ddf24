"""Where versioned texts come from: set by who wrote them, and never raised by what only passes a text on."""

import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, AgentFile
from agents.services import daily_log_append
from assembly.engine.types import ORIGINS
from teams.models import Team, User
from teams.origin import Origin, least_trusted
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import file_save

DAY = datetime.date(2026, 3, 14)
KEY = Principal(kind="agent_key", name="Ada's key")


def test_the_words_are_those_of_the_engine_in_the_same_order() -> None:
    assert tuple(Origin.values) == ORIGINS


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["person"], "person"),
        (["person", "agent"], "agent"),
        (["tool", "agent", "person"], "tool"),
        (["agent", "external", "tool"], "external"),
    ],
)
def test_a_whole_is_trusted_as_its_least_trusted_part(parts: list[str], whole: str) -> None:
    assert least_trusted(*parts) == whole


@pytest.mark.parametrize(
    ("principal", "origin"),
    [
        (Principal(kind="person"), "person"),
        (Principal(kind="admin_key"), "person"),
        (SYSTEM, "person"),
        (KEY, "agent"),
        (Principal(kind="person").relaying("agent"), "agent"),
        (Principal(kind="person").relaying("external").relaying("agent"), "external"),
        (KEY.relaying("person"), "agent"),
    ],
)
def test_an_author_has_the_origin_of_what_it_writes(principal: Principal, origin: str) -> None:
    assert principal.author.origin == origin


@pytest.mark.django_db
def test_each_version_of_a_file_has_its_own_origin(team: Team, owner: User) -> None:
    file = team.files.get(file_key="GOALS")
    for content, principal in (("By Olga.", owner.principal), ("By Ada.", KEY), ("By Olga again.", owner.principal)):
        file = file_save(file=file, content=content, expected_version=file.version, author=principal.author)
    assert file.origin == "person"
    assert list(file.versions.values_list("version", "origin")) == [
        (4, "person"),
        (3, "agent"),
        (2, "person"),
        (1, "person"),
    ]


@pytest.mark.django_db
def test_who_restores_a_text_has_not_written_it(agent: Agent, owner: User) -> None:
    file = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE")
    for content, author in (
        ("By Ada.", KEY.author),
        ("By Olga.", owner.principal.author),
        ("By Ada.", owner.principal.author),
    ):
        file = file_save(file=file, content=content, expected_version=file.version, author=author)
    assert (file.version, file.origin) == (4, "agent")
    file = file_save(file=file, content="By Olga.", expected_version=4, author=owner.principal.author)
    assert file.origin == "person"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "second", "origin"),
    [
        ("person", "person", "person"),
        ("person", "key", "agent"),
        ("key", "person", "agent"),
        ("key", "key", "agent"),
    ],
)
def test_a_log_has_the_origin_of_its_least_trusted_paragraph(
    agent: Agent, owner: User, first: str, second: str, origin: str
) -> None:
    by = {"person": owner.principal, "key": KEY}
    daily_log_append(agent=agent, date=DAY, text="Rain.", principal=by[first])
    log = daily_log_append(agent=agent, date=DAY, text="Sun.", principal=by[second])
    assert (log.content, log.origin) == ("Rain.\n\nSun.", origin)
    assert log.versions.get(version=2).origin == origin


@pytest.mark.django_db
def test_an_append_does_not_look_for_earlier_texts(agent: Agent, owner: User) -> None:
    daily_log_append(agent=agent, date=DAY, text="Rain.", principal=owner.principal)
    with CaptureQueriesContext(connection) as queries:
        daily_log_append(agent=agent, date=DAY, text="Sun.", principal=owner.principal)
    assert not [query for query in queries if "sha256" in query["sql"] and query["sql"].startswith("SELECT")]


@pytest.mark.django_db
def test_a_file_is_stored_without_invisible_characters(team: Team, owner: User) -> None:
    file = team.files.get(file_key="GOALS")
    author = owner.principal.author
    file = file_save(file=file, content="Open\u200b at nine.", expected_version=1, author=author, note="A\u202e note")
    assert (file.content, file.versions.get(version=2).note) == ("Open at nine.", "A note")
    same = file_save(file=file, content="Open at \u2060nine.", expected_version=2, author=author)
    assert same.version == 2
