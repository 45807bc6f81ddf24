"""`distribute`: the catalogue follows Citus's rules once it is prepared, and nothing that triggers promised is lost.

Citus itself cannot be installed here. Its functions are stood in for by ones that record their calls, and its
documented rules (see docs/scaling.md) are checked against the catalogue of a real database that was really prepared.
"""

from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, connection, transaction

from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.models import Conflict
from assembly.records.change_counters import load_change_counts
from config.db.distribution.citus_rules import broken_rules
from config.db.distribution.distributed_tables import (
    COUNTERS,
    DISTRIBUTED,
    DISTRIBUTED_BY_NAME,
    EFFECTS,
    OWNERS,
    is_prepared,
    setting_mismatch,
)
from config.db.distribution.distribution_plan import DistributionRefused, prepare, remaining_plan
from config.db.migration_helpers import ORGANISATION
from config.db.partitions.divided_tables import OWNER
from config.db.statements import execute_sql, fetch_rows
from memories.jobs.periodic import follow_owner_effects
from memories.models import Event, Memory, Session, TaskFrame
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import erase
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.one_of_each import everything
from tests.scaling.citus_standin import calls, install_standin

KEPT = [one.table for one in DISTRIBUTED if one.table not in {COUNTERS, EFFECTS}]
"""The distributed tables that there are before."""


@pytest.fixture
def kept(committed_database: str) -> tuple[Agent, Team]:
    """An agent and a team with one of everything."""
    return everything()


@pytest.fixture
def prepared(kept: tuple[Agent, Team], settings: Any) -> tuple[Agent, Team]:
    """The same, prepared for Citus, as a process sees it that knows of it."""
    prepare(remaining_plan().prepare)
    settings.DATABASE_DISTRIBUTED = True
    return kept


def shown(*arguments: str) -> str:
    """Return what the command writes."""
    output = StringIO()
    call_command("distribute", *arguments, stdout=output)
    return output.getvalue()


# --- The rules ---------------------------------------------------------------------------------------------------

VIOLATIONS = {
    "CREATE UNIQUE INDEX taken ON events (id)": "The unique index taken of events lacks the distribution column.",
    "ALTER TABLE events ADD CONSTRAINT told FOREIGN KEY (agent_id) REFERENCES agents (id)": (
        "The foreign key told of events refers to agents, which stays on the coordinator."
    ),
    "ALTER TABLE events ADD CONSTRAINT told FOREIGN KEY (task_id, agent_id) REFERENCES task_frames (id, agent_id)"
    " ON DELETE SET NULL (task_id)": (
        "The foreign key told of events changes its columns, among them the distribution column."
    ),
    "ALTER TABLE events ADD CONSTRAINT told FOREIGN KEY (task_id, session_id) REFERENCES task_frames (agent_id, id)"
    " NOT VALID": ("The foreign key told of events does not compare the owners."),
    "ALTER TABLE conflicts ADD CONSTRAINT told FOREIGN KEY (agent_id, left_item) REFERENCES memories (owner_id, id)"
    " NOT VALID": "The foreign key told of conflicts refers to memories, which is distributed.",
    "CREATE TRIGGER told AFTER UPDATE ON events REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT"
    " EXECUTE FUNCTION count_changes('agent_id')": "The trigger told of events is executed once for a statement.",
    "CREATE TRIGGER told AFTER UPDATE ON events FOR EACH ROW EXECUTE FUNCTION count_access_change()": (
        "The trigger told of events uses change_counters, which stays on the coordinator."
    ),
    "CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
    " UPDATE sessions SET version = 1 WHERE id = NEW.session_id; RETURN NULL; END';"
    " CREATE TRIGGER told AFTER UPDATE ON events FOR EACH ROW EXECUTE FUNCTION told()": (
        "The trigger told of events uses sessions without naming the owner."
    ),
    "CREATE TRIGGER told AFTER UPDATE ON embedding_space FOR EACH ROW EXECUTE FUNCTION count_access_change()": (
        "The trigger told of embedding_space would be executed on every server."
    ),
    "ALTER TABLE memories DROP CONSTRAINT memories_pkey CASCADE; ALTER TABLE memories ALTER owner_id DROP NOT NULL": (
        "The distribution column owner_id of memories must be a uuid, not null and not computed."
    ),
    "ALTER TABLE events ADD COLUMN told integer GENERATED ALWAYS AS IDENTITY": (
        "The identity column told of events must be a bigint."
    ),
}
"""What somebody could add to the prepared catalogue, and what is said of it."""


def test_the_prepared_catalogue_follows_every_rule_and_an_offence_is_noticed(
    kept: tuple[Agent, Team], settings: Any
) -> None:
    assert setting_mismatch() == ""
    before = broken_rules()
    assert "The unique index memories_pkey of memories lacks the distribution column." in before
    assert "The trigger events_counts_insert of events is executed once for a statement." in before
    rows = {table: fetch_rows(f"SELECT count(*) FROM {table}") for table in KEPT}  # noqa: S608
    prepare(remaining_plan().prepare)
    assert broken_rules() == []
    assert {table: fetch_rows(f"SELECT count(*) FROM {table}") for table in KEPT} == rows  # noqa: S608
    assert remaining_plan().prepare == [], "it is done"
    assert "set DATABASE_DISTRIBUTED=1" in setting_mismatch(), "or a process would give answers that are out of date"
    settings.DATABASE_DISTRIBUTED = True
    assert setting_mismatch() == ""
    for statement, sentence in VIOLATIONS.items():
        with transaction.atomic(using=OWNER):
            execute_sql(statement, using=OWNER)
            found = broken_rules()
            transaction.set_rollback(True, using=OWNER)
        assert sentence in found, statement


def test_rows_that_refer_to_another_owner_are_refused_and_nothing_is_changed(kept: tuple[Agent, Team]) -> None:
    agent, _ = kept
    other = agent_create(slug="noa", name="Noa")
    Event.objects.filter(agent=agent).update(agent=other)
    with pytest.raises(DistributionRefused, match="another owner"):
        prepare(remaining_plan().prepare)
    assert not is_prepared()
    assert "The unique index memories_pkey of memories lacks the distribution column." in broken_rules()


# --- What triggers promised ----------------------------------------------------------------------------------------


def raised(*owners: UUID) -> Iterator[tuple[int, ...]]:
    """Yield by how much the count of each owner has risen since the last time."""
    before = load_change_counts(*owners)
    while True:
        after = load_change_counts(*owners)
        yield tuple(new - old for new, old in zip(after, before, strict=True))
        before = after


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_every_change_of_distributed_rows_is_counted_for_its_owner_once(prepared: tuple[Agent, Team]) -> None:
    agent, team = prepared
    other = agent_create(slug="noa", name="Noa")
    counts = raised(agent.id, team.id, other.id, ORGANISATION)
    next(counts)
    for table in KEPT:
        if table == "memory_versions":
            continue
        run(f"UPDATE {table} SET {'line' if table == 'chunks' else 'version'} = 1")  # noqa: S608
        assert next(counts) == ((1, 1, 0, 0) if table == "memories" else (1, 0, 0, 0)), table
        run(f"UPDATE {table} SET sensitivity = sensitivity WHERE false")  # noqa: S608
        assert next(counts) == (0, 0, 0, 0)
    facts = [MemoryFacts(kind="fact", text=f"Fact {number}") for number in range(50)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert next(counts) == (1, 0, 0, 0), "one statement, many rows"
    with transaction.atomic():
        for version in (2, 3):
            Memory.objects.filter(agent=agent).update(version=version)
    assert next(counts) == (2, 0, 0, 0), "two statements of one transaction"
    with transaction.atomic():
        Memory.objects.filter(agent=agent).update(version=4)
        transaction.set_rollback(True)
    assert next(counts) == (0, 0, 0, 0)
    run("UPDATE embedding_space SET slot = slot")
    assert next(counts) == (0, 0, 0, 1)
    agent_delete(agent=agent, principal=SYSTEM)
    assert next(counts)[0] > 0
    assert next(counts) == (0, 0, 0, 0), "a count never begins again"


def test_what_follows_elsewhere_from_a_deleted_or_raised_row_is_done(prepared: tuple[Agent, Team]) -> None:
    agent, _ = prepared
    one, other = memories_create(
        owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in ("Ink", "Inks")], principal=SYSTEM
    )
    conflict_between(one, other)
    Event.objects.filter(agent=agent).update(sensitivity=2, content="")
    erase("memories", one.id, SYSTEM)
    follow_owner_effects()
    assert not Conflict.objects.filter(left_item__in=[one.id, other.id]).exists()
    event = Event.objects.get(agent=agent)
    assert fetch_rows("SELECT level FROM raised_texts WHERE item = %s", [event.id]) == [(2,)]
    assert fetch_rows(f"SELECT count(*) FROM {EFFECTS}", using=OWNER) == [(0,)]  # noqa: S608


def test_keys_hold_within_an_owner_and_history_stays(prepared: tuple[Agent, Team]) -> None:
    agent, _ = prepared
    other = agent_create(slug="noa", name="Noa")
    session, task = Session.objects.get(agent=agent), TaskFrame.objects.get(agent=agent)
    with pytest.raises(IntegrityError), transaction.atomic():
        Session.objects.filter(id=session.id).update(agent=other)
    session.sensitivity = 1
    task.delete()
    assert Event.objects.get(agent=agent).task_id is None, "as ON DELETE SET NULL did"
    kept_one, old = memories_create(
        owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in ("New", "Old")], principal=SYSTEM
    )
    Memory.objects.filter(id=old.id).update(superseded_by=kept_one)
    with pytest.raises(DatabaseError), transaction.atomic():
        run("DELETE FROM memory_versions")
    erase("memories", kept_one.id, SYSTEM)
    assert Memory.objects.get(id=old.id).superseded_by_id is None
    assert fetch_rows("SELECT count(*) FROM memory_versions WHERE file_id = %s", [kept_one.id]) == [(0,)]
    assert fetch_rows("SELECT DISTINCT owner_id FROM memory_versions WHERE file_id = %s", [old.id]) == [(agent.id,)]
    agent_delete(agent=agent, principal=SYSTEM)
    for table in KEPT:
        column = DISTRIBUTED_BY_NAME[table].owner
        assert fetch_rows(f"SELECT count(*) FROM {table} WHERE {column} = %s", [agent.id]) == [(0,)]  # noqa: S608
    assert fetch_rows(f"SELECT count(*) FROM {OWNERS} WHERE id = %s", [agent.id], using=OWNER) == [(0,)]  # noqa: S608


# --- The command ---------------------------------------------------------------------------------------------------


def test_without_the_extension_the_plan_is_shown_and_nothing_is_done(kept: tuple[Agent, Team]) -> None:
    lines = shown("--plan", "--shards", "64").splitlines()
    first = "SELECT create_distributed_table('memories', 'owner_id', colocate_with => 'none', shard_count => 64);"
    prepared_at, first_at = lines.index("-- In one transaction, plain PostgreSQL:"), lines.index(first)
    by_citus_at = lines.index("-- One by one, by Citus:")
    assert prepared_at < by_citus_at < first_at
    assert lines[by_citus_at + 1] == "SELECT create_reference_table('owners');"
    assert "SELECT create_distributed_table('events', 'agent_id', colocate_with => 'memories');" in lines[first_at:]
    assert not is_prepared()
    for arguments in ([], ["--where"]):
        with pytest.raises(CommandError, match="does not have the extension Citus"):
            shown(*arguments)
    assert not is_prepared()


def test_a_cluster_that_is_not_ready_is_refused_with_everything_it_lacks(kept: tuple[Agent, Team]) -> None:
    install_standin(enable_unsafe_triggers="off")
    execute_sql(
        "DELETE FROM pg_dist_node WHERE groupid <> 1; UPDATE pg_dist_node SET groupid = 0, isactive = false",
        using=OWNER,
    )
    with pytest.raises(CommandError) as refused:
        shown()
    for sentence in (
        "DATABASE_DISTRIBUTED is not set", "citus.enable_unsafe_triggers is off on worker-1:5432, and must be on.",
        "The coordinator is not in pg_dist_node.", "There is no worker.",
    ):  # fmt: skip
        assert sentence in str(refused.value)
    assert not is_prepared()
    assert calls() == []


def test_tables_are_distributed_in_order_and_an_interrupted_run_goes_on(
    kept: tuple[Agent, Team], settings: Any
) -> None:
    agent, team = kept
    install_standin()
    settings.DATABASE_DISTRIBUTED = True
    execute_sql(
        "CREATE FUNCTION interrupts() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''interrupted''; END';"
        " CREATE TRIGGER interrupts BEFORE INSERT ON citus_calls FOR EACH ROW WHEN (NEW.called LIKE 'table events %')"
        " EXECUTE FUNCTION interrupts()",
        using=OWNER,
    )
    with pytest.raises(CommandError, match=r"create_distributed_table.'events'(?s:.*)Start again to continue"):
        shown("--shards", "4")
    assert is_prepared()
    with pytest.raises(CommandError, match="no agent and no team nobody"):
        shown("--where", "--owner", "nobody")
    execute_sql("DROP TRIGGER interrupts ON citus_calls", using=OWNER)
    assert "create_distributed_table('events'" in shown()
    found = [one for one in calls() if not one.startswith("function")]
    assert found == [
        "reference owners",
        "reference embedding_space",
        "table memories by owner_id with none, 4",
        *(f"table {one.table} by {one.owner} with memories" for one in DISTRIBUTED[1:]),
        *(f"truncate {table}" for table in KEPT),
    ]
    assert "function memory_words(regconfig,text)" in calls(), "what a trigger calls"
    assert shown() == "The installation is distributed already.\n"
    assert "-- Nothing is left to be done." in shown("--plan")
    where = shown("--where")
    assert "worker-1:5432 has 2 shards" in where
    assert agent.slug in where
    assert team.slug in where
    place = shown("--where", "--owner", agent.slug)
    assert place.startswith(f"The rows of agent {agent.slug} are on worker-")
    block = where[where.index(place.split()[-1].rstrip(".")) :]
    assert agent.slug in block.splitlines()[1]


def test_what_is_asked_wrongly_is_refused(db: None) -> None:
    for arguments, sentence in ((["--shards", "0"], "1 to 4096"), (["--owner", "mira"], "belongs to --where")):
        with pytest.raises(CommandError, match=sentence):
            shown(*arguments)
