"""Pages of what is wanted: each context once, in order, whatever is common and whatever is rare."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db import connection

from agents.models import Agent
from agents.services import agent_create
from assembly.contexts.search import db, search, sql
from assembly.contexts.search.db import SearchTooBroad
from assembly.contexts.search.parameters import require_context_query
from assembly.contexts.search.search import search_contexts
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.models import Assembly
from config.db.statements import fetch_rows
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.assembly.contexts.context_rows import context, piece

pytestmark = pytest.mark.django_db
FILE = "agent_file:0000"


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search gives up as soon as it may."""
    for name, few in (
        ("MAX_WALKED_ROWS", 4),
        ("MAX_FOUND_ROWS", 3),
        ("SECOND_WALK_FACTOR", 2),
        ("MAX_WALKED_FOR_WORDS", 2),
        ("MOST_SLICES", 2),
    ):
        monkeypatch.setattr(search, name, few)
    bounds = "SELECT array_agg(DISTINCT created ORDER BY created), count(DISTINCT created) FROM assemblies"
    monkeypatch.setattr(search, "HISTOGRAMS_SQL", f"{bounds} WHERE extract(minute FROM created)::int %% 4 = 0")
    monkeypatch.setattr(search, "SLICE_ROWS", 1)


def all_pages(given: Mapping[str, str], *, limit: int, principal: Principal = SYSTEM) -> list[str]:
    """The topics of all pages."""
    visible, seen, after = VisibleOwners(principal), list[str](), None
    wanted = require_context_query(given, visible)
    while True:
        page = search_contexts(visible=visible, wanted=wanted, after=after, limit=limit)
        assert len(page.contexts) <= limit
        assert page.next or page.reached is None
        seen += [one.topic for one in page.contexts]
        if page.next is None:
            return seen
        after = page.next


def matches(one: Assembly, given: Mapping[str, str], held: Mapping[str, int]) -> bool:
    """The same, in Python."""
    checks: dict[str, Callable[[str], bool]] = {
        "agent": lambda value: one.agent_slug == value,
        "team": lambda value: one.team_slug == value,
        "profile": lambda value: one.profile_name == value,
        "warning": lambda value: value in one.warnings,
        "reason": lambda value: value in one.codes,
        "outcome": lambda _value: one.truncated or bool(one.warnings),
        "included_ref": lambda value: held[value] in one.told,
        "excluded_ref": lambda value: held[value] in one.omitted,
    }
    return all(checks[name](value) for name, value in given.items())


def test_all_pages_together_are_the_list(few_at_once: None, team: Team, agent: Agent, teammate: User) -> None:
    chance = random.Random(7)
    held = {name: piece(name) for name in (f"{FILE}@1", "memory:1@1", "memory:2@1")}
    others = [agent_create(slug=f"other-{number}", name="Other", teams=[team]) for number in range(2)]
    rows = []
    for number in range(60):
        told = [id_ for id_ in held.values() if chance.random() < 0.3]
        facts: dict[str, Any] = {"told": told, "omitted": [id_ for id_ in held.values() if id_ not in told]}
        facts |= {"warnings": ["SOURCE_TIMEOUT"] if chance.random() < 0.1 else [], "truncated": chance.random() < 0.3}
        facts |= {"codes": ["fits"] if chance.random() < 0.5 else ["duplicate"]}
        facts |= {"profile_name": chance.choice(["conversation", "research"])}
        whose, where = chance.choice([agent, agent, *others]), chance.choice([team, None])
        # Three at a time have one moment, which the id puts in order.
        rows.append(context(whose, where, age=number // 3, topic=str(number), **facts))
    rows.sort(key=lambda row: (row.created, row.id), reverse=True)
    choices = {
        "agent": ["ada", "other-0"],
        "team": ["care"],
        "profile": ["research"],
        "warning": ["SOURCE_TIMEOUT"],
        "reason": ["fits"],
        "outcome": ["truncated"],
        "included_ref": [*held],
        "excluded_ref": [*held],
    }
    for _ in range(60):
        given = {name: chance.choice(choices[name]) for name in chance.sample([*choices], chance.randrange(4))}
        expected = [row.topic for row in rows if matches(row, given, held)]
        for principal in (SYSTEM, teammate.principal):
            assert all_pages(given, limit=chance.choice([1, 3, 50]), principal=principal) == expected, given


def test_what_is_rare_and_long_ago_is_on_the_first_page(few_at_once: None, team: Team, agent: Agent) -> None:
    held = piece(f"{FILE}@1")
    for number in range(30):
        context(agent, team, age=number, told=[held] if number == 29 else [])
    visible = VisibleOwners(SYSTEM)
    page = search_contexts(visible=visible, wanted=require_context_query({"included_ref": FILE}, visible), limit=5)
    assert len(page.contexts) == 1
    assert (page.next, page.reached) == (None, None)


@pytest.mark.parametrize(
    ("given", "reached"),
    [({"included_ref": FILE}, 8), ({"outcome": "excluded"}, 11)],
    ids=["in slices", "along all rows"],
)
def test_where_no_way_ends_the_page_says_how_far_it_came(
    few_at_once: None, team: Team, agent: Agent, given: Mapping[str, str], reached: int
) -> None:
    held = piece(f"{FILE}@1")
    wanted_ones = {"told": [held], "left_out": 1}
    rows = [context(agent, team, age=number, **(wanted_ones if number > 15 else {})) for number in range(30)]
    visible = VisibleOwners(SYSTEM)
    page = search_contexts(visible=visible, wanted=require_context_query(given, visible), limit=5)
    assert page.contexts == []
    assert page.reached == rows[reached].created
    assert len(all_pages(given, limit=5)) == 14


def test_who_sees_very_many_agents_sees_the_same(
    team: Team, agent: Agent, teammate: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [agent_create(slug=f"other-{number}", name="Other", teams=[team]) for number in range(3)]
    for number in range(12):
        context([agent, *others][number % 4], team, age=number, topic=str(number))
    merged = all_pages({}, limit=5, principal=teammate.principal)
    monkeypatch.setattr(sql, "MAX_MERGED", 2)
    assert all_pages({}, limit=5, principal=teammate.principal) == merged == [str(number) for number in range(12)]


def test_many_pieces_are_searched_for_at_once_and_too_many_are_told(
    team: Team, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [piece(f"{FILE}@{number}") for number in range(1, 13)]
    context(agent, team, topic="has it", told=versions[-1:])
    context(agent, team, age=1, topic="has not")
    assert all_pages({"included_ref": FILE}, limit=5) == ["has it"]
    monkeypatch.setattr("assembly.contexts.search.sql.MAX_PIECES", 12)
    visible = VisibleOwners(SYSTEM)
    assert search_contexts(
        visible=visible, wanted=require_context_query({"included_ref": FILE}, visible), limit=5
    ).is_partial_match


def test_a_document_is_found_by_its_chunks(team: Team, agent: Agent) -> None:
    document = "00000000-0000-7000-8000-000000000001"
    context(agent, team, topic="has it", told=[piece(f"chunk:{document}@2#7")])
    context(agent, team, age=1, topic="has another", told=[piece("chunk:00000000-0000-7000-8000-000000000002@2#7")])
    assert all_pages({"included_ref": f"chunk:{document}"}, limit=5) == ["has it"]
    assert all_pages({"included_ref": f"chunk:{document}@2#7"}, limit=5) == ["has it"]


def test_a_search_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db, "TIMEOUT_MS", 20)
    with pytest.raises(SearchTooBroad), db.bounded_search():
        fetch_rows("SELECT pg_sleep(5)", {})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"agent": "ada"},
        {"team": "care"},
        {"requested_by": "person:42"},
        {"profile": "research"},
        {"warning": "SOURCE_TIMEOUT"},
        {"reason": "duplicate"},
        {"included_ref": FILE},
        {"excluded_ref": FILE},
        {"outcome": "truncated"},
        {"outcome": "excluded"},
        {"q": "kettle"},
        {"agent": "ada", "included_ref": FILE, "reason": "duplicate"},
        {"since": "2026-01-01", "until": "2026-02-01"},
    ],
)
@pytest.mark.parametrize("who", ["admin", "teammate"])
@pytest.mark.usefixtures("few_at_once", "team")
def test_no_search_reads_a_whole_table(
    given: Mapping[str, str], who: str, agent: Agent, request: pytest.FixtureRequest
) -> None:
    principal = request.getfixturevalue(who).principal
    held = piece(f"{FILE}@1")
    for number in range(10):
        context(agent, age=number, told=[held] if number == 9 else [])
    visible = VisibleOwners(principal)
    plans: list[str] = []

    def planned(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Asks for the plan with the settings that hold for the statement: others do for the next one."""
        if "SELECT" in sql and "set_config(" not in sql:
            rows = connection.connection.execute(f"EXPLAIN {sql}", params).fetchall()
            plans.append("\n".join(line for (line,) in rows))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(planned):
        search_contexts(visible=visible, wanted=require_context_query(given, visible), limit=2)
    assert plans
    for plan in plans:
        assert not any(f"Seq Scan on {table}" in plan for table in ("assemblies", "pieces", "stored_texts")), plan
