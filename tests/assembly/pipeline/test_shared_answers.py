"""Answers that processes share: those of a process itself, valid for the same reason, and never an error."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_create
from assembly.contexts.documents import assembly_document
from assembly.models import Assembly, StoredText
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from config.caching.postgresql_store import PostgreSQLStore
from config.caching.redis_store import RedisStore
from config.caching.shared_cache import CacheStore, SharedCache
from config.db.statements import execute_sql, fetch_rows
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.assembly.large_agent import ONE_OF_EACH, fill
from tests.assembly.one_of_each import everything
from tests.assembly.pipeline.edits import EDITS
from tests.scaling.debian_servers import free_port, redis

LIMIT = 10_000_000

OTHER_PROFILES = [pytest.param(one, marks=pytest.mark.deep) for one in ("coding", "conversation")]
on_postgresql = pytest.mark.parametrize("store", ["postgresql"], indirect=True)

Stores = Callable[[], CacheStore]
NewProcess = Callable[[], None]


@pytest.fixture(params=["postgresql", pytest.param("redis", marks=pytest.mark.deep)])
def store(request: pytest.FixtureRequest, committed_database: str) -> Iterator[Stores]:
    if request.param == "postgresql":
        yield lambda: PostgreSQLStore(LIMIT)
        return
    with redis() as address:
        yield lambda: RedisStore(address, LIMIT)


@pytest.fixture
def new_process(store: Stores, monkeypatch: pytest.MonkeyPatch) -> NewProcess:
    """A call after which it is as if another process went on: its own cache is empty."""

    def begin() -> None:
        cache = SharedCache("shared", "answers", store())
        monkeypatch.setattr(shared_answers, "shared_answers", lambda: cache)
        monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())

    begin()
    return begin


@pytest.fixture
def pair(new_process: NewProcess) -> tuple[Agent, Team]:
    agent, team = everything(timezone.now())
    fill(agent, timezone.now(), ONE_OF_EACH)
    return agent, team


def ask(*, alone: bool = False, principal: Principal = SYSTEM, **wishes: Any) -> AssemblyResult:
    """Assembled with the rows as they are now."""
    agent, team = Agent.objects.get(slug="mira"), Team.objects.get(slug="press")
    return assemble(agent=agent, team=None if alone else team, asked=AssemblyRequest(**wishes), principal=principal)


def is_repeat(answer: AssemblyResult) -> bool:
    return "repeats" in answer.assembly.request


def told(answer: AssemblyResult) -> str:
    """All that a caller is told, except what every repetition has of its own."""
    document = assembly_document(answer)
    del document["id"], document["created_at"], document["repeat_of_id"], document["metadata"]["assembly_ms"]
    return json.dumps(document, default=str)


@pytest.mark.parametrize("profile", ["stack", *OTHER_PROFILES])
def test_what_another_process_assembled_is_repeated_as_if_it_were_ones_own(
    profile: str, pair: tuple[Agent, Team], new_process: NewProcess
) -> None:
    wishes: dict[str, Any] = {"topic": "Why is the ink not dry?", "profile": profile, "format": "messages"}
    first, own = ask(**wishes), ask(**wishes)
    assert not is_repeat(first)
    assert is_repeat(own)
    texts = StoredText.objects.count()
    new_process()
    shared = ask(**wishes)
    assert told(shared) == told(own) == told(first)
    assert shared.decisions == own.decisions == first.decisions
    assert repr(shared.decisions) == repr(first.decisions)
    assert shared.assembly.request == {**first.assembly.request, "repeats": str(first.assembly.id)}
    new = {"id", "created", "body", "assembly_ms", "decided_in"}
    same = [field.attname for field in Assembly._meta.concrete_fields if field.attname not in new]
    stored = Assembly.objects.get(id=shared.assembly.id)
    for repeat in (stored, shared.assembly):
        assert [getattr(repeat, name) for name in same] == [getattr(first.assembly, name) for name in same]
        assert repeat.decided_in == first.assembly.id
    assert stored.body == b""
    assert StoredText.objects.count() == texts
    assert replay(load_record(stored)).identical
    again = ask(**wishes)
    assert again.assembly.decided_in == first.assembly.id, "the first, not the one in between"


def test_a_shared_answer_costs_few_queries(
    pair: tuple[Agent, Team],
    new_process: NewProcess,
    store: Stores,
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    agent, _ = pair
    asked = AssemblyRequest(max_tokens=900)
    in_store = 0 if isinstance(store(), RedisStore) else 1

    def asked_once() -> bool:
        return is_repeat(assemble(agent=agent, asked=asked, principal=SYSTEM))

    assemble(agent=agent, asked=AssemblyRequest(), principal=SYSTEM)  # creates missing files
    with django_assert_num_queries(2 + 2 * in_store):  # the sources at once, the record; and look and store
        assert not asked_once()
    new_process()
    with django_assert_num_queries(2 + in_store):  # the counters, the record; and look
        assert asked_once()
    with django_assert_num_queries(2):
        assert asked_once()


def test_after_any_change_nothing_is_repeated(pair: tuple[Agent, Team], new_process: NewProcess) -> None:
    ask()
    for edit in sorted(set(EDITS) - {"nothing", "the agent's team"}):
        EDITS[edit](*pair, Random(edit))
        new_process()
        changed = ask()
        assert not is_repeat(changed), edit
        new_process()
        assert ask().assembly.decided_in == changed.assembly.id, "the new answer takes the place of the old one"


@on_postgresql
def test_a_stale_answer_of_a_process_gives_way_to_the_newer_one_of_another(
    pair: tuple[Agent, Team], new_process: NewProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = AssemblyCache[AssemblyResult]()
    monkeypatch.setattr(shared_answers, "assembly_cache", stale)
    ask()
    EDITS["a memory of the team"](*pair, Random(1))
    new_process()
    newer = ask()
    monkeypatch.setattr(shared_answers, "assembly_cache", stale)
    assert ask().assembly.decided_in == newer.assembly.id


@on_postgresql
def test_a_shared_answer_lives_no_longer_than_the_first(
    pair: tuple[Agent, Team], new_process: NewProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute from the first, wherever it is copied to: else two processes would keep it alive for ever."""
    seconds = 1_000.0
    real = shared_answers.shared_answers()
    first = ask(topic="ink")
    cache = AssemblyCache[AssemblyResult](timer=lambda: seconds)

    class Late:
        """The shared cache, 20 seconds after the answer."""

        def get_many(self, keys: list[bytes]) -> Any:
            return {key: replace(found, seconds=found.seconds - 20) for key, found in real.get_many(keys).items()}

        put, count = real.put, real.count

    monkeypatch.setattr(shared_answers, "shared_answers", Late)
    monkeypatch.setattr(shared_answers, "assembly_cache", cache)
    assert ask(topic="ink").assembly.decided_in == first.assembly.id
    monkeypatch.setattr(shared_answers, "shared_answers", lambda: SharedCache("shared", "answers", None))
    seconds += 8
    assert ask(topic="ink").assembly.decided_in == first.assembly.id
    seconds += 2.5
    assert not is_repeat(ask(topic="ink"))


def test_who_asks_for_another_agent_or_in_another_team_gets_an_answer_of_its_own(
    pair: tuple[Agent, Team], new_process: NewProcess
) -> None:
    agent, team = pair
    outsider = agent_create(slug="out", name="Out", principal=SYSTEM)
    answers = {}
    for name, where in (("mira in press", (agent, team)), ("mira alone", (agent, None)), ("out", (outsider, None))):
        answers[name] = assemble(agent=where[0], team=where[1], asked=AssemblyRequest(topic="ink"), principal=SYSTEM)
        new_process()
    assert not any(map(is_repeat, answers.values()))
    again = assemble(agent=outsider, asked=AssemblyRequest(topic="ink"), principal=SYSTEM)
    assert again.assembly.decided_in == answers["out"].assembly.id
    assert again.assembly.agent_id == outsider.id
    assert "Ink dries in a day" in answers["mira in press"].content
    assert "Ink dries" not in again.content


@on_postgresql
def test_each_record_says_who_asked(pair: tuple[Agent, Team], new_process: NewProcess) -> None:
    person = User.objects.create_user("nia", name="Nia").principal
    ask()
    new_process()
    shared = ask(principal=person)
    assert is_repeat(shared)
    assert (shared.assembly.requested_by, shared.assembly.requester_name) == (person.ref, "Nia")


@on_postgresql
def test_an_answer_whose_record_is_gone_is_not_repeated(pair: tuple[Agent, Team], new_process: NewProcess) -> None:
    first = ask()
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE assemblies DISABLE TRIGGER USER")
        cursor.execute("DELETE FROM assemblies WHERE id = %s", [first.assembly.id])
        cursor.execute("ALTER TABLE assemblies ENABLE TRIGGER USER")
    new_process()
    assert not is_repeat(ask())


@on_postgresql
def test_within_a_transaction_nothing_is_shared(pair: tuple[Agent, Team], new_process: NewProcess) -> None:
    with transaction.atomic():
        ask()
        transaction.set_rollback(True)
    new_process()
    assert not is_repeat(ask())
    new_process()
    with transaction.atomic():
        assert not is_repeat(ask())


@on_postgresql
def test_another_version_of_the_program_shares_nothing(
    pair: tuple[Agent, Team], new_process: NewProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    new_process()
    monkeypatch.setattr(shared_answers, "_FORM", b"another")
    assert not is_repeat(ask())


@on_postgresql
def test_garbage_in_the_cache_is_a_miss(
    pair: tuple[Agent, Team], new_process: NewProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even garbage that was sealed, as by a program with a mistake."""
    for garbage in (b"x", b"\x00", b"\x80\x04\x95.", b"\x93\x01\x02\x03", bytes(1_000), b"{}"):
        new_process()
        with monkeypatch.context() as patch:
            patch.setattr(shared_answers, "encode_answer", lambda *_, garbage=garbage: garbage)
            ask()
        new_process()
        assert not is_repeat(ask())
        assert shared_answers.decode_answer(garbage) is None
        EDITS["a memory of the team"](*pair, Random(1))


@on_postgresql
def test_damaged_bytes_are_no_error(pair: tuple[Agent, Team]) -> None:
    encoded = shared_answers.encode_answer((1, 2), ask())
    assert encoded
    for place in range(0, len(encoded), 13):
        shared_answers.decode_answer(encoded[:place])
        shared_answers.decode_answer(encoded[:place] + bytes([encoded[place] ^ 0x55]) + encoded[place + 1 :])


# --- a store that is down ---------------------------------------------------------------------------------------


def test_without_its_table_every_question_is_answered_all_the_same(
    committed_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(timezone.now())
    execute_sql("DROP TABLE shared_cache", using="owner")
    cache = SharedCache("shared", "answers", PostgreSQLStore(LIMIT))
    monkeypatch.setattr(shared_answers, "shared_answers", lambda: cache)
    for _ in range(3):
        monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
        answer = ask(topic="ink")
        assert not is_repeat(answer)
        assert answer.assembly.warnings == []


def test_without_its_redis_every_question_is_answered_all_the_same(
    committed_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(timezone.now())
    cache = SharedCache("shared", "answers", RedisStore(f"redis://127.0.0.1:{free_port()}/0", LIMIT))
    monkeypatch.setattr(shared_answers, "shared_answers", lambda: cache)
    for _ in range(3):
        monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
        assert not is_repeat(ask(topic="ink"))
    assert is_repeat(ask(topic="ink")), "its own cache goes on"


@pytest.mark.parametrize(
    ("limit", "address", "store"), [(0, "", None), (5, "", PostgreSQLStore), (5, "redis://h", RedisStore)]
)
def test_the_settings_say_where_answers_are_shared(limit: int, address: str, store: type | None, settings: Any) -> None:
    settings.SHARED_CACHE_BYTES, settings.CACHE_URL = limit, address
    shared_answers.shared_answers.cache_clear()
    try:
        chosen = shared_answers.shared_answers()._store
    finally:
        shared_answers.shared_answers.cache_clear()
    assert type(chosen) is (store or type(None))


# --- two processes ----------------------------------------------------------------------------------------------

OTHER_PROCESS = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
settings.KEY_STORE["NAME"] = f"{sys.argv[1]}_keys"
django.setup()
from tests.assembly.pipeline.test_shared_answers import ask, told
answer = ask(topic="ink", profile="coding")
from config.caching.background_writes import background_writes
background_writes.flush()
print(json.dumps([str(answer.assembly.decided_in), told(answer)]))
"""


@pytest.mark.deep
def test_a_real_second_process_repeats_what_the_first_one_assembled(
    committed_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, team = everything(timezone.now())
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
    cache = SharedCache("shared", "answers", PostgreSQLStore(LIMIT))
    monkeypatch.setattr(shared_answers, "shared_answers", lambda: cache)
    seconds = 30 * 60  # a process takes a while to begin on a busy machine
    monkeypatch.setattr(shared_answers, "LIFETIME_SECONDS", seconds)

    def other_process() -> tuple[str, str]:
        command = [sys.executable, "-c", OTHER_PROCESS, committed_database]
        root, env = Path(__file__).parents[3], os.environ | {"SHARED_CACHE_BYTES": str(LIMIT)}
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=root, env=env)
        repeats, document = json.loads(finished.stdout.splitlines()[-1])
        return repeats, document

    first = ask(topic="ink", profile="coding")
    assert other_process() == (str(first.assembly.id), told(first))
    EDITS["a memory of the team"](agent, team, Random(1))
    repeats, document = other_process()
    assert repeats == "None"
    assert document != told(first)
    again = ask(topic="ink", profile="coding")
    assert is_repeat(again), "what the other process assembled"
    assert told(again) == document
    assert fetch_rows("SELECT count(*) FROM shared_cache") == [(1,)]
