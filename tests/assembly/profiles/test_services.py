"""Profiles that admins write: their versions, who may write, and what becomes of one that can no longer be read."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly import sources
from assembly.models import StoredProfile
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import all_profiles, find_profile, find_profile_entry
from assembly.profiles.services import (
    MAX_PROFILES,
    profile_create,
    profile_delete,
    profile_save,
)
from assembly.profiles.shipped import CONVERSATION, SHIPPED
from assembly.sources.base import ConversationTurn
from config.http.errors import Conflict, Forbidden, Invalid, NotFound
from teams.models import Erasure, User
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import StaleVersion
from tests.assembly.one_of_each import everything

pytestmark = pytest.mark.django_db

BRIEF = """\
description: Who it is, and no more.
budget: 500
sections:
  - {key: identity, heading: Identity, layer: L1, source: agent_files, shape: text, required: true}
"""
BRIEFER = BRIEF.replace("500", "400")
GONE = BRIEF + "  - {key: moons, heading: Moons, layer: L6, source: moons, shape: blocks}\n"


@pytest.fixture
def chief(admin: User) -> Principal:
    return admin.principal


@pytest.fixture
def moons(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A source that is there until it is called."""
    monkeypatch.setitem(sources.SOURCES, "moons", sources.SOURCES["daily_logs"])
    return lambda: monkeypatch.delitem(sources.SOURCES, "moons")


def test_the_story_of_a_profile(chief: Principal) -> None:
    made = profile_create(name="brief", content=BRIEF, principal=chief)
    assert (find_profile("brief").budget, find_profile("brief").version) == (500, 1)
    saved = profile_save(name="brief", content=BRIEFER, expected_version=1, principal=chief)
    assert (find_profile("brief").budget, saved.version, saved.editor_name) == (400, 2, "Grace Admin")
    assert profile_save(name="brief", content=BRIEFER, expected_version=2, principal=chief).version == 2
    restored = profile_save(name="brief", content=BRIEF, expected_version=2, principal=chief)
    assert (restored.version, restored.content) == (3, BRIEF)
    assert [version.content for version in made.versions.order_by("version")] == [BRIEF, BRIEFER, BRIEF]
    profile_delete(name="brief", principal=chief)
    assert not made.versions.exists()
    assert Erasure.objects.get(target=made.id).by_ref == chief.ref
    with pytest.raises(Invalid, match="There is no profile “brief”"):
        find_profile("brief")


def test_the_first_change_of_a_shipped_profile_keeps_what_it_was(chief: Principal) -> None:
    saved = profile_save(name="coding", content=BRIEF, expected_version=1, principal=chief)
    first, second = saved.versions.order_by("version")
    assert (first.content, first.updated_by, first.editor_name) == (SHIPPED["coding"], "system", "Dossier")
    assert (second.content, second.updated_by, second.editor_name) == (BRIEF, "user", "Grace Admin")
    assert (find_profile("coding").version, find_profile("coding").budget) == (2, 500)
    profile_delete(name="coding", principal=chief)
    assert find_profile_entry("coding").row.content == SHIPPED["coding"]
    assert not find_profile_entry("coding").stored


def test_saving_a_shipped_profile_as_it_is_stores_nothing(chief: Principal) -> None:
    as_it_is = BRIEF
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SHIPPED, "coding", as_it_is)
        assert profile_save(name="coding", content=as_it_is, expected_version=1, principal=chief).version == 1
    assert not StoredProfile.objects.exists()


def test_an_older_version_is_stale(chief: Principal) -> None:
    profile_create(name="brief", content=BRIEF, principal=chief)
    for name, expected in (("brief", 2), ("coding", 2), ("coding", 0)):
        with pytest.raises(StaleVersion):
            profile_save(name=name, content=BRIEFER, expected_version=expected, principal=chief)
    assert StoredProfile.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("brief", Conflict),
        ("coding", Conflict),
        ("conversation", Conflict),
        ("new", Invalid),
        ("check", Invalid),
        ("Brief", Invalid),
        ("a_b", Invalid),
        ("", Invalid),
        ("a\n", Invalid),
        ("a" * 61, Invalid),
        ("\x00", Invalid),
    ],
)
def test_a_name_must_be_free_and_fit_in_an_address(name: str, error: type[Exception], chief: Principal) -> None:
    profile_create(name="brief", content=BRIEF, principal=chief)
    with pytest.raises(error):
        profile_create(name=name, content=BRIEF, principal=chief)
    assert StoredProfile.objects.count() == 1


def test_conversation_stays_as_it_is(chief: Principal) -> None:
    writes: list[Callable[[], Any]] = [
        lambda: profile_save(name="conversation", content=BRIEF, expected_version=1, principal=chief),
        lambda: profile_delete(name="conversation", principal=chief),
    ]
    for write in writes:
        with pytest.raises(Conflict, match="Copy it under another name"):
            write()
    assert find_profile("conversation") is CONVERSATION


def test_what_was_never_changed_cannot_be_deleted(chief: Principal) -> None:
    with pytest.raises(Conflict, match="nothing to delete"):
        profile_delete(name="coding", principal=chief)


@pytest.mark.parametrize("name", ["nobody", "", "\x00", "x" * 10_000])
def test_what_is_not_there_is_not_found(name: str, chief: Principal) -> None:
    with pytest.raises(NotFound):
        find_profile_entry(name)
    with pytest.raises(NotFound):
        profile_save(name=name, content=BRIEF, expected_version=1, principal=chief)
    with pytest.raises(NotFound):
        profile_delete(name=name, principal=chief)
    with pytest.raises(Invalid, match="Known are: coding, conversation, memory, operations, research, stack"):
        find_profile(name)


@pytest.mark.parametrize("person", ["owner", "outsider"])
def test_only_admins_of_the_organisation_write(person: str, chief: Principal, request: pytest.FixtureRequest) -> None:
    principal = request.getfixturevalue(person).principal
    profile_create(name="brief", content=BRIEF, principal=chief)
    writes: list[Callable[[], Any]] = [
        lambda: profile_create(name="own", content=BRIEF, principal=principal),
        lambda: profile_save(name="brief", content=BRIEFER, expected_version=1, principal=principal),
        lambda: profile_delete(name="brief", principal=principal),
    ]
    for write in writes:
        with pytest.raises(Forbidden):
            write()
    assert find_profile("brief").version == 1


def test_what_cannot_be_read_is_not_saved(chief: Principal) -> None:
    profile_create(name="brief", content=BRIEF, principal=chief)
    with pytest.raises(Invalid, match="Line 5: “source” must be one of"):
        profile_save(name="brief", content=GONE, expected_version=1, principal=chief)
    with pytest.raises(Invalid, match="Line 5"):
        profile_create(name="other", content=GONE, principal=chief)
    assert StoredProfile.objects.get().version == 1


def test_a_profile_whose_source_is_gone_is_listed_and_says_so_when_used(
    chief: Principal, moons: Callable[[], None], agent: Agent
) -> None:
    profile_create(name="brief", content=GONE, principal=chief)
    assert [section.key for section in find_profile("brief").sections] == ["identity", "moons"]
    moons()
    entry = find_profile_entry("brief")
    assert (entry.described, entry.fault and entry.fault.line) == (None, 5)
    assert "brief" in [entry.name for entry in all_profiles()]
    with pytest.raises(Invalid, match=r"The profile brief cannot be used\. Line 5: “source”"):
        assemble(agent=agent, principal=chief, asked=AssemblyRequest(profile="brief"))
    assert profile_save(name="brief", content=BRIEF, expected_version=1, principal=chief).version == 2


def test_a_stored_profile_is_used_and_recorded(agent: Agent, chief: Principal) -> None:
    profile_create(name="brief", content=BRIEF, principal=chief)
    profile_save(name="brief", content=BRIEFER, expected_version=1, principal=chief)
    assembly = assemble(agent=agent, principal=chief, asked=AssemblyRequest(profile="brief")).assembly
    assert (assembly.profile_name, assembly.profile_version, assembly.budget) == ("brief", 2, 400)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_profile_that_dossier_comes_with_can_be_used(name: str) -> None:
    agent, team = everything()
    turns = () if name == "conversation" else (ConversationTurn(role="user", content="Is the ink dry?"),)
    answer = assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(profile=name, history=turns))
    assert answer.assembly.profile_name == name
    # Who the agent is is no memory.
    assert ("Identity" in answer.content.splitlines()[0]) is (name != "memory")
    assert ("Recent Turns" in answer.content) is bool(turns)
    assert answer.assembly.tokens <= answer.assembly.budget


def test_the_list_has_dossiers_profiles_first(
    chief: Principal, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    profile_save(name="research", content=BRIEF, expected_version=1, principal=chief)
    for name in ("brief", "aaa"):
        profile_create(name=name, content=BRIEF, principal=chief)
    with django_assert_num_queries(1):
        entries = all_profiles()
    assert [entry.name for entry in entries] == [
        "coding", "conversation", "memory", "operations", "research", "stack", "aaa", "brief",
    ]  # fmt: skip
    assert [entry.name for entry in entries if entry.stored] == ["research", "aaa", "brief"]
    assert [entry.name for entry in entries if not entry.editable] == ["conversation"]


def test_a_profile_takes_one_query_and_conversation_none(
    chief: Principal, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    profile_create(name="brief", content=BRIEF, principal=chief)
    with django_assert_num_queries(1):
        find_profile("brief")
    with django_assert_num_queries(0):
        find_profile("conversation")


def test_there_is_an_end_to_profiles(chief: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.profiles.services.MAX_PROFILES", 1)
    profile_create(name="brief", content=BRIEF, principal=chief)
    with pytest.raises(Conflict, match="1 profiles already"):
        profile_create(name="other", content=BRIEF, principal=chief)
    assert MAX_PROFILES == 200
