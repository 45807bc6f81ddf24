"""What contexts record is encrypted, and who destroys a key erases a text for good."""

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly, StoredText, UnusedKey, text_hash
from assembly.models.assembly import ENCRYPTED_FORMAT, unpacked
from assembly.models.encryption import ERASED_NOTICE, ErasedText, RecordErased, read_texts, seal_texts
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.bundle_check import check_bundle
from assembly.records.bundle_reader import read_bundle
from assembly.records.bundle_writer import RecordBundle, zip_bundle
from assembly.records.pruning import records_prune
from assembly.records.reader import content_of, load_record, load_records, replay
from assembly.records.unused_keys import RETIREMENT, unused_keys_destroy
from config.keys import store
from config.keys.envelope import DataKey
from config.keys.store import KeyName
from config.keys.store_connections import Asked, close_pool
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.records.conftest import Ago, keep
from tests.assembly.records.encrypted_records import made, text_of, write
from tests.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


def test_texts_and_bodies_are_encrypted_and_read_as_they_were(agent: Agent, marker: str) -> None:
    one = made(agent)
    assert bytes(one.body[:1]) == ENCRYPTED_FORMAT
    assert not StoredText.objects.exclude(text=None).exists()
    row = text_of(marker)
    assert marker.encode() not in bytes(row.sealed or b"")
    assert read_texts([(row.sha256, row.text, row.sealed)]) == {text_hash(marker): marker}
    assert replay(load_record(one)).identical
    assert marker in content_of(load_record(one))


def test_a_text_that_is_known_needs_no_key(agent: Agent, marker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    obtain = store.obtain

    def note(ids: Collection[bytes], also: Sequence[Asked] = ()) -> dict[bytes, DataKey]:
        asked.append(len(ids))
        return obtain(ids, also)

    monkeypatch.setattr(store, "obtain", note)
    made(agent, "tea")
    assert len(asked) == 1, "the keys of the body and of all texts together"
    assert asked[0] > 2
    asked.clear()
    made(agent, "milk")
    assert asked == [1], "the key of the body"


def test_recording_makes_no_further_statement_in_the_data(agent: Agent, marker: str, settings: Any) -> None:
    made(agent, "tea")
    counts = {}
    for encrypt in (True, False):
        settings.ENCRYPT_RECORDS = encrypt
        said: list[str] = []

        def note(execute: Any, sql: str, *rest: Any, said: list[str] = said) -> Any:
            said.append(sql)
            return execute(sql, *rest)

        with connection.execute_wrapper(note):
            assemble(agent=agent, asked=AssemblyRequest(topic=f"{encrypt}"), principal=SYSTEM)
        counts[encrypt] = len(said)
    assert counts[True] == counts[False] > 0


def test_a_body_of_another_record_is_refused(agent: Agent, marker: str) -> None:
    one, other = made(agent, "tea"), made(agent, "milk")
    assert unpacked(bytes(one.body), one.id) == one.contents
    with pytest.raises(ValueError, match="not what was encrypted"):
        unpacked(bytes(one.body), one.id, store.fetch([KeyName(other.id.bytes, 1)])[KeyName(other.id.bytes, 1)])  # type: ignore[arg-type]


class TestErasedText:
    def test_the_record_says_so_and_others_replay(self, agent: Agent, marker: str) -> None:
        one = made(agent)
        write(agent, "Be quick.")
        other = made(agent)
        store.destroy([text_hash(marker)])
        told = load_record(one)
        assert [str(text) for text in told.keyless_texts] == [ERASED_NOTICE]
        for ask in (replay, content_of):
            with pytest.raises(RecordErased, match="A text of this context was erased"):
                ask(load_record(one))
        assert replay(load_record(other)).identical
        assert len(list(load_records([one, other]))) == 2

    def test_what_is_written_anew_is_stored_anew(self, agent: Agent, marker: str) -> None:
        before = made(agent)
        store.destroy([text_hash(marker)])
        after = made(agent, "milk")
        assert bytes(text_of(marker).sealed or b"")[:4] == (2).to_bytes(4)
        assert replay(load_record(after)).identical
        assert not load_record(before).keyless_texts, "the same text is there again"

    def test_over_rest(self, agent: Agent, marker: str, admin_api: Api) -> None:
        one = made(agent)
        store.destroy([text_hash(marker)])
        for method, path in (("GET", ""), ("POST", "/replay")):
            answer = admin_api.send(method, f"assemblies/{one.id}{path}")
            assert answer.status_code == 410
            assert answer.json()["code"] == "record_erased"
            assert marker not in answer.content.decode()
        decisions = admin_api.send("GET", f"assemblies/{one.id}/decisions")
        assert decisions.status_code == 200

    def test_on_pages(self, agent: Agent, marker: str, admin: User, client: Any) -> None:
        one = made(agent)
        store.destroy([text_hash(marker)])
        client.force_login(admin)
        page = client.get(f"/contexts/{one.id}/")
        assert page.status_code == 200
        assert "A text of this context was erased" in page.content.decode()
        assert "Integrity check failed" not in page.content.decode()
        for tab in ("items", "rules-and-sources", "text", "exact", "json", "json/file", "why-not", "what-if"):
            answer = client.get(f"/contexts/{one.id}/{tab}/")
            assert answer.status_code < 500, tab
            assert marker not in answer.content.decode()
        again = client.post(f"/contexts/{one.id}/replay/", headers={"HX-Request": "true"})
        assert "Not verified" in again.content.decode()

    def test_a_bundle_says_so(self, agent: Agent, marker: str) -> None:
        one = made(agent)
        bundle = read_bundle(zip_bundle(RecordBundle([one.id])))
        assert [check.replays for check in check_bundle(bundle)] == [True]
        assert bundle.damaged == ()
        store.destroy([text_hash(marker)])
        again = read_bundle(zip_bundle(RecordBundle([one.id])))
        assert again.damaged == ()
        (check,) = check_bundle(again)
        assert not check.replays
        assert "was erased" in check.fault


@pytest.fixture
def no_store(settings: Any) -> Iterator[None]:
    close_pool()
    store.forget_keys()
    known, settings.KEY_STORE = settings.KEY_STORE, {"HOST": "127.0.0.1", "PORT": "1", "NAME": "keys", "USER": "x"}
    yield
    settings.KEY_STORE = known
    close_pool()


def test_without_the_store_nothing_is_recorded_or_read(
    agent: Agent, marker: str, admin_api: Api, request: pytest.FixtureRequest
) -> None:
    one = made(agent)
    request.getfixturevalue("no_store")
    rows = Assembly.objects.count()
    for answer in (
        admin_api.send("POST", "assemblies", {"agent": agent.slug, "topic": "milk"}),
        admin_api.send("GET", f"assemblies/{one.id}"),
    ):
        assert answer.status_code == 503
        assert answer.json()["code"] == "key_store_unavailable"
        assert int(answer.headers["Retry-After"]) > 0
    assert Assembly.objects.count() == rows
    assert admin_api.send("GET", "assemblies").status_code == 200


class TestPruning:
    def test_keys_of_what_is_pruned_are_destroyed_after_a_while(self, agent: Agent, ago: Ago, marker: str) -> None:
        old = ago(agent, 40)
        write(agent, "Be quick.")
        ago(agent, 1)
        keep(30)
        records_prune()
        gone = {text_hash(marker), old.id.bytes}
        assert gone <= {bytes(key) for key in UnusedKey.objects.values_list("key", flat=True)}
        now = timezone.now()
        assert unused_keys_destroy(now) == 0, "they are retired first"
        assert unused_keys_destroy(now + RETIREMENT - timedelta(seconds=1)) == 0
        assert unused_keys_destroy(now + RETIREMENT) >= 2
        assert store.is_destroyed(gone).keys() == gone
        assert not UnusedKey.objects.exists()

    def test_a_text_that_was_stored_again_meanwhile_keeps_its_key(self, agent: Agent, ago: Ago, marker: str) -> None:
        ago(agent, 40)
        in_flight = seal_texts({text_hash(marker): marker})
        write(agent, "Be quick.")
        keep(30)
        records_prune()
        now = timezone.now()
        unused_keys_destroy(now)
        # A request that had its key before the text was deleted stores the text now.
        StoredText.objects.create(sha256=text_hash(marker), sealed=in_flight[text_hash(marker)])
        unused_keys_destroy(now + RETIREMENT)
        store.forget_keys()
        row = text_of(marker)
        assert read_texts([(row.sha256, row.text, row.sealed)])[text_hash(marker)] == marker

    def test_whoever_stores_it_afterwards_has_another_key(self, agent: Agent, ago: Ago, marker: str) -> None:
        ago(agent, 40)
        write(agent, "Be quick.")
        keep(30)
        records_prune()
        now = timezone.now()
        unused_keys_destroy(now)
        write(agent, marker)
        again = made(agent, "anew")
        unused_keys_destroy(now + RETIREMENT)
        store.forget_keys()
        assert replay(load_record(again)).identical
        assert bytes(text_of(marker).sealed or b"")[:4] == (2).to_bytes(4)


def test_erased_text_is_told_apart_from_a_text_that_says_so() -> None:
    assert isinstance(ErasedText.since(timezone.now()), str)
    assert not isinstance(ERASED_NOTICE, ErasedText)
