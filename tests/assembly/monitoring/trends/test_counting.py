"""Counting contexts: exact, added up by day, agent and team, whatever the batches are."""

import datetime
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import transaction

from agents.models import Agent
from assembly.engine.types import field_values
from assembly.models import Assembly, DayCount, FileLoss, MemoryTelling
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.monitoring.trends.counting import bound_of
from assembly.monitoring.trends.file_losses import file_losses_store
from assembly.monitoring.trends.recount import load_with_records
from assembly.records.reader import StoredAssembly, load_record
from assembly.records.recorded_quality import quality_of_record
from memories.models import Memory
from teams.models import Team
from tests import personas
from tests.assembly.conftest import write
from tests.assembly.monitoring.trends.count_factories import counts, counts_of_all, dated, told
from tests.concurrency import at_once

NOON = datetime.datetime(2026, 3, 14, 12, tzinfo=datetime.UTC)


@pytest.fixture
def long_knowledge(luna: Agent) -> None:
    write(luna, "KNOWLEDGE", "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(30)))


def test_a_context_is_counted_in_all_its_parts(luna: Agent, demo_team: Team, long_knowledge: None) -> None:
    assembly = told(luna, demo_team, topic="acts")
    follow_assemblies([assembly])
    (row,) = counts()
    holds = load_record(assembly)
    knowledge = luna.files.get(file_key="KNOWLEDGE")
    assert row == {
        "day": assembly.created.date(),
        "agent_id": luna.id,
        "team_id": demo_team.id,
        "contexts": 1,
        "repeats": 0,
        "contexts_with_file_loss": 1,
        "tokens": assembly.tokens,
        "budget": 16_000,
        "assembly_ms": assembly.assembly_ms,
        "considered": sum(decision.code != "empty" for decision in holds.decisions),
        "layers": _by_layer(assembly),
        "cut": {f"agent_file:{knowledge.id}": 1},
        "left_out": Counter(d.code for d in holds.decisions if not d.included and d.code != "empty"),
        "late": {},
        "failed": {},
        "warnings": {},
        "durations": {str(bound_of(assembly.assembly_ms)): 1},
        "quality_sums": {name: round(measure * 1_000) for name, measure in _measures(holds).items()},
        "quality_counts": dict.fromkeys(_measures(holds), 1),
    }
    assert sum(row["layers"].values()) == assembly.tokens


def _measures(holds: StoredAssembly) -> dict[str, float]:
    quality = quality_of_record(holds)
    assert quality
    return {name: measure for name, measure in field_values(quality).items() if measure is not None}


def _by_layer(*assemblies: Assembly) -> dict[str, int]:
    found: Counter[str] = Counter()
    for assembly in assemblies:
        for section in assembly.sections:
            found[section["layer"]] += section["tokens"]
    return dict(+found)


def test_batches_add_up_to_the_same(luna: Agent, demo_team: Team, long_knowledge: None) -> None:
    found = [told(luna, team, max_tokens=budget) for team in (demo_team, None) for budget in (0, 300, 3000, 16_000)]
    follow_assemblies(found)
    together = counts()
    DayCount.objects.all().delete()
    for number in range(0, len(found), 3):
        follow_assemblies(found[number : number + 3])
    assert counts() == together
    assert [row["contexts"] for row in together] == [4, 4], "one row for the team, one for the agent alone"
    (everything,) = counts_of_all()
    assert (everything["contexts"], everything["team_id"]) == (8, None)
    for name in ("tokens", "budget", "considered"):
        assert everything[name] == sum(row[name] for row in together)
    assert everything["layers"] == dict(sum((Counter(row["layers"]) for row in together), Counter()))
    assert sum(row["tokens"] for row in together) == sum(assembly.tokens for assembly in found)
    assert sum(row["warnings"]["BUDGET_EXCEEDED"] for row in together) == 2


def test_days_are_those_of_utc(luna: Agent) -> None:
    west = datetime.timezone(datetime.timedelta(hours=-5))
    late = datetime.datetime(2026, 3, 14, 23, tzinfo=west)
    follow_assemblies([dated(told(luna), moment) for moment in (NOON, late)])
    assert [(row["day"].isoformat(), row["contexts"]) for row in counts()] == [("2026-03-14", 1), ("2026-03-15", 1)]


def test_a_repeat_counts_as_a_context_of_its_own(luna: Agent, demo_team: Team) -> None:
    first, again = told(luna, demo_team, topic="acts"), told(luna, demo_team, topic="acts")
    assert again.decided_in == first.id
    follow_assemblies([first, again])
    (row,) = counts()
    assert (row["contexts"], row["repeats"], row["tokens"]) == (2, 1, 2 * first.tokens)
    assert row["layers"] == {layer: 2 * tokens for layer, tokens in _by_layer(first).items()}


def test_sources_that_were_late_or_failed_are_counted_by_name(luna: Agent) -> None:
    assembly = told(luna)
    assembly.sources[0] |= {"name": "external:tickets", "code": "SOURCE_TIMEOUT"}
    assembly.sources[1]["code"] = "SOURCE_FAILED"
    follow_assemblies([assembly])
    (row,) = counts()
    assert (row["late"], row["failed"]) == ({"external:tickets": 1}, {assembly.sources[1]["name"]: 1})


def test_what_was_told_of_memories_is_noted_by_its_last_day(luna: Agent, demo_team: Team) -> None:
    assembly = told(luna, demo_team)
    theirs = Memory.objects.get(team=demo_team)
    for moment in (NOON, NOON - datetime.timedelta(days=3)):
        follow_assemblies([dated(assembly, moment)])
    telling = MemoryTelling.objects.get(memory_id=theirs.id)
    assert telling.told_on == NOON.date(), "an older context takes nothing back"
    assert set(MemoryTelling.objects.values_list("memory_id", flat=True)) == set(
        Memory.objects.values_list("id", flat=True)
    )


def test_a_batch_is_counted_by_few_statements(
    luna: Agent, demo_team: Team, django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    found = [told(luna, demo_team, topic="acts") for _ in range(20)]
    with django_assert_max_num_queries(10):  # one record is read, for all repeat it; then what is counted and watched
        follow_assemblies(found)


def test_nothing_is_nothing(db: None) -> None:
    follow_assemblies([])
    assert not DayCount.objects.exists()


def test_a_batch_that_fails_leaves_no_trace(luna: Agent) -> None:
    assembly = told(luna)
    with transaction.atomic():
        follow_assemblies([assembly])
        transaction.set_rollback(True)
    assert counts() == []


def test_many_who_count_at_once_lose_nothing(committed_database: str) -> None:
    ada = personas.agent(personas.team(personas.owner(), personas.editor(), personas.teammate()))
    found = [told(ada, max_tokens=budget) for budget in (16_000, 100, 5_000)]

    def counting() -> None:
        for assembly in found:
            with transaction.atomic():
                follow_assemblies([assembly])

    at_once([counting] * 4)
    (row,) = counts()
    assert (row["contexts"], row["tokens"]) == (12, 4 * sum(assembly.tokens for assembly in found))


def test_a_batch_is_read_at_once(
    luna: Agent, demo_team: Team, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    """What is repeated was counted earlier, so that its record is not among those of the batch."""
    moments = [NOON + datetime.timedelta(minutes=minute) for minute in range(40)]
    for moment in moments:
        told(luna, demo_team, now=moment)
    repeats = [told(luna, demo_team, now=moment) for moment in moments]
    assert all(repeat.decided_in for repeat in repeats)
    others = [told(luna, None, now=moment) for moment in moments]
    with_records_of(others[:1])  # profiles are known from here on
    with django_assert_num_queries(5):  # of three batches the pieces, of two with repeats what these repeat
        found = with_records_of([*repeats, *others])
    assert [recording.decisions for recording in found] == [load_record(one).decisions for one in (*repeats, *others)]


def with_records_of(assemblies: list[Assembly]) -> list[StoredAssembly]:
    return [recording for _, recording in load_with_records(assemblies)]


@pytest.mark.finding("E15")
def test_a_file_that_was_excluded_is_counted_like_one_that_was_truncated(
    luna: Agent, demo_team: Team, long_knowledge: None
) -> None:
    truncated, excluded = told(luna, demo_team, topic="acts"), told(luna, demo_team, max_tokens=3)
    repeated = told(luna, demo_team, topic="acts")
    follow_assemblies([truncated, excluded, repeated])
    knowledge = f"agent_file:{luna.files.get(file_key='KNOWLEDGE').id}"
    rows = {row.assembly_id: row for row in FileLoss.objects.filter(ref=knowledge)}
    assert {id_: row.is_excluded for id_, row in rows.items()} == {
        truncated.id: False, excluded.id: True, repeated.id: False,
    }  # fmt: skip
    decision = next(one for one in load_record(truncated).decisions if one.ref.startswith(knowledge))
    assert rows[truncated.id].tokens_lost == decision.tokens_full - decision.tokens > 1_000
    assert rows[excluded.id].tokens_lost > rows[truncated.id].tokens_lost
    assert sum(row["contexts_with_file_loss"] for row in counts()) == 3
    with transaction.atomic():
        follow_assemblies([])
        file_losses_store([FileLoss(**{**vars_of(rows[truncated.id]), "tokens_lost": 1})])
    assert FileLoss.objects.get(assembly_id=truncated.id, ref=knowledge).tokens_lost > 1_000


def vars_of(row: FileLoss) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in FileLoss._meta.fields if field.name != "id"}
