"""The table of memories is divided into partitions by owner, and everything is as it was."""

import datetime
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connections, transaction

from agents.models import Agent
from agents.services import agent_create
from assembly.simulation.time_travel.shadow_tables import database_as_of
from config.db.partitions.definition import Definition, definition_of
from config.db.partitions.divided_tables import MEMORIES, PARTITIONS, leaves
from config.db.partitions.references import references_to
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.active_model import read_active_model
from memories.embeddings.reembedding import build_index
from memories.models import Memory, MemoryVersion
from memories.search import candidates, owner_partition
from memories.search.features import Weights
from memories.search.memory_search import find_memories, search_memories, topic_vector
from memories.search.question import parse_question
from memories.services import MemoryFacts, facts_of, memories_create, memory_delete, memory_update
from memories.services.memory import Owner
from privacy.erasure.table_rewrite import TableBusy, table_rewrite
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_create

pytestmark = pytest.mark.usefixtures("committed_database")

EACH = 40
WEIGHTS = Weights({"similarity": 1.0})
TOPIC = "When does the paper of roll 7 dry?"


def partition_tables(*arguments: str) -> str:
    out = StringIO()
    call_command("partition_tables", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def owners() -> Iterator[list[Owner]]:
    """Two teams and two agents with EACH memories; the first memory of each is superseded by the last."""
    found: list[Owner] = [team_create(slug=f"team-{number}", name="Press") for number in range(2)]
    found += [agent_create(slug=f"agent-{number}", name="Mira") for number in range(2)]
    for place, owner in enumerate(found):
        facts = [
            MemoryFacts(
                kind="fact", text=f"Roll {number} of paper {place} dries in a day.", external_id=f"roll {number}"
            )
            for number in range(EACH)
        ]
        memories = memories_create(owner=owner, facts=facts, principal=SYSTEM)
        memory_update(
            memory=memories[0], expected_version=1, facts=facts_of(memories[0]), superseded_by=memories[-1],
            principal=SYSTEM,
        )  # fmt: skip
    yield found
    owner_partition.notice_division(is_divided=False)


def rows() -> list[dict[str, Any]]:
    return [{**row} for row in Memory.everything.order_by("id").values()]


def found_for(owner: Owner) -> list[list[UUID | str]]:
    """The ids that each way of searching finds, in order."""
    question = parse_question(TOPIC, topic_vector(TOPIC), datetime.date(2026, 1, 1))
    searched = search_memories(owner=owner, question=question, weights=WEIGHTS, limit=9, recent=3)
    nearest = find_memories(owner=owner, vector=topic_vector(TOPIC), similar=9, recent=3)
    newest = find_memories(owner=owner, vector=None, similar=0, recent=9)
    return [[one.id for one in found] for found in (searched, nearest, newest)]


def comparable(definition: Definition) -> tuple[Any, ...]:
    columns, triggers = definition.columns, [one for one in definition.triggers if "_taken_ids" not in one[0]]
    indexes = [(one.name, one.on("memories", one.name).as_string(), one.comment) for one in definition.indexes]
    return columns, definition.checks, definition.referred, indexes, triggers, definition.rights


def test_rows_searches_and_the_catalogue_are_as_before(owners: list[Owner], monkeypatch: pytest.MonkeyPatch) -> None:
    before, told = rows(), [found_for(owner) for owner in owners]
    with monkeypatch.context() as patched:
        patched.setattr(candidates, "EXACT_ROWS", 10)
        large = [found_for(owner)[0] for owner in owners]
    definition = definition_of("memories", MEMORIES)
    followed = references_to(MEMORIES)
    assert {one.name for one in followed} == {"memories_superseded_by", "memory_versions_file_id_cascade"}
    said = partition_tables("--table", "memories", "--batch", "30")
    assert f"{len(before):,} rows are equal" in said
    assert rows() == before
    assert [found_for(owner) for owner in owners] == told, "of which the first search notices that it is divided"
    assert owner_partition.within()["within"]
    assert [found_for(owner) for owner in owners] == told
    monkeypatch.setattr(candidates, "EXACT_ROWS", 10)
    assert [found_for(owner)[0] for owner in owners] == large
    owner_partition.notice_division(is_divided=False)
    monkeypatch.setattr("memories.search.question.notice_division", lambda _: None)
    assert [found_for(owner)[0] for owner in owners] == large, "nor do row addresses of other partitions matter"
    after = definition_of("memories", MEMORIES)
    kept = [one for one in after.triggers if one[0].rpartition("_")[0] not in {name.name for name in followed}]
    assert comparable(definition)[:4] == comparable(after)[:4]
    assert [one for one in kept if "_taken_ids" not in one[0]] == list(definition.triggers)
    assert definition.rights == after.rights
    left = fetch_rows("SELECT relname FROM pg_class WHERE relname LIKE '%moving%' UNION SELECT proname FROM pg_proc"
                      " WHERE proname LIKE '%moving%'")  # fmt: skip
    assert left == []
    assert len(leaves("memories")) == PARTITIONS
    assert "is divided already" in partition_tables("--table", "memories")


@pytest.mark.parametrize("exact_rows", [candidates.EXACT_ROWS, 10], ids=["small owners", "large owners"])
def test_a_search_of_the_past_does_not_read_the_partition(
    owners: list[Owner], exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "EXACT_ROWS", exact_rows)
    partition_tables("--table", "memories")
    owner, moment = owners[-1], datetime.datetime.now(datetime.UTC)
    [changed] = Memory.objects.filter(agent_id=owner.pk, external_id="roll 7")
    facts = replace(facts_of(changed), text="When does the paper of roll 7 dry? Never.")
    memory_update(memory=changed, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)

    def said() -> dict[UUID | str, str]:
        question = parse_question(TOPIC, topic_vector(TOPIC), datetime.date(2026, 1, 1))
        found = search_memories(owner=owner, question=question, weights=WEIGHTS, limit=EACH, recent=3)
        return {one.id: one.text for one in found}

    for _ in range(2):  # of which the second search knows the partition
        assert said()[changed.pk] == facts.text
    with database_as_of(moment, [owner.pk]):
        assert said()[changed.pk] == changed.text == "Roll 7 of paper 3 dries in a day."
    assert said()[changed.pk] == facts.text


def test_each_owner_is_in_one_partition(owners: list[Owner]) -> None:
    partition_tables("--table", "memories", "--partitions", "4")
    places = fetch_rows("SELECT owner_id, count(DISTINCT tableoid), count(*) FROM memories GROUP BY 1")
    assert {owner for owner, _, _ in places} == {owner.pk for owner in owners}
    assert {(places, rows) for _, places, rows in places} == {(1, EACH)}
    assert len(leaves("memories")) == 4


def test_references_are_kept_without_foreign_keys(owners: list[Owner]) -> None:
    partition_tables("--table", "memories")
    owner = owners[0]
    [last] = Memory.objects.filter(team_id=owner.pk, external_id=f"roll {EACH - 1}")
    [first] = Memory.objects.filter(team_id=owner.pk, external_id="roll 0")
    assert first.superseded_by_id == last.id
    memory_delete(memory=last, principal=SYSTEM)
    first.refresh_from_db()
    assert first.superseded_by_id is None, "as the foreign key said: SET NULL"
    assert not MemoryVersion.objects.filter(file_id=last.id).exists(), "as the foreign key said: CASCADE"
    with pytest.raises(IntegrityError, match="refers to a row of memories that is not there"), transaction.atomic():
        MemoryVersion.objects.bulk_create([last.as_version()])
    with pytest.raises(IntegrityError, match="refers to a row"), transaction.atomic():
        Memory.objects.filter(id=first.id).update(superseded_by=last.id)
    assert isinstance(owner, Team)
    execute_sql("SELECT erase('teams', %s, 'test')", [owner.pk])
    assert not Memory.everything.filter(team_id=owner.pk).exists()
    assert MemoryVersion.objects.count() == 3 * (EACH + 1)


def test_unique_keys_hold(owners: list[Owner]) -> None:
    partition_tables("--table", "memories")
    one = Memory.objects.filter(team_id=owners[0].pk).first()
    assert one is not None
    again = {"id": one.id, "kind": "fact", "text": "Again.", "updated_by": "system", "language": "english"}
    assert isinstance(owners[2], Agent)
    for owner in ({"team_id": owners[0].pk}, {"agent_id": owners[2].pk}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Memory.objects.bulk_create([Memory(**again, **owner)])
    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.bulk_create([Memory(**again | {"id": None}, team_id=owners[0].pk, external_id=one.external_id)])


def test_the_owner_cannot_be_another_one(owners: list[Owner]) -> None:
    one = Memory.objects.filter(team_id=owners[0].pk).first()
    assert one is not None
    Memory.objects.filter(id=one.id).update(owner_id=owners[1].pk)
    one.refresh_from_db()
    assert one.owner_id == owners[0].pk, "the database corrects it"
    execute_sql("UPDATE memories SET owner_id = NULL WHERE id = %s", [one.id])
    one.refresh_from_db()
    assert one.owner_id == owners[0].pk


def test_maintenance_and_rebuilt_indexes_reach_all_partitions(owners: list[Owner]) -> None:
    partition_tables("--table", "memories")
    execute_sql("SELECT summarise_tiers('memories'), empty_word_lists()")
    space = read_active_model()
    execute_sql("DROP INDEX memory_embedding_meaning", using="owner")
    build_index(space)
    valid = "SELECT indisvalid, obj_description(indexrelid, 'pg_class') FROM pg_index WHERE indexrelid = %s::regclass"
    assert fetch_rows(valid, ["memory_embedding_meaning"]) == [(True, space.model)]
    table_rewrite("memories")


def test_tables_are_not_written_anew_while_a_copy_has_what_was_erased(
    owners: list[Owner], monkeypatch: pytest.MonkeyPatch
) -> None:
    from config.db.partitions.move import Move

    def stop(move: Move) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Move, "_compare", stop)
        with pytest.raises(KeyboardInterrupt):
            partition_tables("--table", "memories")
    assert "a move is not finished" in partition_tables("--table", "memories", "--status")
    with pytest.raises(TableBusy):
        table_rewrite("memories")
    assert "the copy is dropped" in partition_tables("--table", "memories", "--abandon")
    table_rewrite("memories")


@pytest.mark.deep
def test_a_migration_meanwhile_lets_the_move_begin_again(owners: list[Owner], monkeypatch: pytest.MonkeyPatch) -> None:
    from config.db.partitions.move import Move

    compare, migrated = Move._compare, list[str]()

    def migrate(move: Move) -> None:
        compare(move)
        if not migrated:
            migrated.append("once")
            with connections["owner"].cursor() as cursor:
                cursor.execute("ALTER TABLE memories ADD further text NOT NULL DEFAULT ''")
                cursor.execute("CREATE INDEX memory_further ON memories (further)")

    monkeypatch.setattr(Move, "_compare", migrate)
    assert "begins again" in partition_tables("--table", "memories")
    assert fetch_rows("SELECT count(further) FROM memories") == [(len(owners) * EACH,)]
    assert fetch_rows("SELECT count(*) FROM pg_indexes WHERE indexname = 'memory_further'") == [(1,)]


@pytest.mark.deep
def test_a_copy_that_differs_is_not_exchanged(owners: list[Owner], monkeypatch: pytest.MonkeyPatch) -> None:
    from config.db.partitions.move import Move

    build = Move._build_indexes

    def spoil(move: Move) -> None:
        execute_sql("UPDATE memories_moving SET kind = 'other' WHERE external_id = 'roll 3'", using="owner")
        build(move)

    monkeypatch.setattr(Move, "_build_indexes", spoil)
    with pytest.raises(CommandError, match="differs"):
        partition_tables("--table", "memories")
    assert len(leaves("memories")) == 1


@pytest.mark.parametrize("wrong", [("--partitions", "1"), ("--batch", "0"), ("--pause", "-1")])
def test_impossible_numbers_are_refused(wrong: tuple[str, str]) -> None:
    with pytest.raises(CommandError):
        partition_tables(*wrong)
