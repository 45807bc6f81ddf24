"""`seal_texts --rewrite` and `encrypt_records --rewrite` leave nothing in plain, nor former bytes in the files."""

import io
from typing import Any
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from config.db.statements import fetch_rows
from config.keys import store
from config.keys.envelope import generation_of
from config.keys.sealed_texts import MARK, _key_id, _parts
from memories.lifecycle.plain_texts import plain_text_count
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from privacy.erasure.table_rewrite import TableBusy
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.privacy.erasure.conftest import patient_rewrites  # noqa: F401 - a fixture
from tests.privacy.erasure.world import files_with, stored_files

PLAIN = "Zyxquokka opens the vault"


def command() -> str:
    said = io.StringIO()
    call_command("seal_texts", rewrite=True, stdout=said)
    return said.getvalue()


def generations() -> list[int]:
    """The generations of the keys under which the memories are sealed, the oldest memory first."""
    rows = fetch_rows("SELECT text FROM memories ORDER BY created, id")
    assert all(text.startswith(MARK) for (text,) in rows)
    return [generation_of(_parts(text)[1]) for (text,) in rows]


def test_after_a_new_generation_of_the_key_texts_open_the_same_and_nothing_is_plain(
    committed_database: str, agent: Agent
) -> None:
    facts = [
        MemoryFacts(kind="fact", text=f"{PLAIN} {number}", sensitivity=Sensitivity.RESTRICTED) for number in (1, 2)
    ]
    memories = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert generations() == [1, 1]
    store.retire([_key_id(agent.id)])
    store.forget_keys()
    with transaction.atomic():  # as an earlier version stored it
        fetch_rows("SELECT set_config('dossier.erasing', 'spellings', true)")
        fetch_rows("UPDATE memories SET text = %s WHERE id = %s RETURNING id", [facts[1].text, memories[1].id])
    assert plain_text_count() == 1
    assert files_with(PLAIN, stored_files())
    assert command() == "1 texts sealed.\n"
    assert generations() == [1, 2]
    assert [one.text for one in Memory.objects.order_by("created", "id")] == [one.text for one in facts]
    assert plain_text_count() == 0
    assert files_with(PLAIN, stored_files()) == []
    sealed = fetch_rows("SELECT id, text FROM memories ORDER BY id")
    assert command() == "No text above internal was stored in plain.\n"
    assert fetch_rows("SELECT id, text FROM memories ORDER BY id") == sealed


def test_recorded_texts_leave_no_former_bytes_either(committed_database: str, agent: Agent, settings: Any) -> None:
    settings.ENCRYPT_RECORDS = False
    asked = AssemblyRequest(topic="vault", additional_context=f"{PLAIN} today")
    assemble(agent=agent, asked=asked, principal=SYSTEM)
    assert files_with(PLAIN, stored_files())
    call_command("encrypt_records", rewrite=True, stdout=io.StringIO())
    assert files_with(PLAIN, stored_files()) == []


@pytest.mark.parametrize("name", ["seal_texts", "encrypt_records"])
def test_a_table_that_is_in_use_is_said(name: str, committed_database: str) -> None:
    with (
        mock.patch("privacy.management.sealing_command.table_rewrite", side_effect=TableBusy),
        pytest.raises(CommandError, match=r"Others use .*former bytes may be in their files"),
    ):
        call_command(name, rewrite=True, stdout=io.StringIO())
