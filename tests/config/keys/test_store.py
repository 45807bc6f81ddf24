"""The key store makes each key once, whoever asks for it at the same time, and destroys it for good."""

import secrets
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from config.keys import store
from config.keys.key_errors import KeyLost, KeyStoreUnavailable, MasterKeyMissing
from config.keys.store import DestroyedKey, KeyName
from config.keys.store_connections import close_pool, conninfo, run_in_store
from config.keys.words import find_texts, indexing_statements
from tests.concurrency import at_once

pytestmark = pytest.mark.django_db


def an_id() -> bytes:
    return uuid4().bytes


@pytest.fixture
def no_store(settings: Any) -> Iterator[None]:
    """Nobody listens at the store's address."""
    close_pool()
    settings.KEY_STORE = {"HOST": "127.0.0.1", "PORT": "1", "NAME": "keys", "USER": "nobody", "PASSWORD": ""}
    yield
    close_pool()


def test_a_key_is_made_once_and_found_again() -> None:
    one, other = an_id(), an_id()
    made = store.obtain([one, other, one])
    assert len(made[one].secret) == 32
    assert made[one].secret != made[other].secret
    assert store.obtain([one])[one] == made[one]
    store.forget_keys()
    assert store.fetch([KeyName(one, 1), KeyName(other, 1)]) == {
        KeyName(one, 1): made[one],
        KeyName(other, 1): made[other],
    }


def test_all_who_ask_at_once_get_the_same_keys() -> None:
    ids = [an_id() for _ in range(20)]
    answers = at_once([lambda: store.obtain(ids)] * 8)
    assert all(answer == answers[0] for answer in answers)
    assert answers[0].keys() == set(ids)


def test_a_destroyed_key_is_gone_and_says_since_when() -> None:
    one, other = an_id(), an_id()
    made = store.obtain([one, other])
    assert store.destroy([one, an_id()]) == 1
    name = KeyName(one, 1)
    assert isinstance(store.fetch([name])[name], DestroyedKey)
    assert store.is_destroyed([one, other]).keys() == {one}
    (rows,) = run_in_store(("SELECT wrapped FROM data_keys WHERE id = %(id)s", {"id": one}))
    assert rows == [(None,)]
    assert store.fetch([KeyName(other, 1)])[KeyName(other, 1)] == made[other]
    assert store.destroy([one]) == 0, "it is destroyed once"


def test_what_is_stored_again_has_a_key_of_the_next_generation() -> None:
    one = an_id()
    first = store.obtain([one])[one]
    store.destroy([one])
    second = store.obtain([one])[one]
    assert (first.generation, second.generation) == (1, 2)
    assert first.secret != second.secret
    assert store.is_destroyed([one]) == {}


def test_a_process_forgets_what_is_stored_when_it_learns_of_a_destruction(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(store, "_forgetters", [lambda: told.append("forgotten")])
    one = an_id()
    store.obtain([one])
    told.clear()
    run_in_store((store.DESTROY_SQL, {"ids": [one]}))  # as another process does
    assert not isinstance(store.fetch([KeyName(one, 1)])[KeyName(one, 1)], DestroyedKey), "it is cached for a while"
    store.obtain([an_id()])
    assert told == ["forgotten"]
    assert isinstance(store.fetch([KeyName(one, 1)])[KeyName(one, 1)], DestroyedKey)


def test_cached_keys_live_for_half_a_minute() -> None:
    assert store.CACHE_SECONDS <= 30
    entries: Any = store._cache._entries
    assert entries.ttu(None, None, 0.0) == store.CACHE_SECONDS


def test_a_retired_key_is_read_and_not_given_to_writers() -> None:
    one = an_id()
    first = store.obtain([one])[one]
    store.retire([one])
    assert store.obtain([one])[one].generation == 2
    store.forget_keys()
    assert store.fetch([KeyName(one, 1)])[KeyName(one, 1)] == first
    assert store.destroy_retired({one: 2}) == 1
    store.forget_keys()
    assert isinstance(store.fetch([KeyName(one, 1)])[KeyName(one, 1)], DestroyedKey)
    assert store.obtain([one])[one].generation == 2


def test_a_retired_key_that_is_in_use_after_all_stays() -> None:
    one = an_id()
    first = store.obtain([one])[one]
    store.retire([one])
    assert store.destroy_retired({one: 1}) == 0
    assert store.obtain([one])[one] == first


def test_a_key_that_the_store_never_had_is_lost() -> None:
    for generation in (0, 1, 2**31, 2**32 - 1):
        with pytest.raises(KeyLost):
            store.fetch([KeyName(an_id(), generation)])


@pytest.mark.usefixtures("no_store")
def test_a_store_that_is_away_is_said_to_be() -> None:
    for call in (lambda: store.obtain([an_id()]), lambda: store.fetch([KeyName(an_id(), 1)])):
        with pytest.raises(KeyStoreUnavailable, match="KEYS_DATABASE_URL") as raised:
            call()
        assert raised.value.status == 503
    assert "keys.E001" in {one.id for one in run_checks(tags=["security"], include_deployment_checks=True)}


def test_connections_that_were_cut_while_they_were_idle_are_replaced() -> None:
    ids = [an_id() for _ in range(4)]
    at_once([lambda: store.obtain(ids)] * 4)
    with psycopg.connect(conninfo(settings.KEY_STORE or {}), autocommit=True) as other:
        others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s AND pid <> %s"
        other.execute(others, [other.info.dbname, other.info.backend_pid])
    assert store.obtain(ids).keys() == set(ids)
    assert all(answer.keys() == set(ids) for answer in at_once([lambda: store.obtain(ids)] * 4))


def test_the_master_key_can_be_changed(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    one = an_id()
    made = store.obtain([one])[one]
    former, settings.MASTER_KEY = settings.MASTER_KEY, secrets.token_bytes(32)
    store.forget_keys()
    with pytest.raises(MasterKeyMissing, match="MASTER_KEY_FALLBACKS"):
        store.fetch([KeyName(one, 1)])
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("rewrap_keys")
    settings.MASTER_KEY_FALLBACKS = [former]
    assert store.fetch([KeyName(one, 1)])[KeyName(one, 1)] == made
    assert "keys.W003" in {one.id for one in run_checks(tags=["security"], include_deployment_checks=True)}
    call_command("rewrap_keys")
    settings.MASTER_KEY_FALLBACKS = []
    store.forget_keys()
    assert store.fetch([KeyName(one, 1)])[KeyName(one, 1)] == made
    call_command("rewrap_keys")
    assert "0 keys encrypted again." in capsys.readouterr().out
    settings.MASTER_KEY, settings.MASTER_KEY_FALLBACKS = former, [settings.MASTER_KEY]
    call_command("rewrap_keys")


def test_without_a_store_the_deployment_is_warned(settings: Any) -> None:
    settings.KEY_STORE, settings.ENCRYPT_RECORDS = None, False
    assert "keys.W001" in {one.id for one in run_checks(tags=["security"], include_deployment_checks=True)}
    for command in ("encrypt_records", "rewrap_keys"):
        with pytest.raises(CommandError, match="There is no key store"):
            call_command(command)


@pytest.mark.parametrize(
    ("words", "is_found"),
    [
        ("heron", True), ("herons", True), ('"grey heron"', True), ('"heron grey"', False), ("heron -pond", False),
        ("heron or submarine", True), ("submarine", False), ("the", False), ("o'neill", True), ("  ", False),
        ("it's \\ 'quoted'", False),
    ],
)  # fmt: skip
def test_texts_are_found_by_their_words(words: str, is_found: bool) -> None:
    one = an_id()
    store.obtain([one], also=[*indexing_statements({one: "Two grey herons stand at the pond of Mrs O'Neill."})])
    assert (one in find_texts(words, 100)) == is_found


def test_the_store_has_no_words_in_plain_and_none_of_what_is_destroyed() -> None:
    one = an_id()
    store.obtain([one], also=[*indexing_statements({one: "Xylographica"})])
    (rows,) = run_in_store(("SELECT words::text FROM text_words WHERE id = %(id)s", {"id": one}))
    assert rows
    assert "xylograph" not in str(rows)
    store.destroy([one])
    assert find_texts("xylographica", 10) == []


def test_long_and_odd_texts_are_indexed() -> None:
    texts: dict[bytes, Any] = {
        an_id(): text for text in ("", "word " * 300_000, "\u00e9t\u00e9 \u4e2d\u6587 'x\\y'", "n" * 3_000)
    }
    store.obtain(texts.keys(), also=[*indexing_statements(texts)])
    assert set(find_texts("word", 10)) & set(texts) == {[*texts][1]}
