"""Keys of deleted texts and records are destroyed, so that a backup of the data does not bring back what was pruned.

A request may have obtained a text's key before the text was deleted, and store the text again afterwards. So a key is
retired first: whoever stores the text from then on gets a key of the next generation. After ten minutes, when all
requests from before have ended, keys that no text uses are destroyed.

Keys that an erasure listed are retired and destroyed by the erasure, because its report says how many there were:
see `privacy.erasure.record_keys`.

The key of a deleted agent or team, and the one of what is recorded about an agent, are destroyed when nothing
is sealed under them any more, wherever it is: until then, every run looks again. What was derived from contexts goes
with the last of them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from assembly.models import StoredText, UnusedKey
from assembly.records.sealed_remnants import owners_needed
from config.keys import store
from config.keys.envelope import generation_of
from config.keys.sealed_texts import owner_of_key

BATCH = 1_000
RETIREMENT = timedelta(minutes=10)


def unused_keys_destroy(now: datetime | None = None) -> int:
    """Destroy the keys that were retired ten minutes before `now`, and retire those that were listed since.

    Returns how many keys were destroyed. What is done is taken off the list, so the rest is done by the next run if the
    key store fails: raises KeyStoreUnavailable.
    """
    if not store.is_configured():
        return 0
    now = now or timezone.now()
    destroyed = 0
    listed = UnusedKey.objects.filter(erasure=None).order_by("key")
    while rows := list(listed.filter(retired_at__lte=now - RETIREMENT)[:BATCH]):
        destroyed += _destroy(rows, now)
    keys_retire(listed, now)
    return destroyed


def keys_retire(listed: QuerySet[UnusedKey], now: datetime) -> None:
    """Retire those of the listed keys that are not retired. Raises KeyStoreUnavailable."""
    while rows := list(listed.filter(retired_at=None)[:BATCH]):
        store.retire([bytes(row.key) for row in rows])
        for row in rows:  # unless it was listed again meanwhile: then it is retired again
            UnusedKey.objects.filter(key=row.key, noted_at=row.noted_at).update(retired_at=now)


def retired_keys_destroy(ids: Sequence[bytes]) -> int:
    """Destroy the retired keys of texts and records, except those under which a text was stored again.

    Returns how many there were. Raises KeyStoreUnavailable.
    """
    stored = StoredText.objects.filter(sha256__in=ids).exclude(sealed=None).values_list("sha256", "sealed")
    used = {bytes(sha256): generation_of(bytes(sealed or b"")) for sha256, sealed in stored}
    return store.destroy_retired({id_: used.get(id_) for id_ in ids})


def _destroy(rows: Sequence[UnusedKey], now: datetime) -> int:
    owners = {bytes(row.key): owner for row in rows if (owner := owner_of_key(bytes(row.key)))}
    in_use = owners_needed(owners.values()) if owners else set[UUID]()
    needed = [key for key, owner in owners.items() if owner in in_use]
    UnusedKey.objects.filter(key__in=needed).update(retired_at=now)
    rows = [row for row in rows if bytes(row.key) not in needed]
    destroyed = retired_keys_destroy([bytes(row.key) for row in rows])
    for row in rows:
        UnusedKey.objects.filter(key=row.key, retired_at=row.retired_at).delete()
    return destroyed
