"""No dump of the data tells what was recorded; seals hold, whatever was erased; texts from before are encrypted."""

from io import StringIO
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, connections, transaction

from agents.models import Agent
from assembly.models import Assembly, StoredText, text_hash
from assembly.models.assembly import BODY_FORMAT
from assembly.models.encryption import RecordErased, seal_texts
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.bundle_check import check_bundle
from assembly.records.bundle_reader import read_bundle
from assembly.records.bundle_writer import RecordBundle, zip_bundle
from assembly.records.followers import new_assemblies_follow
from assembly.records.insert_sql import stored_pieces
from assembly.records.reader import RecordDamaged, content_of, load_record, replay
from assembly.records.seal_verification import VerificationCounts, verify_records
from config.keys import store
from config.keys.store_connections import run_in_store
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.records.conftest import AsOwner
from tests.assembly.records.encrypted_records import dump, in_plain, made, text_of, write
from tests.client import Api

pytestmark = pytest.mark.usefixtures("committed_database")


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


def test_seals_stay_valid_when_a_text_is_erased(agent: Agent, marker: str) -> None:
    made(agent)
    new_assemblies_follow()
    store.destroy([text_hash(marker)])
    tally = VerificationCounts()
    assert list(verify_records(tally)) == []
    assert tally.erased == 1
    said = StringIO()
    call_command("verify_records", stdout=said)
    assert ", 1 erased." in said.getvalue()


def test_a_dump_of_the_data_tells_nothing_that_was_recorded(agent: Agent, settings: Any) -> None:
    marker = f"zebrafinch{uuid4().hex}"
    settings.ENCRYPT_RECORDS = True
    asked = AssemblyRequest(topic="tea", additional_context=f"The marker is {marker}.")
    one = assemble(agent=agent, asked=asked, principal=SYSTEM).assembly
    assert marker in content_of(load_record(Assembly.objects.get(id=one.id)))
    assert marker not in dump()
    settings.ENCRYPT_RECORDS = False
    stored_pieces.forget()
    asked = AssemblyRequest(topic="milk", additional_context=f"The other marker is {marker}.")
    assemble(agent=agent, asked=asked, principal=SYSTEM)
    assert marker in dump(), "it would be found"


@pytest.mark.parametrize("column", ["sealed", "sha256"])
def test_a_changed_text_is_noticed(
    column: str, agent: Agent, marker: str, as_owner: AsOwner, committed_database: str
) -> None:
    one = made(agent)
    row = text_of(marker)
    value = bytearray(bytes(row.sealed or b""))
    value[-1] ^= 1
    if column == "sealed":
        as_owner("stored_texts", "UPDATE stored_texts SET sealed = %s WHERE sha256 = %s", [bytes(value), row.sha256])
    else:  # another row's ciphertext, which the key store can decrypt
        other = StoredText.objects.exclude(sha256=row.sha256).exclude(sealed=None).first()
        assert other
        as_owner("stored_texts", "UPDATE stored_texts SET sealed = %s WHERE sha256 = %s", [other.sealed, row.sha256])
    with pytest.raises(RecordDamaged):
        load_record(one)
    assert "text_altered" in {finding.kind for finding in verify_records(VerificationCounts())}


class TestTextsFromBefore:
    def test_they_are_read_and_encrypted_in_place(self, agent: Agent, settings: Any) -> None:
        marker = f"The marker is {uuid4().hex}."
        write(agent, marker)
        one = in_plain(settings, agent)
        assert bytes(one.body[:1]) == BODY_FORMAT
        assert text_of(marker).text == marker
        assert replay(load_record(one)).identical
        new_assemblies_follow()
        call_command("encrypt_records", stdout=StringIO())
        assert not StoredText.objects.exclude(text=None).exists()
        assert replay(load_record(Assembly.objects.get(id=one.id))).identical
        assert list(verify_records(VerificationCounts())) == []
        said = StringIO()
        call_command("encrypt_records", stdout=said)
        assert said.getvalue() == "No text was stored in plain.\n"

    def test_they_are_encrypted_in_batches_that_may_be_interrupted(
        self, agent: Agent, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("assembly.records.text_encryption.BATCH", 1)
        in_plain(settings, agent)
        before = StoredText.objects.exclude(text=None).count()
        assert before > 1
        with (
            mock.patch("assembly.records.text_encryption.seal_texts", side_effect=_once_then_stop()),
            pytest.raises(KeyboardInterrupt),
        ):
            call_command("encrypt_records", stdout=StringIO())
        assert StoredText.objects.exclude(text=None).count() == before - 1
        call_command("encrypt_records", stdout=StringIO())
        assert not StoredText.objects.exclude(text=None).exists()

    def test_the_role_of_the_app_cannot_change_them(self, agent: Agent, settings: Any) -> None:
        in_plain(settings, agent)
        row = StoredText.objects.exclude(text=None)[0]
        sealed = seal_texts({bytes(row.sha256): row.text or ""})[bytes(row.sha256)]
        for statement in (
            "UPDATE stored_texts SET text = NULL, sealed = %s WHERE sha256 = %s",
            "SELECT seal_stored_texts(ARRAY[%s::bytea], ARRAY[%s::bytea])",
        ):
            with (
                pytest.raises(DatabaseError, match=r"permission denied|keeps history"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(statement, [sealed, bytes(row.sha256)])

    def test_the_owner_can_change_nothing_but_how_a_text_is_stored(self, agent: Agent) -> None:
        made(agent)
        statement = "UPDATE stored_texts SET {}"
        for change in ("text = 'x', sealed = NULL", "sealed = sealed || 'x'", "sha256 = sha256('x')"):
            with connections["owner"].cursor() as cursor:
                cursor.execute("SET dossier.sealing = 'on'")
                with pytest.raises(DatabaseError, match="keeps history"):
                    cursor.execute(statement.format(change))


def _once_then_stop() -> Any:
    def seal(texts: dict[bytes, str]) -> dict[bytes, bytes]:
        if calls:
            raise KeyboardInterrupt
        calls.append(1)
        return seal_texts(texts)

    calls: list[int] = []
    return seal


def test_a_lost_key_is_damage_and_not_erasure(agent: Agent, marker: str) -> None:
    one = made(agent)
    new_assemblies_follow()
    run_in_store(("DELETE FROM data_keys WHERE id = ANY(%(ids)s::bytea[]) RETURNING id", {"ids": [one.id.bytes]}))
    store.forget_keys()
    with pytest.raises(RecordDamaged):
        load_record(Assembly.objects.get(id=one.id))
    assert {finding.kind for finding in verify_records(VerificationCounts())} == {"key_lost"}


class TestErasedBody:
    def test_it_is_gone_and_the_seal_holds(
        self, agent: Agent, marker: str, admin_api: Api, admin: User, client: Any
    ) -> None:
        one, other = made(agent, "tea"), made(agent, "milk")
        new_assemblies_follow()
        store.destroy([one.id.bytes])
        one = Assembly.objects.get(id=one.id)
        with pytest.raises(RecordErased, match="The contents of this context were erased"):
            load_record(one)
        assert replay(load_record(other)).identical
        tally = VerificationCounts()
        assert list(verify_records(tally)) == []
        assert tally.erased == 1
        assert admin_api.send("GET", f"assemblies/{one.id}").status_code == 410
        assert admin_api.send("GET", "assemblies").status_code == 200
        client.force_login(admin)
        assert client.get(f"/contexts/{one.id}/").status_code == 410
        assert client.get("/contexts/").status_code == 200
        (check,) = check_bundle(read_bundle(zip_bundle(RecordBundle([one.id]))))
        assert "erased before the bundle was made" in check.fault
