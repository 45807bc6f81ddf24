"""Answers are shared between the processes of an installation, so that a repeated request finds them in any process.

A shared answer is the same as one in the process's own cache (`assembly.pipeline.answer_cache`), and valid for the same
reason: it holds the change counters that were read before its sources, and is used only if they are unchanged. It is
recorded in the same way, by a copy of the first record's row. If that row does not exist, as in a database restored
from a backup, nothing is repeated. It expires with the first answer, wherever it is copied to.

Agent and team are in the key by value, as are the versions of all that gives an answer its form: two versions of the
program never share answers. What is shared is MessagePack, sealed by the cache; whatever cannot be read is a miss.
"""

import datetime
import hashlib
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, models

from agents.models import Agent
from assembly.engine.types import ENGINE_VERSION, Decision
from assembly.models import Assembly
from assembly.pipeline.answer_cache import LIFETIME_SECONDS, AssemblyResult, CacheKey, CounterValues, assembly_cache
from assembly.pipeline.read_plan import load_preconditions
from config.caching.background_writes import background_writes
from config.caching.postgresql_store import PostgreSQLStore
from config.caching.redis_store import RedisStore
from config.caching.shared_cache import SharedCache
from teams.models import Team
from teams.sensitivity import DEFAULT_LEVEL, may_cache

FORMAT = 1
"""The version of `_Shared`; it rises when the fields change."""
_FIELDS = Assembly._meta.concrete_fields  # noqa: SLF001 - Django's documented introspection
_FORM = repr((FORMAT, ENGINE_VERSION, Decision.__struct_fields__, [field.attname for field in _FIELDS])).encode()

Row = dict[str, Any]


class _Shared(msgspec.Struct, array_like=True, frozen=True):
    """An answer as it is shared: change counters, the record's row, the text and the decisions."""

    changes: tuple[int, ...]
    row: Row
    content: str
    decisions: tuple[Decision, ...]


_decoder = msgspec.msgpack.Decoder(_Shared)


@cache
def shared_answers() -> SharedCache:
    """Return the shared cache of answers that the settings name."""
    limit = settings.SHARED_CACHE_BYTES
    store = RedisStore(settings.CACHE_URL, limit) if settings.CACHE_URL else PostgreSQLStore(limit)
    return SharedCache("shared", "answers", store if limit else None, background=background_writes)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is known of a request: its answer, or else the encoded readings that a worker made for it, if any."""

    answer: AssemblyResult | None = None
    readings: bytes | None = None


def recall(wanted: CacheKey, agent: Agent, team: Team | None, readings_key: bytes | None = None) -> Recalled:
    """Return the cached answer to the request, of this process or of another one, or the readings under the key.

    The change counters are read only if there is an answer; the readings are not compared with any. Both are looked up
    in one round trip.
    """
    changes = load_preconditions(agent, team).changes if assembly_cache.knows(wanted) else None
    if changes is not None and (known := assembly_cache.recall(wanted, changes)):
        return Recalled(known)
    if connection.in_atomic_block:  # what is read and written here may never be committed
        return Recalled()
    key = _key(wanted)
    values = shared_answers().get_many([key, readings_key] if readings_key else [key])
    stored, readings = values.get(key), values.get(readings_key) if readings_key else None
    found = decode_answer(stored.value) if stored else None
    if found and changes is None:
        changes = load_preconditions(agent, team).changes
    is_hit = found is not None and found[0] == changes
    shared_answers().count(hit=is_hit)
    if not (found and stored and is_hit):
        return Recalled(readings=readings.value if readings else None)
    assembly_cache.remember(wanted, found[0], found[1], min(stored.seconds, LIFETIME_SECONDS))
    return Recalled(found[1])


def remember_answer(wanted: CacheKey, changes: CounterValues, answer: AssemblyResult) -> None:
    """Cache the answer to a request in this process, if its level permits that, and soon for the others, unless it has
    texts above internal.
    """
    if not may_cache(answer.assembly.sensitivity):
        return
    assembly_cache.remember(wanted, changes, answer)
    if not connection.in_atomic_block and answer.assembly.sensitivity <= DEFAULT_LEVEL:
        shared_answers().put_later(_key(wanted), partial(encode_answer, changes, answer), LIFETIME_SECONDS)


def encode_answer(changes: CounterValues, answer: AssemblyResult) -> bytes | None:
    """Return the answer as bytes; None if it holds what these cannot express."""
    row = {field.attname: _plain(getattr(answer.assembly, field.attname)) for field in _FIELDS}
    try:
        return msgspec.msgpack.encode(
            _Shared(tuple(changes), row, answer.content, answer.decisions), enc_hook=_plain_detail
        )
    except (TypeError, ValueError, OverflowError):
        return None


def decode_answer(encoded: bytes) -> tuple[CounterValues, AssemblyResult] | None:
    """Return the change counters and the answer that were encoded; None for any other bytes."""
    try:
        found = _decoder.decode(encoded)
        values = [_from_plain(field, found.row[field.attname]) for field in _FIELDS]
        assembly = Assembly.from_db(DEFAULT_DB_ALIAS, [field.attname for field in _FIELDS], values)
        # A repetition shares the body with this row: whatever is read from it must be read before.
        assembly.contents  # noqa: B018 - a cached property
    except (msgspec.MsgspecError, LookupError, ValueError, TypeError):
        return None
    return found.changes, AssemblyResult(assembly, found.content, found.decisions)


def _key(wanted: CacheKey) -> bytes:
    return hashlib.sha256(_FORM + wanted.key).digest()


def _plain(value: Any) -> Any:
    """Return the value of a column as MessagePack holds it; moments keep their offset."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _from_plain(field: "models.Field[Any, Any]", value: Any) -> Any:
    if value is None:
        return None
    if isinstance(field, models.DateTimeField):
        return datetime.datetime.fromisoformat(value)
    return UUID(value) if isinstance(field, models.UUIDField) else value


def _plain_detail(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise TypeError(type(value).__name__)
