"""Texts above internal are sealed in their columns, whatever wrote or raised them, and read as they were written."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from agents.models import Agent, AgentFile
from assembly.models import TextLevel
from assembly.pipeline.level_derivation import item_levels_derive
from assembly.pipeline.levels import derivers
from assembly.records.stored_levels import find_levels
from config.db.statements import fetch_rows
from config.keys import store
from config.keys.key_errors import KeyStoreMissing
from config.keys.sealed_texts import MARK
from config.keys.store_connections import Asked, Rows, run_in_store
from memories.api.urls import ENDPOINTS
from memories.embeddings.file_splitting import file_split
from memories.lifecycle.packing import unpack
from memories.lifecycle.plain_texts import plain_text_count, plain_texts_seal
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Document, Event, FilePassage, Memory, MemoryVersion, Thread
from memories.services import MemoryFacts, memory_create, memory_update
from teams.level_changes import level_set
from teams.models import Draft, User
from teams.principal import SYSTEM
from teams.sealing.columns import OWN
from teams.sensitivity import Sensitivity
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_save
from tests.sensitivity.restricted_things import add_items

pytestmark = pytest.mark.django_db

SECRET = "The vault opens with 4711-Quokka."


def column(table: str, name: str, **where: Any) -> list[str]:
    """The values of a column as they lie in the table."""
    ((key, value),) = where.items()
    return [text for (text,) in fetch_rows(f"SELECT {name}::text FROM {table} WHERE {key} = %s ORDER BY id", [value])]  # noqa: S608


def is_sealed(text: str) -> bool:
    return text.lstrip('"').replace("\\u0003", "\x03").startswith(MARK) and "Quokka" not in text


def add(agent: Agent, noun: str, **facts: Any) -> Any:
    """A new item of the agent."""
    creates = next(one.creates for one in ENDPOINTS if one.name == noun)
    return creates(agent=agent, facts=[facts], principal=SYSTEM)[0]


def a_memory(agent: Agent, level: Sensitivity, text: str = SECRET) -> Memory:
    facts = MemoryFacts(kind="fact", text=text, sensitivity=level)
    return memory_create(owner=agent, facts=facts, principal=SYSTEM)


def test_a_confidential_memory_lies_sealed_and_reads_as_it_was_written(agent: Agent) -> None:
    memory = a_memory(agent, Sensitivity.CONFIDENTIAL)
    (text,), (version,) = (
        column("memories", "text", id=memory.id),
        column("memory_versions", "content", file_id=memory.id),
    )
    assert is_sealed(text)
    assert is_sealed(version)
    assert column("memories", "search", id=memory.id) == [""]
    assert Memory.objects.get(id=memory.id).text == SECRET
    assert MemoryVersion.objects.get(file=memory).content == SECRET


def test_a_raised_memory_is_sealed_with_all_versions_and_a_lowered_one_opened(agent: Agent) -> None:
    memory = a_memory(agent, Sensitivity.INTERNAL)
    facts = MemoryFacts(kind="fact", text=f"{SECRET} Or not.")
    memory = memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    assert SECRET in column("memories", "text", id=memory.id)[0]
    raised = level_set(row=memory, level=Sensitivity.RESTRICTED, principal=SYSTEM)
    texts = column("memories", "text", id=memory.id) + column("memory_versions", "content", file_id=memory.id)
    assert len(texts) == 4
    assert all(map(is_sealed, texts))
    assert raised.text == f"{SECRET} Or not."
    assert [one.content for one in MemoryVersion.objects.filter(file=memory).order_by("version")] == [
        SECRET, f"{SECRET} Or not.", f"{SECRET} Or not.",
    ]  # fmt: skip
    lowered = level_set(row=raised, level=Sensitivity.INTERNAL, principal=SYSTEM)
    assert column("memories", "text", id=memory.id) == [lowered.text]
    assert "quokka" in column("memories", "search", id=memory.id)[0]


@pytest.mark.parametrize("change", ["sensitivity = 3", "sensitivity = 2, text = 'plain'", "sensitivity = 4"])
def test_the_database_refuses_what_is_not_sealed(agent: Agent, change: str) -> None:
    memory = a_memory(agent, Sensitivity.INTERNAL)
    with pytest.raises(IntegrityError, match="not sealed"), transaction.atomic():
        fetch_rows(f"UPDATE memories SET {change} WHERE id = %s RETURNING id", [memory.id])  # noqa: S608


def test_a_text_that_looks_sealed_is_sealed_and_told_as_it_is(agent: Agent) -> None:
    memory = a_memory(agent, Sensitivity.PUBLIC, f"{MARK}AAAA")
    assert Memory.objects.get(id=memory.id).text == f"{MARK}AAAA"
    assert column("memories", "text", id=memory.id) != [f"{MARK}AAAA"]


def test_files_lie_sealed_with_versions_passages_levels_and_drafts(agent: Agent) -> None:
    long = f"# Vault\n\n{SECRET}\n\n" + "The vault has a door of steel. It was built in 1904 by the river. " * 30
    file = agent.files.get(file_key="KNOWLEDGE")
    file = file_save(
        file=file, content=long, expected_version=file.version, author=SYSTEM.author, note=f"{SECRET} Noted."
    )
    file_split(kind="agent_file", id_=file.id)
    item_levels_derive(kind="agent_file", id_=file.id)
    person = User.objects.create(username="ada")
    draft_save(person_id=person.id, about=file.about, content=SECRET, based_on=1, expected_revision=0)

    def texts() -> list[str]:
        return [
            *column("agent_md_files", "content", id=file.id),
            *column("agent_md_file_versions", "content", file_id=file.id),
            *column("agent_md_file_versions", "note", file_id=file.id),
            *column("file_passages", "text", file_id=file.id),
            *column("text_levels", "text", item=file.id),
            *column("drafts", "content", about=file.about),
        ]

    before = [text for text in texts() if text]
    assert len(before) > 5
    assert len([text for text in before if is_sealed(text)]) == 1, "the draft is"
    levels = find_levels([bytes(one) for one in TextLevel.objects.values_list("text_sha256", flat=True)], derivers())
    raised = level_set(row=file, level=Sensitivity.RESTRICTED, principal=SYSTEM)
    assert all(is_sealed(text) for text in texts() if text)
    assert raised.content == AgentFile.objects.get(id=file.id).content == long
    passages = "".join(FilePassage.objects.filter(file_id=file.id).order_by("position").values_list("text", flat=True))
    assert SECRET in passages
    again = find_levels([bytes(one) for one in TextLevel.objects.values_list("text_sha256", flat=True)], derivers())
    assert again == levels
    assert Draft.objects.get(about=file.about).content == SECRET
    # What is split and derived anew is sealed as well.
    file = file_save(file=raised, content=f"{long} More.", expected_version=raised.version, author=SYSTEM.author)
    file_split(kind="agent_file", id_=file.id)
    item_levels_derive(kind="agent_file", id_=file.id)
    assert len([text for text in texts() if text]) > 5
    assert all(is_sealed(text) for text in texts() if text)
    level_set(row=file, level=Sensitivity.PUBLIC, principal=SYSTEM)
    assert column("agent_md_files", "content", id=file.id) == [file.content]
    assert SECRET in "".join(column("file_passages", "text", file_id=file.id))


def test_items_lie_sealed_and_read_as_they_were_written(agent: Agent) -> None:
    ids = add_items(agent, SECRET, Sensitivity.CONFIDENTIAL)
    for table, columns in OWN.items():
        for one in columns:
            rows = fetch_rows(f"SELECT id, {one.column}::text FROM {table} WHERE sensitivity > 1")  # noqa: S608
            texts = (text.removeprefix("{") if one.type == "text[]" else text for _, text in rows)
            assert all(is_sealed(text) for text in texts if text not in {"", "{}", "}"}), (table, one.column)
    thread = Thread.objects.get(id=ids["threads"])
    assert thread.title == f"{SECRET} thread"
    assert not Thread.objects.filter(title__icontains="sealed").exists(), "letters of ciphertext are no words"
    event = Event.objects.get(id=ids["events"])
    assert event.content == {"text": f"{SECRET} event"}
    assert is_sealed(column("events", "content", id=event.id)[0])
    assert Document.objects.get(id=ids["documents"]).content == f"{SECRET} document says that tea is served."
    chunks = column("chunks", "text", document_id=ids["documents"])
    assert chunks
    assert all(map(is_sealed, chunks))
    assert set(column("chunks", "search", document_id=ids["documents"])) == {""}


def test_what_belongs_to_a_session_is_sealed_when_it_is_raised(agent: Agent) -> None:
    session = add(agent, "sessions", title="Vault")
    goal = add(agent, "tasks", goal=f"{SECRET} goal", session=session)
    below = add(agent, "tasks", goal=f"{SECRET} below", session=session, parent=goal)
    add(agent, "events", type="message", content={"b": SECRET, "a": 1}, task=below)
    level_set(row=session, level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    texts = [
        *column("task_frames", "goal", agent_id=agent.id),
        *column("events", "content", agent_id=agent.id),
    ]
    assert len(texts) == 3
    assert all(map(is_sealed, texts))
    # What is added later is sealed as well.
    add(agent, "events", type="message", content={"text": SECRET}, session=session)
    assert all(map(is_sealed, column("events", "content", agent_id=agent.id)))
    assert [event.content for event in Event.objects.order_by("created")] == [{"b": SECRET, "a": 1}, {"text": SECRET}]


def test_many_sealed_texts_take_one_statement_in_the_key_store_and_others_none(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        a_memory(agent, Sensitivity.CONFIDENTIAL, f"{SECRET} {number}")
    a_memory(agent, Sensitivity.INTERNAL, "Tea at four.")
    asked: list[object] = []

    def run(*statements: Asked) -> list[Rows]:
        asked.append(statements)
        return run_in_store(*statements)

    monkeypatch.setattr("config.keys.store.run_in_store", run)
    store.forget_keys()
    assert [one.text for one in Memory.objects.filter(sensitivity__lte=1)] == ["Tea at four."]
    assert not asked
    assert len({one.text for one in Memory.objects.filter(sensitivity=2)}) == 20
    assert len(asked) == 1


def test_without_a_key_store_nothing_confidential_is_stored_or_read(agent: Agent, settings: Any) -> None:
    secret = a_memory(agent, Sensitivity.CONFIDENTIAL)
    plain = a_memory(agent, Sensitivity.INTERNAL)
    settings.KEY_STORE = None
    store.forget_keys()
    with pytest.raises(KeyStoreMissing), transaction.atomic():
        a_memory(agent, Sensitivity.CONFIDENTIAL, "Another one.")
    with pytest.raises(KeyStoreMissing), transaction.atomic():
        level_set(row=plain, level=Sensitivity.RESTRICTED, principal=SYSTEM)
    with pytest.raises(KeyStoreMissing):
        Memory.objects.get(id=secret.id)
    assert Memory.objects.get(id=plain.id).text == SECRET
    assert a_memory(agent, Sensitivity.INTERNAL, "Tea.").text == "Tea."


def test_a_text_that_was_changed_is_refused(agent: Agent) -> None:
    memory = a_memory(agent, Sensitivity.CONFIDENTIAL)
    sealed = column("memories", "text", id=memory.id)[0]
    other = "A" if sealed[60] != "A" else "B"
    fetch_rows(
        "UPDATE memories SET text = %s WHERE id = %s RETURNING id", [sealed[:60] + other + sealed[61:], memory.id]
    )
    with pytest.raises((ValueError, LookupError)):
        Memory.objects.get(id=memory.id)


def test_what_an_earlier_version_stored_in_plain_can_be_changed_and_is_sealed_by_the_command(agent: Agent) -> None:
    memory = a_memory(agent, Sensitivity.CONFIDENTIAL)
    fetch_rows("SELECT set_config('dossier.erasing', 'spellings', true)")
    fetch_rows("UPDATE memories SET text = %s WHERE id = %s RETURNING id", [SECRET, memory.id])
    fetch_rows("SELECT set_config('dossier.erasing', '', true)")
    fetch_rows("UPDATE memories SET salience = 0.9 WHERE id = %s RETURNING id", [memory.id])
    assert plain_text_count() == 1
    assert sum(sealed for _, sealed in plain_texts_seal()) == 1
    assert plain_text_count() == 0
    assert is_sealed(column("memories", "text", id=memory.id)[0])
    assert Memory.objects.get(id=memory.id).text == SECRET
    assert not sum(sealed for _, sealed in plain_texts_seal())


@pytest.mark.parametrize("tier", [Tier.WARM, Tier.COLD])
def test_a_sealed_text_is_packed_sealed_and_read_as_it_was_written(agent: Agent, tier: Tier) -> None:
    memory = a_memory(agent, Sensitivity.RESTRICTED, f"{SECRET} " * 20)
    things_move(MEMORIES, [memory.id], tier)
    ((packed, size),) = fetch_rows("SELECT packed, text_bytes FROM memories WHERE id = %s", [memory.id])
    assert is_sealed(unpack(bytes(packed)))
    assert size == len(memory.text)
    assert Memory.objects.get(id=memory.id).text == memory.text
    things_move(MEMORIES, [memory.id], Tier.HOT)
    assert is_sealed(column("memories", "text", id=memory.id)[0])
    assert column("memories", "search", id=memory.id) == [""]
