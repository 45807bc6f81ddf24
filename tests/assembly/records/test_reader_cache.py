"""What was made of a record is known for a while, by all that was read of it; of what somebody changed, nothing is."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections, transaction

from agents.models import Agent
from assembly.models import Assembly
from assembly.models.assembly import packed
from assembly.records import reader as records
from assembly.records.reader import RecordDamaged, content_of, load_record
from config.caching.process_cache import ProcessCache
from teams.models import Team, User
from tests.assembly.large_record import context_of_many

CHANGES: dict[str, Callable[[Assembly], dict[str, Any]]] = {
    "the hash": lambda _one: {"sha256": bytes(32)},
    "the budget": lambda _one: {"budget": 50},
    "the tokenizer": lambda _one: {"tokenizer": "chars4", "budget": 50},
    "what became of an item": lambda one: {"body": _with_codes(one, "empty")},
    "which things were told": lambda one: {"told": one.told[::-1]},
}


def _with_codes(one: Assembly, code: str) -> bytes:
    columns = one.contents["decisions"]
    return packed({**one.contents, "decisions": {**columns, "code": [code, *columns["code"][1:]]}})


@pytest.fixture
def assembly(committed_database: str, agent: Agent, team: Team, owner: User) -> Assembly:
    return context_of_many(agent, team, owner.principal, candidates=30)


def read(assembly: Assembly) -> Assembly:
    """As a request finds it."""
    return Assembly.objects.get(id=assembly.id)


def test_a_record_is_made_something_of_once(assembly: Assembly, django_assert_num_queries: Any) -> None:
    first = load_record(read(assembly))
    content, again = content_of(first), read(assembly)
    with django_assert_num_queries(1):
        told = load_record(again)
    assert (told.assembly, told.inputs, told.decisions) == (again, first.inputs, first.decisions)
    assert told.inputs is first.inputs
    assert content_of(told) is content


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_byte_of_the_record_is_another_record(
    change: Callable[[Assembly], dict[str, Any]], assembly: Assembly
) -> None:
    content_of(load_record(read(assembly)))
    changed = read(assembly)
    for column, value in change(read(assembly)).items():
        setattr(changed, column, value)
    with pytest.raises(RecordDamaged):
        content_of(load_record(changed))


def test_another_byte_of_a_text_is_another_record(assembly: Assembly) -> None:
    content_of(load_record(read(assembly)))
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE stored_texts DISABLE TRIGGER USER")
        change = "UPDATE stored_texts SET text = 'Be kind.!', sealed = NULL WHERE sha256 = sha256('Be kind.')"
        cursor.execute(change)
        assert cursor.rowcount == 1
        cursor.execute("ALTER TABLE stored_texts ENABLE TRIGGER USER")
    with pytest.raises(RecordDamaged):
        content_of(load_record(read(assembly)))


def test_only_so_much_is_known(assembly: Assembly, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_record(read(assembly))
    size = records._memory_bytes(first)
    monkeypatch.setattr(records, "_record_cache", ProcessCache("records", size, records._memory_bytes))
    first = load_record(read(assembly))
    assert load_record(read(assembly)).inputs is first.inputs
    other = read(assembly)
    other.topic = "something else"
    load_record(other)
    assert load_record(read(assembly)).inputs is not first.inputs
