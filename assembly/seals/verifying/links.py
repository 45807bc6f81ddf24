"""Whether each seal is whole, and follows on the one before."""

from collections.abc import Iterator

from assembly.models import Seal
from assembly.models.seal import HASH_BYTES
from assembly.seals.chain import NOTHING_BEFORE, Link
from assembly.seals.verifying.findings import Finding, Kind


def link_findings(seal: Seal, before: Seal | None) -> Iterator[Finding]:
    """What is wrong with the seal, and with its place after the one before (None: it is to be the first)."""
    first = before.number + 1 if before else 1
    if seal.number != first:
        gone = f"Seal {first} is" if seal.number == first + 1 else f"Seals {first} to {seal.number - 1} are"
        yield Finding(Kind.SEAL_MISSING, f"seal {first}", f"{gone} missing.")
    elif bytes(seal.previous) != (bytes(before.sha256) if before else NOTHING_BEFORE):
        named = f"seal {before.number} as it is now" if before else "nothing, as the first one has to"
        yield Finding(Kind.CHAIN_BROKEN, _name(seal), f"Seal {seal.number} does not follow on {named}.")
    if Link.of(seal).sha256 != bytes(seal.sha256) or len(seal.hashes) != HASH_BYTES * len(seal.assemblies):
        yield Finding(Kind.SEAL_ALTERED, _name(seal), f"Seal {seal.number} is not what its own hash says.")


def head_findings(number: int, sha256: bytes) -> Iterator[Finding]:
    """What is wrong where the seal with that number had that hash once."""
    seal = Seal.objects.filter(number=number).first()
    if seal is None:
        sentence = f"Seal {number} is missing: the chain ends before it. What was sealed since was removed."
        yield Finding(Kind.HEAD_DIFFERS, f"seal {number}", sentence)
    elif bytes(seal.sha256) != sha256:
        sentence = f"Seal {number} has another hash now than you noted: it, or something before it, was made anew."
        yield Finding(Kind.HEAD_DIFFERS, f"seal {number}", sentence)


def _name(seal: Seal) -> str:
    return f"seal {seal.number}"
