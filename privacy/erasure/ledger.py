"""The ledger of erasures: what was erased is listed in the key store, so that a restored backup is erased again.

The key store is not restored together with the data. Its table `erasure_ledger` has an entry for each erasure that was
completed. What is looked for, and the refs of things, are encrypted under a data key of the entry's own, which is under
the master key: neither the ledger nor a backup of the data tells whom an erasure was about. An entry is needed as long
as there is a backup from before its erasure; `entries_forget` destroys its key and deletes it.
"""

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from config.http.encryption import decrypt
from config.keys import store
from config.keys.envelope import DataKey, DecryptionFailed, generation_of, seal, unseal
from config.keys.key_errors import KeyLost
from config.keys.store import KeyName
from config.keys.store_connections import run_in_store
from privacy.models import SubjectErasure

INSERT_SQL = """
INSERT INTO erasure_ledger (erasure, completed_at, sealed) VALUES (%(erasure)s, %(at)s, %(sealed)s)
ON CONFLICT DO NOTHING RETURNING erasure
"""
LIST_SQL = "SELECT erasure FROM erasure_ledger ORDER BY completed_at, erasure"
READ_SQL = "SELECT sealed FROM erasure_ledger WHERE erasure = %(erasure)s"
FORGET_SQL = "DELETE FROM erasure_ledger WHERE completed_at < %(before)s RETURNING erasure"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """An erasure as it was completed first, with what it looked for; `number` is the one that it had then."""

    erasure: UUID
    number: int
    subject_id: UUID
    requested_by: str
    requester_name: str
    reason: str
    completed_at: datetime.datetime
    whole: list[str]
    spared: list[str]
    spellings: list[str]


def entry_add(erasure: SubjectErasure) -> None:
    """Add an erasure that is about to be finished to the ledger, durably; nothing happens if it is there already, or if
    there is no key store.

    Raises KeyStoreUnavailable.
    """
    if not store.is_configured():
        return
    at = timezone.now()
    facts = {
        "number": erasure.number,
        "subject_id": str(erasure.subject_id),
        "requested_by": erasure.requested_by,
        "requester_name": erasure.requester_name,
        "reason": erasure.reason,
        "completed_at": at.isoformat(),
        "whole": erasure.whole,
        "spared": erasure.spared,
        "spellings": json.loads(decrypt(erasure.sealed_spellings) or "[]"),
    }
    name = _key_of(erasure.id)
    sealed = seal(store.obtain([name])[name], name, json.dumps(facts).encode())
    run_in_store((INSERT_SQL, {"erasure": erasure.id, "at": at, "sealed": sealed}))


def lost_erasures() -> list[UUID]:
    """Return the ids of erasures that were completed and are not in this database, because an older state of it was
    restored; the first one first. Raises KeyStoreUnavailable.
    """
    if not store.is_configured():
        return []
    (rows,) = run_in_store((LIST_SQL, {}))
    ids = [id_ for (id_,) in rows]
    there = set(SubjectErasure.objects.filter(id__in=ids).values_list("id", flat=True))
    return [id_ for id_ in ids if id_ not in there]


def entry_read(erasure: UUID) -> LedgerEntry | None:
    """Return the entry of an erasure; None if it was forgotten. Raises KeyStoreUnavailable and MasterKeyMissing."""
    (rows,) = run_in_store((READ_SQL, {"erasure": erasure}))
    if not rows:
        return None
    ((stored,),) = rows
    sealed, name = bytes(stored), _key_of(erasure)
    key_name = KeyName(name, generation_of(sealed))
    try:
        key = store.fetch([key_name])[key_name]
        if not isinstance(key, DataKey):
            return None
        facts: Mapping[str, Any] = json.loads(unseal(key, name, sealed))
    except (KeyLost, DecryptionFailed):
        return None
    given = {"subject_id": UUID(facts["subject_id"]), "completed_at": _moment(facts["completed_at"])}
    return LedgerEntry(**{"erasure": erasure, **facts, **given})


def entries_forget(before: datetime.datetime) -> int:
    """Delete the entries of erasures that were completed before, and destroy their keys; return how many there were.

    Whatever backup is restored then, these erasures are not repeated. Raises KeyStoreUnavailable.
    """
    (rows,) = run_in_store((FORGET_SQL, {"before": before}))
    store.destroy([_key_of(id_) for (id_,) in rows])
    return len(rows)


def _key_of(erasure: UUID) -> bytes:
    return b"erasure:" + erasure.bytes


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)
