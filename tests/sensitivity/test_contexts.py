"""Contexts: nothing above the clearance is told, nor does it change what is told; with the clearance, it is told."""

import datetime
from typing import Any
from unittest.mock import patch

import pytest

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.conflicts.services import conflict_resolve
from assembly.models import Assembly
from assembly.pipeline.read_plan import withheld_queries
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.shipped import SHIPPED
from assembly.rules.services import rule_create
from config.db.statements import run_together
from memories.models import Memory
from memories.search import candidates
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.sensitivity import SETTABLE_LEVELS, Clearances, Sensitivity
from tests import personas
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.built_once import copy_of
from tests.client import Api
from tests.sensitivity.restricted_things import (
    MARKER,
    add_files,
    add_items,
    add_memories,
    add_organisation_file,
    raise_level,
)

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)

NOW = datetime.datetime(2026, 1, 5, 12, tzinfo=datetime.UTC)
RULE = "then: {always_include: [{memory_kind: fact}, {path: '*.md'}, {tag: tea}, {path: RULES}]}\n"
PLAIN = "Plainly"


@pytest.fixture(scope="module")
def stocked_of_module(agent: Agent, team: Team) -> Agent:
    """An agent with several things of every kind, none of them above internal."""
    for number in range(3):
        add_items(agent, f"{PLAIN}{number}", Sensitivity.INTERNAL)
    for owner in (agent, team):
        facts = [MemoryFacts(kind="fact", text=f"{PLAIN} {number} cups of tea, said Ada.") for number in range(30)]
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    rule_create(name="always", content=RULE, owner=team, principal=SYSTEM)
    for row in (agent.files.get(file_key="KNOWLEDGE"), team.files.get(file_key="RULES")):
        raise_level(type(row), row.pk)  # every agent and team has them; they are empty as yet
    return agent


@pytest.fixture
def stocked(stocked_of_module: Agent, db: None) -> Agent:
    return copy_of(stocked_of_module)


def add_restricted(agent: Agent, team: Team) -> None:
    """One restricted thing of every kind, some of them older than all others."""
    add_items(agent, MARKER, Sensitivity.RESTRICTED)
    add_files(agent, team, MARKER)
    add_memories(agent, team, MARKER)
    add_organisation_file()
    past = [
        MemoryFacts(
            kind="fact", text=f"{MARKER} tea, {number}", sensitivity=Sensitivity.RESTRICTED, language="german",
            occurred_at=NOW - datetime.timedelta(minutes=number),
        )
        for number in range(20)
    ]  # fmt: skip
    memories_create(owner=agent, facts=past, principal=SYSTEM)
    pinned = Memory.objects.filter(agent=agent, sensitivity=Sensitivity.RESTRICTED).first()
    assert pinned
    Memory.objects.filter(id=pinned.id).update(pinned=True)
    plain = Memory.objects.filter(agent=agent, text__startswith=PLAIN).order_by("id")[0]
    conflict_resolve(conflict=conflict_between(plain, pinned), choice="left", principal=SYSTEM)


def told(agent: Agent, team: Team, principal: Principal, profile: str, **asked: Any) -> tuple[str, list[Any], Assembly]:
    """The text of a context, its decisions with all scores, and its record."""
    request = AssemblyRequest(
        topic=f"Where is the tea of Ada, {PLAIN}1 entity and {MARKER}?",
        profile=profile,
        max_tokens=20_000,
        now=NOW,
        **asked,
    )
    result = assemble(agent=agent, team=team, asked=request, principal=principal)
    return result.content, list(result.decisions), result.assembly


@pytest.mark.parametrize("profile", sorted(SHIPPED))
@pytest.mark.parametrize("exact_rows", [candidates.EXACT_ROWS, 10])
def test_restricted_things_change_neither_text_nor_scores(
    profile: str, exact_rows: int, stocked: Agent, team: Team, teammate: User
) -> None:
    with patch.object(candidates, "EXACT_ROWS", exact_rows):
        compare_with_and_without(profile, stocked, team, teammate)


def compare_with_and_without(profile: str, stocked: Agent, team: Team, teammate: User) -> None:
    Agent.objects.filter(pk=stocked.pk).update(clearance=Sensitivity.RESTRICTED)
    stocked.refresh_from_db()
    before, decisions, _ = told(stocked, team, teammate.principal, profile)
    assert PLAIN in before
    add_restricted(stocked, team)
    after, again, record = told(stocked, team, teammate.principal, profile)
    assert after == before
    assert again == decisions
    assert record.sensitivity == Sensitivity.INTERNAL
    assert sum(report.get("withheld", 0) for report in record.sources)


@pytest.mark.parametrize("profile", ["stack", "memory"])
def test_with_the_clearance_it_is_told(profile: str, stocked: Agent, team: Team, owner: User) -> None:
    add_restricted(stocked, team)
    Agent.objects.filter(pk=stocked.pk).update(clearance=Sensitivity.RESTRICTED)
    stocked.refresh_from_db()
    content, _, record = told(stocked, team, owner.principal, profile)
    assert MARKER in content
    assert record.sensitivity == Sensitivity.RESTRICTED
    strict, _, of_strict = told(stocked, team, owner.principal, profile, privacy_mode="strict")
    assert MARKER not in strict.replace(f"and {MARKER}?", "")
    assert of_strict.sensitivity == Sensitivity.INTERNAL


def test_the_agent_limits_who_asks_and_who_asks_the_agent(
    stocked: Agent, team: Team, owner: User, editor: User, teammate: User
) -> None:
    add_restricted(stocked, team)
    for level in SETTABLE_LEVELS:
        Agent.objects.filter(pk=stocked.pk).update(clearance=level)
        stocked.refresh_from_db()
        for person in (owner, editor, teammate):
            content, _, _ = told(stocked, team, person.principal, "memory")
            assert (MARKER in content) == (level == Sensitivity.RESTRICTED and person == owner)


def test_a_key_needs_the_scope_and_the_agent_the_clearance(stocked: Agent, team: Team) -> None:
    add_restricted(stocked, team)
    keys = {
        scope: Api(api_key_create(agent=stocked, scopes=[scope] if scope else [])[1])
        for scope in ("", ApiKey.Scope.CONFIDENTIAL, ApiKey.Scope.RESTRICTED)
    }
    body = {"agent": stocked.slug, "team": team.slug, "profile": "memory", "topic": "tea", "max_tokens": 20_000}

    def reads(scope: str) -> bool:
        answer = keys[scope].post("assemblies", body)
        assert answer.status_code == 201, answer.content
        listed = keys[scope].get(f"agents/{stocked.slug}/memories").content.decode()
        assert (MARKER in listed) == (MARKER in answer.json()["content"])
        return MARKER in listed

    assert not any(map(reads, keys))
    Agent.objects.filter(pk=stocked.pk).update(clearance=Sensitivity.RESTRICTED)
    assert [scope for scope in keys if reads(scope)] == [ApiKey.Scope.RESTRICTED]


def test_an_answer_with_restricted_texts_is_not_shared_and_its_record_is_hidden(
    stocked: Agent, team: Team, owner: User, teammate: User
) -> None:
    add_restricted(stocked, team)
    Agent.objects.filter(pk=stocked.pk).update(clearance=Sensitivity.RESTRICTED)
    stocked.refresh_from_db()
    _, _, record = told(stocked, team, owner.principal, "memory")
    assert Api(person=owner.principal).get(f"assemblies/{record.id}").status_code == 200
    assert Api(person=teammate.principal).get(f"assemblies/{record.id}").status_code == 404
    content, _, _ = told(stocked, team, teammate.principal, "memory")
    assert MARKER not in content


def test_how_much_was_withheld_is_told_to_those_who_may_read_everything(
    stocked: Agent, team: Team, owner: User, teammate: User
) -> None:
    add_restricted(stocked, team)
    _, _, record = told(stocked, team, teammate.principal, "memory")
    shown = {
        person.username: Api(person=person.principal).get(f"assemblies/{record.id}").json()["metadata"]["sources"]
        for person in (owner, teammate)
    }
    assert any(report.get("withheld") for report in shown["owner"])
    assert not any("withheld" in report for report in shown["teammate"])


def test_as_much_is_withheld_where_the_owners_are_on_other_servers(stocked: Agent, team: Team, settings: Any) -> None:
    add_restricted(stocked, team)

    def counted() -> list[dict[str, int]]:
        clearances, found = Clearances(*[Sensitivity.INTERNAL] * 3), []
        for query in withheld_queries(stocked, team, clearances, lambda counts, _: found.append({**counts})):
            [rows] = run_together([query.statement])
            query.read(rows, 0)
        return found

    [together] = counted()
    settings.DATABASE_DISTRIBUTED = True
    apart = counted()
    assert len(apart) == 3, "of the agent, of its team, of the coordinator"
    assert {**apart[0], **apart[1], **apart[2]} == together
    assert all(apart)
