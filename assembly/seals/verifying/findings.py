"""What checking finds."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is wrong, as programs read it."""

    SEAL_MISSING = "seal_missing"
    SEAL_ALTERED = "seal_altered"
    CHAIN_BROKEN = "chain_broken"
    HEAD_DIFFERS = "head_differs"
    RECORD_ALTERED = "record_altered"
    RECORD_MISSING = "record_missing"
    RECORD_WAITING = "record_waiting"
    RECORD_FORGED = "record_forged"
    PRUNING_ALTERED = "pruning_altered"
    PRUNING_MISSING = "pruning_missing"
    PRUNING_FORGED = "pruning_forged"
    PIECE_ALTERED = "piece_altered"
    TEXT_ALTERED = "text_altered"
    TEXT_MISSING = "text_missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was sealed: which kind, what it is about, and a sentence for people."""

    kind: Kind
    about: str
    sentence: str


@dataclass(slots=True)
class Tally:
    """How much was looked at."""

    seals: int = 0
    records: int = 0
    pruned: int = 0
    pieces: int = 0
