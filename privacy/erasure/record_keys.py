"""The keys of recorded texts and bodies that an erasure deleted are destroyed before its report is sealed.

A request that began before may have obtained the key of a text, and store the text again. So keys are retired as soon
as their texts are deleted, and destroyed ten minutes later, when all such requests have ended. A text that was stored
again meanwhile is looked for in another round. Until then, the erasure is not finished, and says when it will be.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils import timezone

from assembly.models import Assembly, StoredText, UnusedKey
from assembly.models.assembly import ENCRYPTED_FORMAT
from assembly.records import unused_keys
from assembly.records.unused_keys import BATCH, keys_retire, retired_keys_destroy
from config.keys import store
from privacy.models import SubjectErasure

TEXTS, BODIES = "stored_texts", "assemblies"
"""The tables whose rows had the keys."""
BODY_BYTES = 16
"""The length of the id of a body's key, which is that of its record; the one of a text is its hash."""


def body_keys_list(erasure: SubjectErasure, records: Collection[UUID]) -> None:
    """List the keys of bodies that will be emptied, as triggers list those of deleted texts, to be destroyed."""
    bodies = Assembly.everything.filter(id__in=records).values_list("id", "body")
    keys = [id_.bytes for id_, body in bodies if bytes(body[:1]) == ENCRYPTED_FORMAT]
    UnusedKey.objects.bulk_create([UnusedKey(key=key) for key in keys], ignore_conflicts=True)
    UnusedKey.objects.filter(key__in=keys).update(erasure=erasure.id)


def text_keys_claim(erasure: SubjectErasure, texts: Collection[bytes]) -> None:
    """Claim the keys of those of the texts that this transaction deleted: triggers have listed them."""
    UnusedKey.objects.filter(key__in=texts).update(erasure=erasure.id)


def erasure_keys_retire(erasure: SubjectErasure) -> dict[str, int]:
    """Retire the keys of what the erasure deleted, so that nothing is stored under them any more.

    Returns how many there are. Raises KeyStoreUnavailable.
    """
    listed = _listed(erasure)
    if store.is_configured():
        keys_retire(listed.order_by("key"), timezone.now())
    return {"keys": listed.count()}


def keys_due(erasure: SubjectErasure) -> datetime | None:
    """Return when the keys of what the erasure deleted can be destroyed; None if there are none left to destroy.

    Raises KeyStoreUnavailable.
    """
    if not store.is_configured() or all(_destroyed(ids) == ids for ids in _batches(erasure)):
        return None
    last: datetime | None = _listed(erasure).aggregate(last=Max("retired_at"))["last"]
    return last and last + unused_keys.RETIREMENT


def erasure_keys_destroy(erasure: SubjectErasure) -> None:
    """Destroy the keys of what the erasure deleted, except those under which a text was stored again.

    Raises KeyStoreUnavailable; what is destroyed stays so, and the rest is destroyed the next time.
    """
    if store.is_configured():
        for ids in _batches(erasure):
            retired_keys_destroy(sorted(ids))


def destroyed_keys_count(erasure: SubjectErasure) -> dict[str, int]:
    """Take the keys that are destroyed off the list, and return their number by table, and of bodies by agent.

    Keys under which a text was stored again are taken off the list as well; they are not counted. Raises
    KeyStoreUnavailable.
    """
    counts = Counter[str]()
    if store.is_configured():
        for ids in _batches(erasure):
            gone = _destroyed(ids)
            bodies = [UUID(bytes=id_) for id_ in gone if len(id_) == BODY_BYTES]
            counts[TEXTS] += len(gone) - len(bodies)
            counts[BODIES] += len(bodies)
            for agent in Assembly.everything.filter(id__in=bodies).values_list("agent_id", flat=True):
                counts[f"agent:{agent}"] += 1
    _listed(erasure).delete()
    return dict(counts)


def texts_stored_again(erasure: SubjectErasure) -> int:
    """Return how many texts that the erasure deleted are stored again, by requests that ran meanwhile."""
    return sum(StoredText.objects.filter(sha256__in=ids).count() for ids in _batches(erasure))


def _listed(erasure: SubjectErasure) -> QuerySet[UnusedKey]:
    return UnusedKey.objects.filter(erasure=erasure.id)


def _batches(erasure: SubjectErasure) -> Iterator[set[bytes]]:
    ids = [bytes(key) for key in _listed(erasure).order_by("key").values_list("key", flat=True)]
    for at in range(0, len(ids), BATCH):
        yield set(ids[at : at + BATCH])


def _destroyed(ids: Collection[bytes]) -> set[bytes]:
    return set(store.is_destroyed(ids))
