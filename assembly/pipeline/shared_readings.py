"""Readings of contexts that are expected are shared between processes: a worker makes them, web processes use them.

They are in the shared cache of answers (`assembly.pipeline.shared_answers`), for five minutes, sealed like these, and
are looked up in the same round trip. A lookup by agent, team, topic and profile is enough, because readings say by hash
what was asked, and by change counters what they are valid for (`assembly.sources.readings`). Only readings up to
internal are shared, whoever asks. Whatever cannot be expressed or read back is a miss.
"""

import datetime
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.shared_answers import shared_answers
from assembly.sources.readings import Readings
from memories.search.memory_search import FoundMemory
from teams.models import Team
from teams.sensitivity import FULL, Clearances, Sensitivity

LIFETIME_SECONDS = 300
LEVEL = Sensitivity.INTERNAL
"""The level up to which readings are shared."""
FORMAT = b"readings 1 " + " ".join(FoundMemory.__struct_fields__).encode()
"""The version of `_Shared` and of what it holds: two versions of the program share nothing."""

_UUID, _MOMENT, _DATE, _TUPLE = 1, 2, 3, 4


class _Shared(msgspec.Struct, array_like=True, frozen=True):
    """Readings as they are shared."""

    changes: tuple[int, ...]
    rows: dict[bytes, Any]
    searches: dict[bytes, Any]


def readings_clearances(agent: Agent) -> Clearances:
    """Return the levels up to which the sources are read for a request of the agent that is only expected."""
    return FULL.limited_to(min(agent.clearance, LEVEL))


def readings_key(agent: Agent, team: Team | None, asked: AssemblyRequest) -> bytes:
    """Return the key of the readings for a request, whose profile is known."""
    names = agent.id, team.id if team else None, asked.topic, asked.profile, asked.session
    return hashlib.sha256(FORMAT + repr(names).encode(errors="surrogatepass")).digest()


def share_readings(key: bytes, readings: Readings) -> int:
    """Share the readings, and return their bytes in the shared cache; 0 if they could not be shared."""
    encoded = encode_readings(readings)
    return shared_answers().put(key, encoded, LIFETIME_SECONDS) if encoded else 0


def encode_readings(readings: Readings) -> bytes | None:
    """Return the readings as bytes; None if they hold what these cannot express."""
    try:
        searches = {key: [_plain(_fields(one)) for one in found] for key, found in readings.searches.items()}
        rows = {key: [_plain(list(row)) for row in found] for key, found in readings.rows.items()}
        return _encode(_Shared(readings.changes, rows, searches))
    except (TypeError, ValueError, OverflowError):
        return None


def decode_readings(encoded: bytes) -> Readings | None:
    """Return the readings that were encoded; None for any other bytes."""
    try:
        shared = _decoder.decode(encoded)
        readings = Readings(shared.changes)
        for key, found in shared.rows.items():
            readings.rows[key] = [tuple(row) for row in found]
        for key, found in shared.searches.items():
            readings.searches[key] = tuple(FoundMemory(*one) for one in found)
    except (msgspec.MsgspecError, ValueError, TypeError):
        return None
    return readings


_encode = msgspec.msgpack.Encoder().encode
_KEPT = (type(None), bool, int, float, str, bytes)


def _fields(found: FoundMemory) -> list[Any]:
    return [getattr(found, name) for name in FoundMemory.__struct_fields__]


def _plain(value: Any) -> Any:
    """Return the value so that it can be encoded without losing its type. Raises TypeError."""
    kind = type(value)
    if kind in _KEPT:
        return value
    if kind is list:
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {_key(name): _plain(one) for name, one in value.items()}
    if kind is tuple:
        return msgspec.msgpack.Ext(_TUPLE, _encode([_plain(one) for one in value]))
    if kind is UUID:
        return msgspec.msgpack.Ext(_UUID, value.bytes)
    if kind is datetime.datetime:
        return msgspec.msgpack.Ext(_MOMENT, value.isoformat().encode())
    if kind is datetime.date:
        return msgspec.msgpack.Ext(_DATE, value.isoformat().encode())
    raise TypeError(kind.__name__)


def _key(name: object) -> str:
    if type(name) is not str:
        raise TypeError(type(name).__name__)
    return name


def _from_plain(code: int, data: memoryview) -> Any:
    read = _READERS.get(code)
    if read is None:
        raise ValueError(code)
    return read(bytes(data))


def _items(data: bytes) -> Sequence[Any]:
    return tuple(_values.decode(data))


_READERS: Mapping[int, Callable[[bytes], Any]] = {
    _UUID: lambda data: UUID(bytes=data),
    _MOMENT: lambda data: datetime.datetime.fromisoformat(data.decode()),
    _DATE: lambda data: datetime.date.fromisoformat(data.decode()),
    _TUPLE: _items,
}
_values = msgspec.msgpack.Decoder(list, ext_hook=_from_plain)
_decoder = msgspec.msgpack.Decoder(_Shared, ext_hook=_from_plain)
