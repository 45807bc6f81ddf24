"""Promise 6, its ground: every committed change of what a context is made of is counted, and nobody waits for it."""

from collections.abc import Callable
from functools import partial
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.db import connection, connections, transaction
from uuid_utils.compat import uuid7

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from agents.services import agent_create, agent_delete
from assembly.models import ChangeCounter, Conflict, StoredProfile, StoredRule
from assembly.records.change_counters import load_change_counts
from config.db.migration_helpers import ORGANISATION
from memories.models import Entity, Memory, Pattern, Session
from memories.services import MemoryFacts, memories_create
from teams.models import OrganisationFile, Team
from teams.principal import SYSTEM
from teams.services import erase, team_delete
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.one_of_each import everything
from tests.concurrency import at_once

OF_TEAMS = {"file_passages", "teams", "team_md_files"}
OF_ORGANISATION = {
    "embedding_space", "external_sources", "file_passages", "organisation_files", "profiles", "profile_tunings",
    "learned_weights",
}  # fmt: skip
OF_AGENTS = {
    "agents", "agent_teams", "agent_md_files", "daily_logs", "memories", "sessions", "events", "entities", "relations",
    "patterns", "documents", "chunks", "file_passages", "threads", "tools", "task_frames",
    "rules", "conflicts",
}  # fmt: skip
APPEND_ONLY = {"profile_tunings", "learned_weights"}  # an insert counts: tests of feedback and of learned weights
COUNTED = sorted(OF_TEAMS | OF_ORGANISATION | OF_AGENTS)

NOT_COUNTED = {
    "readings": "who read what; nothing is made of it",
    "requested_policies": "a policy says where a thing is stored, not whether a context includes it",
    "kv_policy_versions": "a policy says where a thing is stored, not whether a context includes it",
    "alerts": "what follows from records, and nothing is made of it",
    "api_keys": "who may ask is looked up before the cache is",
    "assemblies": "the record is made of all the others, and nothing is made of it",
    "context_counts": "what follows from records, and nothing is made of it",
    "file_losses": "what follows from records, and nothing is made of it",
    "jobs": "work to be done; what it does is written to counted tables",
    "memberships": "who may ask is looked up before the cache is",
    "proposals": "nothing is made of one until somebody publishes it",
    "prunings": "what became of records, of which nothing is made",
    "publication_guards": "what may be published is not what contexts are made of",
    "recall_results": "what tests said of contexts, and nothing is made of it",
    "recall_tests": "contexts are checked by them, and nothing is made of them",
    "retention_policies": "how long records are kept, of which nothing is made",
    "subject_mentions": "what was found to name a person; what is withheld for it is in counted tables",
    "webhooks": "whom alerts are told",
}


@pytest.fixture
def kept(db: None) -> tuple[Agent, Team]:
    agent, team = everything()
    conflict_between(*agent.memories.all())
    return agent, team


def counted_tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT tgrelid::regclass::text FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
            WHERE proname = 'count_changes' GROUP BY 1 HAVING count(*) = 4
        """)
        return {table for (table,) in cursor.fetchall()}


def raised(change: Callable[[], object], *owners: UUID) -> tuple[int, ...]:
    """By how much the change raised each owner's count."""
    before = load_change_counts(*owners)
    change()
    return tuple(after - count for after, count in zip(load_change_counts(*owners), before, strict=True))


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_whatever_belongs_to_an_agent_or_a_team_is_counted_or_has_a_reason_not_to_be(db: None) -> None:
    of_owners = {
        model._meta.db_table
        for model in apps.get_models()
        if {"agent_id", "team_id"} & {field.column for field in model._meta.concrete_fields}
    }
    assert counted_tables() == set(COUNTED)
    assert of_owners - counted_tables() == set(NOT_COUNTED)


@pytest.mark.parametrize("table", sorted(set(COUNTED) - APPEND_ONLY))
def test_a_change_of_any_row_raises_the_count_of_its_owner_once(table: str, kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    owners = (agent.id, team.id, ORGANISATION)
    once = (int(table in OF_AGENTS), int(table in OF_TEAMS), int(table in OF_ORGANISATION))
    if table == "memories":  # here is one of each
        once = (1, 1, 0)
    column = {
        "agent_teams": "team_id", "chunks": "line", "file_passages": "line", "embedding_space": "slot",
        "conflicts": "status",
    }.get(table, "version")  # fmt: skip
    assert raised(partial(run, f"UPDATE {table} SET {column} = {column}"), *owners) == once  # noqa: S608
    assert raised(partial(run, f"UPDATE {table} SET {column} = {column} WHERE false"), *owners) == (0, 0, 0)  # noqa: S608


def deletion(kept: tuple[Agent, Team], table: str) -> Callable[[], object]:
    agent, team = kept
    ids = {"agents": agent.id, "teams": team.id, "profiles": StoredProfile.objects.get().id}
    ids["organisation_files"] = OrganisationFile.objects.get().id
    ids["rules"] = StoredRule.objects.get().id
    ids["conflicts"] = Conflict.objects.get().id
    if table in {"memories", "daily_logs"}:
        ids[table] = (agent.memories if table == "memories" else agent.daily_logs).all()[0].id
    if table in ids:
        return partial(erase, table, ids[table], SYSTEM)
    return partial(run, f"DELETE FROM {table}")  # noqa: S608


@pytest.mark.parametrize(
    "table", sorted(set(COUNTED) - APPEND_ONLY - {"agent_md_files", "team_md_files"})
)  # go with their owner
def test_so_does_deleting_and_erasing_it(table: str, kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    by = raised(deletion(kept, table), agent.id, team.id, ORGANISATION)
    assert [count > 0 for count in by] == [
        table in OF_AGENTS or table == "teams",  # the agent works there no longer
        table in OF_TEAMS,
        table in OF_ORGANISATION,
    ]


def test_a_cascade_counts_for_everyone_whose_rows_it_takes(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    assert raised(Session.objects.get().delete, agent.id)[0] == 3, "the session, its task and its event"
    assert raised(partial(team_delete, team=team, principal=SYSTEM), team.id)[0] >= 3, "itself, files and memories"
    assert raised(partial(agent_delete, agent=agent, principal=SYSTEM), agent.id)[0] >= len(OF_AGENTS) - 4
    assert ChangeCounter.objects.filter(owner=agent.id).exists(), "a count never starts again"


def test_an_insert_is_counted_once_however_many_rows_it_brings(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    facts = [MemoryFacts(kind="fact", text=f"Fact {number}") for number in range(400)]
    assert raised(partial(memories_create, owner=agent, facts=facts, principal=SYSTEM), agent.id, team.id) == (1, 0)


def test_a_statement_that_touches_several_owners_raises_each(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    other = agent_create(slug="noa", name="Noa")
    memories_create(owner=other, facts=[MemoryFacts(kind="fact", text="x")], principal=SYSTEM)
    unconcerned = agent_create(slug="uma", name="Uma")
    owners = (agent.id, team.id, other.id, unconcerned.id)
    assert raised(lambda: Memory.objects.update(salience=0.9), *owners) == (1, 1, 1, 0)
    assert raised(lambda: Pattern.objects.update(agent=other), *owners) == (1, 0, 1, 0), "it left one for another"


def test_what_no_context_is_made_of_raises_nothing(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    key, _ = api_key_create(agent=agent, name="Key")
    used = partial(ApiKey.objects.filter(id=key.id).update, last_used="2026-01-01T00:00Z")
    assert raised(used, agent.id, team.id, ORGANISATION) == (0, 0, 0)
    assert raised(agent.refresh_from_db, agent.id) == (0,)


def test_the_same_transaction_raises_the_same_share_again(kept: tuple[Agent, Team]) -> None:
    agent, _ = kept
    for number in range(5):
        Entity.objects.create(agent=agent, type="thing", name=f"Thing {number}")
    assert ChangeCounter.objects.filter(owner=agent.id).count() == 1


def test_the_owner_of_the_database_counts_as_well(committed_database: str) -> None:
    agent, team = everything()
    owners = (agent.id, team.id, ORGANISATION)
    assert raised(lambda: Entity.objects.using("owner").update(salience=0.1), *owners) == (1, 0, 0)

    def empty_all() -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute("TRUNCATE patterns")

    assert raised(empty_all, *owners) == (0, 0, 1), "whose rows they were is not told, so it counts for everyone"


def test_the_counts_come_in_the_order_asked_for(kept: tuple[Agent, Team]) -> None:
    agent, team = kept
    nobody = uuid4()
    counts = load_change_counts(agent.id, nobody, team.id)
    assert counts == (*load_change_counts(agent.id), 0, *load_change_counts(team.id))
    assert load_change_counts() == ()


# --- many at once -----------------------------------------------------------------------------------------------

WRITERS, COMMITS = 16, 20


@pytest.fixture
def impatient(committed_database: str) -> None:
    """Whoever would wait for the end of another's transaction fails instead."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {committed_database} SET lock_timeout = '2s'")
    connections["default"].close_pool()  # type: ignore[attr-defined]  # new sessions heed it
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("2s",)


def new_patterns(agent: Agent, number: int) -> list[Pattern]:
    return [Pattern(agent_id=agent.id, name=str(uuid7()), guidance="x") for _ in range(number)]


def test_writers_of_one_agent_neither_wait_nor_lose_a_count(impatient: None) -> None:
    agent = agent_create(slug="ada", name="Ada")
    before = load_change_counts(agent.id)[0]

    def commit_often() -> list[int]:
        seen = []
        for number in range(COMMITS):
            with transaction.atomic():
                Pattern.objects.bulk_create(new_patterns(agent, 3))
                if number % 2:
                    Pattern.objects.bulk_create(new_patterns(agent, 1))
            seen.append(load_change_counts(agent.id)[0])
        return seen

    for seen in at_once([commit_often] * WRITERS):
        assert seen == sorted(set(seen)), "every commit raised it for everyone who looked afterwards"
    assert load_change_counts(agent.id)[0] - before == WRITERS * COMMITS * 3 // 2
    most = 2 * WRITERS  # none raises more than two before it commits, and a new share is made only if all are held
    assert ChangeCounter.objects.filter(owner=agent.id).count() <= most


def test_writers_of_two_owners_in_opposite_order_do_not_lock_each_other_out(impatient: None) -> None:
    first, second = agent_create(slug="ada", name="Ada"), agent_create(slug="ben", name="Ben")

    def write_both(*agents: Agent) -> None:
        for _ in range(COMMITS):
            with transaction.atomic():
                for agent in agents:
                    Pattern.objects.bulk_create(new_patterns(agent, 1))

    before = load_change_counts(first.id, second.id)
    at_once([partial(write_both, first, second), partial(write_both, second, first)] * 4)
    after = load_change_counts(first.id, second.id)
    assert [new - old for new, old in zip(after, before, strict=True)] == [8 * COMMITS] * 2


def test_what_is_not_committed_is_seen_by_nobody_else_and_holds_up_nobody(impatient: None) -> None:
    agent = agent_create(slug="ada", name="Ada")
    before = load_change_counts(agent.id)[0]

    def write() -> int:
        Pattern.objects.bulk_create(new_patterns(agent, 1))
        return load_change_counts(agent.id)[0] - before

    with transaction.atomic():
        Pattern.objects.bulk_create(new_patterns(agent, 1))
        assert at_once([write]) == [1]
        assert load_change_counts(agent.id)[0] - before == 2
        transaction.set_rollback(True)
    assert load_change_counts(agent.id)[0] - before == 1
