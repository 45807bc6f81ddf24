"""The other large tables are divided into partitions, and everything is as it was: rows, numbers, rights, answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, ProgrammingError, transaction
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from assembly.contexts.search import search
from assembly.models import Assembly, AssemblyFlag
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from config.db.migration_helpers import grant_to_app_role
from config.db.partitions.definition import Definition, definition_of
from config.db.partitions.divided_tables import DIVIDED, PARTITIONS, leaves
from config.db.partitions.partition_indexes import whole_index
from config.db.partitions.references import references_to
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.indexing import document_split
from memories.models import Chunk, Document, Event, Session
from memories.search import owner_partition
from memories.services import agent_item_delete, agent_items_create
from privacy.erasure.table_rewrite import table_rewrite
from teams.principal import SYSTEM
from tests.assembly.contexts.context_rows import context
from tests.client import Api

TABLES = [table for table in DIVIDED if table != "memories"]
HASH = "SELECT count(*), sum(hashtextextended(row({columns})::text, 0)) FROM {table}"
LEFT = """
SELECT relname FROM pg_class WHERE relname LIKE '%moving%' UNION SELECT proname FROM pg_proc
    WHERE proname LIKE '%moving%' UNION SELECT conname FROM pg_constraint WHERE conname LIKE '%moving%'
"""
TOPIC = "When does the ink dry?"
TEXT = "The ink of the newspaper dries in a day.\n\n" * 30


@dataclass(frozen=True, slots=True)
class State:
    """What was there before the tables were divided."""

    agents: list[Agent]
    rows: dict[str, Any]
    definitions: dict[str, Definition]
    references: dict[str, list[str]]


def hashes() -> dict[str, Any]:
    found = {}
    for table in TABLES:
        columns = ", ".join(f'"{name}"' for name in definition_of(table, DIVIDED[table]).written)
        found[table] = fetch_rows(HASH.format(columns=columns, table=table))
    return found


def api_of(agent: Agent) -> Api:
    return Api(api_key_create(agent=agent, name="Key")[1])


def filled(agent: Agent) -> None:
    """Give the agent some rows in each of the tables."""
    session = Session.objects.create(agent=agent, started_at=timezone.now())
    Event.objects.bulk_create(event(agent, number, session) for number in range(30))
    split_document(agent, "press.md")
    assemble(agent=agent, asked=AssemblyRequest(topic=TOPIC), principal=SYSTEM)
    for minutes in range(12):
        context(agent, age=minutes)


def event(agent: Agent, number: int, session: Session | None = None) -> Event:
    return Event(
        agent=agent, session=session, type="message", content={"text": f"Sheet {number}"}, size=20,
        occurred_at=timezone.now(), external_id=f"e{number}",
    )  # fmt: skip


def split_document(agent: Agent, path: str) -> Document:
    [document] = agent_items_create(
        model=Document, agent=agent, facts=[{"path": path, "content": TEXT}], principal=SYSTEM
    )
    document_split(id_=document.id)
    return document


@pytest.fixture(scope="module")
def before(module_database: str) -> Iterator[State]:
    agents = [agent_create(slug=f"agent-{number}", name="Mira") for number in range(3)]
    for agent in agents:
        filled(agent)
    state = State(
        agents,
        hashes(),
        {table: definition_of(table, DIVIDED[table]) for table in TABLES},
        {table: [one.name for one in references_to(DIVIDED[table])] for table in TABLES},
    )
    for table in TABLES:
        call_command("partition_tables", "--table", table, "--batch", "40", stdout=StringIO())
    yield state
    owner_partition.notice_division(is_divided=False)


@pytest.mark.parametrize("table", TABLES)
def test_rows_and_the_catalogue_are_as_before(table: str, before: State) -> None:
    assert hashes()[table] == before.rows[table]
    assert before.rows[table][0][0] >= 3
    assert len(leaves(table)) == PARTITIONS
    assert fetch_rows(LEFT) == []
    was, now = before.definitions[table], definition_of(table, DIVIDED[table])
    assert now.same_rows_as(was)
    assert now.rights == was.rights
    added = ("_taken_ids", *(f"{name}_follows" for name in before.references[table]))
    assert [one for one in now.triggers if not one[0].endswith(added)] == list(was.triggers)
    indexes = [[(one.name, one.on(table, one.name).as_string()) for one in found.indexes] for found in (now, was)]
    assert indexes[0] == indexes[1]


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_written_and_written_anew_through_the_whole_table_alone(table: str, before: State) -> None:
    partition = leaves(table)[0]
    grant_to_app_role("owner")  # as each migration does
    fetch_rows(f"SELECT count(*) FROM {partition}")  # noqa: S608 - a partition's name
    for statement in ("INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}", "TRUNCATE {}"):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            execute_sql(statement.format(partition))
    table_rewrite(table)
    assert hashes()[table] == before.rows[table]


@pytest.mark.django_db
def test_events_are_written_read_and_deleted_with_their_session(before: State) -> None:
    agent, other = before.agents[:2]
    body = {"type": "message", "content": {"text": "The last sheet is dry."}}
    made = api_of(agent).post(f"agents/{agent.slug}/events", body)
    assert made.status_code == 201, made.content
    assert Event.objects.get(id=made.json()["id"]).agent_id == agent.id
    agent_item_delete(thing=Session.objects.get(agent=agent), principal=SYSTEM)
    assert Event.objects.filter(agent=agent).count() == 1, "the foreign key deletes them, as before"
    assert Event.objects.filter(agent=other).count() == 30


@pytest.mark.django_db
def test_keys_of_partitions_are_those_of_the_table(before: State) -> None:
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        event(before.agents[0], 7).save()
    cause: Any = raised.value.__cause__
    named = cause.diag.constraint_name
    assert named.startswith("event_import_once_")
    assert whole_index(named) == "event_import_once"
    assert whole_index("pattern_once") == "pattern_once"
    again = event(before.agents[1], 30)
    again.id = Event.objects.filter(agent=before.agents[0]).values_list("id", flat=True)[0]
    with pytest.raises(IntegrityError, match="another owner has a row of events"), transaction.atomic():
        again.save(force_insert=True)


@pytest.mark.django_db
def test_chunks_get_further_numbers_and_are_found_and_deleted_with_their_document(before: State) -> None:
    agent = before.agents[0]
    highest = max(Chunk.objects.values_list("id", flat=True))
    document = split_document(agent, "ink.md")
    numbers = Chunk.objects.filter(document=document).values_list("id", flat=True)
    assert min(numbers) > highest
    assert fetch_rows("SELECT pg_get_serial_sequence('chunks', 'id')") == [("public.chunks_id_seq",)]
    asked = {"agent": agent.slug, "topic": TOPIC, "profile": "coding"}
    made = api_of(agent).post("assemblies", asked)
    assert made.status_code == 201, made.content
    assert "dries in a day" in made.content.decode()
    agent_item_delete(thing=document, principal=SYSTEM)
    assert not Chunk.objects.filter(document_id=document.id).exists()


@pytest.mark.django_db
def test_records_are_written_read_and_referred_to(before: State, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = before.agents[0]
    api = api_of(agent)
    [former] = Assembly.objects.filter(agent_id=agent.id, topic=TOPIC)
    assert replay(load_record(former)).identical
    made = api.post("assemblies", {"agent": agent.slug, "topic": "When does the paper come?"})
    assert made.status_code == 201, made.content
    assert replay(load_record(Assembly.objects.get(id=made.json()["id"]))).identical
    for id_, status in ((str(former.id), 201), (str(agent.id), 404)):
        assert api.post(f"assemblies/{id_}/feedback", {"satisfaction": 0.5}).status_code == status
    with pytest.raises(IntegrityError, match="refers to a row of assemblies that is not there"), transaction.atomic():
        AssemblyFlag.objects.create(assembly_id=agent.id, by_ref="system")
    listed = api.get(f"assemblies?agent={agent.slug}&limit=100").json()["results"]
    assert len(listed) == 14
    monkeypatch.setattr(search, "SLICE_ROWS", 10)
    slices = search.slice_bounds()
    assert len(slices) in range(3, 5), "of the statistics of all partitions"
    assert slices == sorted(slices, reverse=True)


@pytest.mark.usefixtures("before")
def test_divided_tables_are_not_distributed_by_citus_and_the_plan_says_so() -> None:
    with pytest.raises(CommandError, match="chunks is divided by partition_tables"):
        call_command("distribute", plan=True, stdout=StringIO())
