"""Whether what a seal holds is there as it was: records, or the line of a pruning."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from assembly.models import Assembly, Pruning, Seal
from assembly.models.seal import HASH_BYTES
from assembly.seals.forms import pruning_hash
from assembly.seals.records import parts_of, piece_hashes, record_hash
from assembly.seals.verifying.findings import Finding, Kind, Tally


def sealed_findings(seal: Seal, tally: Tally) -> Iterator[Finding]:
    """What is wrong with the records that this seal holds, and with the pruning. Six queries at most."""
    found = Assembly.objects.in_bulk(list(seal.assemblies))
    pieces = piece_hashes(found.values())
    pruned = _pruned([id_ for id_ in seal.assemblies if id_ not in found])
    for id_, sha256 in seal.sealed:
        if record := found.get(id_):
            tally.records += 1
            yield from _record_findings(seal, record, sha256, pieces)
        elif pruned.get(id_) == sha256:
            tally.pruned += 1
        else:
            sentence = f"The context {id_}, of seal {seal.number}, is gone, and nothing says that it was pruned."
            yield Finding(Kind.RECORD_MISSING, str(id_), sentence)
    if seal.pruning:
        yield from _pruning_findings(seal, seal.pruning)


def _record_findings(seal: Seal, record: Assembly, sha256: bytes, pieces: Mapping[int, bytes]) -> Iterator[Finding]:
    if record_hash(record, pieces) == sha256:
        return
    gone = "" in parts_of(record, pieces)
    why = "something that it is made of is gone" if gone else "it is not what was sealed"
    yield Finding(Kind.RECORD_ALTERED, str(record.id), f"The context {record.id}, of seal {seal.number}: {why}.")


def _pruned(ids: Sequence[UUID]) -> dict[UUID, bytes]:
    """The hashes of those that were pruned, as far as seals hold the lines that say so."""
    if not ids:
        return {}
    lines = list(Pruning.objects.filter(assemblies__overlap=list(ids)))
    sealed = dict(Seal.objects.filter(pruning__in=[line.id for line in lines]).values_list("pruning", "pruning_sha256"))
    hashes: dict[UUID, bytes] = {}
    for line in lines:
        if bytes(sealed.get(line.id) or b"") == pruning_hash(line):
            known = bytes(line.hashes)
            for place, id_ in enumerate(line.assemblies):
                hashes[id_] = known[place * HASH_BYTES : (place + 1) * HASH_BYTES]
    return hashes


def _pruning_findings(seal: Seal, id_: UUID) -> Iterator[Finding]:
    line = Pruning.objects.filter(id=id_).first()
    if line is None:
        sentence = (
            f"The pruning {id_}, of seal {seal.number}, is gone: what it pruned cannot be told from what was lost."
        )
        yield Finding(Kind.PRUNING_MISSING, str(id_), sentence)
    elif pruning_hash(line) != bytes(seal.pruning_sha256 or b""):
        sentence = f"The pruning {id_} is not what seal {seal.number} holds."
        yield Finding(Kind.PRUNING_ALTERED, str(id_), sentence)
