"""Pieces are candidates as they are stored: each once, however many records hold it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from assembly.engine.diff import named
from assembly.engine.profile import Profile
from assembly.engine.types import Candidate
from assembly.models import text_hash

ASKED_FOR = {"section", "similarity", "score", "measures", "position", "summary"}
"""What a candidate owes to the question, or to the place for which it was offered."""
ID_BYTES = 8
SUMMARY, PROFILE = "summary", "profile"
"""What is stored as pieces besides: a text said shorter, and the profile of an assembly."""


@dataclass(frozen=True, slots=True)
class NewPiece:
    """A piece that may be stored already."""

    sha256: bytes
    ref: str
    text_sha256: bytes
    text: str
    facts: Mapping[str, Any]

    def id_from(self, byte: int = 0) -> int:
        """Eight bytes of the hash as a number. Where another piece has the first eight, the next ones are its id."""
        return int.from_bytes(self.sha256[byte : byte + ID_BYTES], signed=True)

    def row(self, id_: int) -> dict[str, Any]:
        """By column."""
        columns = {"sha256": self.sha256, "ref": self.ref, "named": named(self.ref)}
        return {"id": id_, **columns, "text_sha256": self.text_sha256, "facts": self.facts}


def piece_of(candidate: Candidate) -> NewPiece:
    """What the candidate is, whatever was asked for."""
    known: NewPiece | None = candidate.memo.get(NewPiece)
    if known is None:
        facts = {name: value for name, value in candidate.to_dict().items() if name not in ASKED_FOR}
        known = candidate.memo[NewPiece] = _new_piece(facts.pop("ref"), candidate.text, facts)
    return known


def piece_of_summary(candidate: Candidate) -> NewPiece | None:
    """The summary that the candidate came with."""
    told = candidate.summary
    return _new_piece(f"{SUMMARY}:{candidate.ref}", told.text, {"model": told.model}) if told else None


@lru_cache(maxsize=256)
def piece_of_profile(profile: Profile) -> NewPiece:
    """A profile as it was used: its text is JSON."""
    return _new_piece(f"{PROFILE}:{profile.name}@{profile.version}", orjson.dumps(profile.to_dict()).decode(), {})


def piece_hash(ref: str, text_sha256: bytes, facts: Mapping[str, Any]) -> bytes:
    """SHA-256 of the piece as JSON: an array of the ref, the text's hash in hexadecimal and the facts, keys sorted."""
    canonical = orjson.dumps([ref, text_sha256.hex(), facts], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).digest()


def _new_piece(ref: str, text: str, facts: Mapping[str, Any]) -> NewPiece:
    text_sha256 = text_hash(text)
    return NewPiece(piece_hash(ref, text_sha256, facts), ref, text_sha256, text, facts)
