"""Sealing: adding to the chain. Whoever adds holds it until the transaction ends."""

from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone

from assembly.models import Assembly, Pruning, Seal
from assembly.seals.chain import NOTHING_BEFORE, Link
from assembly.seals.forms import pruning_hash
from assembly.seals.records import record_hashes
from assembly.seals.turn import hold_chain


def records_seal(assemblies: Sequence[Assembly]) -> None:
    """Seal these records in their order, one seal for all. Follows new assemblies."""
    hashes = record_hashes(assemblies)
    if assemblies:
        _append(ids=[assembly.id for assembly in assemblies], hashes=b"".join(hashes[one.id] for one in assemblies))


def pruning_seal(pruning: Pruning) -> None:
    """Seal that records were pruned, so that no later seal can be without it."""
    _append(ids=[], hashes=b"", pruning=pruning)


def newest_seal() -> Seal | None:
    """The last one; None where nothing was sealed yet."""
    return Seal.objects.order_by("number").last()


def _append(*, ids: list[UUID], hashes: bytes, pruning: Pruning | None = None) -> None:
    hold_chain()
    last = newest_seal()
    seal = Seal(
        number=last.number + 1 if last else 1,
        created=timezone.now(),
        previous=bytes(last.sha256) if last else NOTHING_BEFORE,
        assemblies=ids,
        hashes=hashes,
        pruning=pruning.id if pruning else None,
        pruning_sha256=pruning_hash(pruning) if pruning else None,
    )
    seal.sha256 = Link.of(seal).sha256
    seal.save(force_insert=True)
