"""A recorded context follows the texts that it considered when these are raised."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from agents.models import Agent, AgentFile, DailyLog
from agents.services import daily_log_append
from assembly.models import Alert, Assembly, Piece, Proposal, RaisedText
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records import raised_levels
from assembly.records.raised_levels import raise_recorded_levels
from assembly.records.reader import content_of, load_record
from assembly.simulation.proposals.services import proposal_create
from assembly.simulation.simulate import Overrides
from config.db.statements import execute_sql
from memories.embeddings.file_splitting import file_split
from memories.models import Document, Entity, Event, Memory, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.services import MemoryFacts, memories_create, memory_create
from teams.level_changes import level_set
from teams.models import OrganisationFile, Team, TeamFile, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_save
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.client import Api
from tests.sensitivity.restricted_things import WRITER, add_items, raise_level

pytestmark = pytest.mark.django_db

MODELS: dict[str, Any] = {
    "memory": Memory, "chunk": Document, "document": Document, "entity": Entity, "relation": Relation,
    "session": Session, "task": TaskFrame, "event": Event, "pattern": Pattern, "thread": Thread, "tool": Tool,
    "agent_file": AgentFile, "team_file": TeamFile, "organisation_file": OrganisationFile, "daily_log": DailyLog,
}  # fmt: skip


@pytest.fixture
def stocked(agent: Agent, team: Team) -> Agent:
    """An agent with a text of every kind, none of them above internal."""
    add_items(agent, "Plainly", Sensitivity.INTERNAL)
    for owner, key in ((agent, "KNOWLEDGE"), (team, "RULES")):
        file = owner.files.get(file_key=key)
        content = f"# {key}\n\nPlainly the tea is {key}."
        file_save(file=file, content=content, expected_version=file.version, author=WRITER.author)
        file_split(kind=file.ref.partition(":")[0], id_=file.pk)
    house = organisation_file_create(key="style", title="Style", content="# Tea\n\nPlainly tea.", principal=WRITER)
    file_split(kind="organisation_file", id_=house.pk)
    daily_log_append(agent=agent, date=timezone.now().date(), text="Plainly a day of tea", principal=WRITER)
    for owner in (agent, team):
        facts = [MemoryFacts(kind="fact", text=f"Plainly {number} cups of tea") for number in range(3)]
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    return agent


def context(agent: Agent, team: Team, profile: str, max_tokens: int = 8_000) -> Assembly:
    asked = AssemblyRequest(topic="Plainly tea", profile=profile, max_tokens=max_tokens)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly


def level_of(record: Assembly) -> int:
    return int(Assembly.everything.values_list("sensitivity", flat=True).get(id=record.id))


def test_a_context_is_raised_with_each_text_that_it_considered(stocked: Agent, team: Team) -> None:
    tried = set()
    for profile in ("stack", "memory", "coding"):
        record = context(stocked, team, profile)
        pieces = Piece.objects.filter(id__in=[*record.told, *record.omitted]).values_list("named", flat=True)
        for named in pieces:
            kind, _, rest = named.partition(":")
            if kind in {"profile", "summary"}:
                continue
            if kind == "project_structure":
                kind, rest = "document", str(Document.objects.get(agent=stocked).id)
            with transaction.atomic():
                raise_level(MODELS[kind], rest[:36], Sensitivity.CONFIDENTIAL)
                raise_recorded_levels()
                assert level_of(record) == Sensitivity.CONFIDENTIAL, named
                transaction.set_rollback(True)
            assert level_of(record) == Sensitivity.INTERNAL
            tried.add(kind)
    assert tried >= MODELS.keys() - {"session"}, MODELS.keys() - tried


def test_nobody_without_the_clearance_reads_it_any_more(
    stocked: Agent, team: Team, teammate: User, editor: User, owner: User
) -> None:
    other = context(stocked, team, "memory")
    facts = MemoryFacts(kind="fact", text="Plainly one more cup of tea", salience=1.0)
    memory = memory_create(owner=team, facts=facts, principal=SYSTEM)
    record = context(stocked, team, "memory")
    proposal, _ = proposal_create(assembly=record, wishes=Overrides(max_tokens=500), note="Shorter", principal=SYSTEM)
    alert = alert_on(stocked, team, context=record.id)
    level_set(row=memory, level=Sensitivity.RESTRICTED, principal=owner.principal)
    raise_recorded_levels()
    answers = {
        person.username: Api(person=person.principal).get(f"assemblies/{record.id}").status_code
        for person in (teammate, editor, owner)
    }
    assert answers == {"teammate": 404, "editor": 404, "owner": 200}
    assert Proposal.everything.get(id=proposal.id).sensitivity == Sensitivity.RESTRICTED
    assert Alert.everything.get(id=alert.id).sensitivity == Sensitivity.RESTRICTED
    assert level_of(other) == Sensitivity.INTERNAL
    assert "Plainly" in content_of(load_record(Assembly.everything.get(id=record.id)))


def test_a_lower_level_changes_no_record(stocked: Agent, team: Team) -> None:
    memory = Memory.objects.filter(agent=stocked).first()
    assert memory
    raise_level(Memory, memory.id, Sensitivity.CONFIDENTIAL)
    record = context(stocked, team, "memory")
    raise_level(Memory, memory.id, Sensitivity.RESTRICTED)
    raise_recorded_levels()
    before = level_of(record)
    raise_level(Memory, memory.id, Sensitivity.PUBLIC)
    raise_recorded_levels()
    assert level_of(record) == before


def test_each_text_is_looked_at_twice_and_a_failure_delays_no_other(
    stocked: Agent, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = context(stocked, team, "memory")
    first, second = Memory.objects.filter(agent=stocked).order_by("id")[:2]
    raise_level(Memory, first.id)
    RaisedText.objects.filter(item=first.id).update(due=timezone.now() - raised_levels.SECOND_LOOK_AFTER)
    raise_level(Memory, second.id)
    intact = raised_levels._raise_contexts_of

    def broken_for_first(item: Any, level: int) -> None:
        if item == first.id:
            raise DatabaseError
        intact(item, level)

    monkeypatch.setattr(raised_levels, "_raise_contexts_of", broken_for_first)
    raise_recorded_levels()
    assert level_of(record) == Sensitivity.RESTRICTED
    rows = {row.item: row for row in RaisedText.objects.all()}
    assert not rows[first.id].seen
    assert rows[second.id].seen
    assert all(row.due > timezone.now() for row in rows.values())
    monkeypatch.undo()
    for _ in range(2):
        RaisedText.objects.update(due=timezone.now() - raised_levels.SECOND_LOOK_AFTER)
        raise_recorded_levels()
    assert not RaisedText.objects.exists()


def test_more_contexts_than_one_transaction_raises(stocked: Agent, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raised_levels, "MAX_CONTEXTS", 2)
    records = [context(stocked, team, "memory", 2_000 + number) for number in range(5)]
    raise_level(AgentFile, stocked.files.get(file_key="KNOWLEDGE").pk)
    raise_recorded_levels()
    assert {level_of(record) for record in records} == {Sensitivity.RESTRICTED}


@pytest.mark.parametrize("column", ["sensitivity = 0", "topic = 'other'", "sensitivity = 3, body = ''"])
def test_nothing_else_of_a_record_changes(column: str, stocked: Agent, team: Team) -> None:
    record = context(stocked, team, "memory")
    with pytest.raises(DatabaseError, match=r"permission denied|keeps history"), transaction.atomic():
        execute_sql(f"UPDATE assemblies SET {column} WHERE id = %s", [record.id])  # noqa: S608


def test_the_guard_knows_every_column_of_a_record() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'assemblies'::regclass AND attnum > 0"
            " AND NOT attisdropped AND attnum <> ALL (("
            "SELECT tgattr FROM pg_trigger WHERE tgname = %s AND tgparentid = 0)::int2[])",
            ["assemblies_keeps_rows"],
        )
        assert cursor.fetchall() == [("sensitivity",)]
