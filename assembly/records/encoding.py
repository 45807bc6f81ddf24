"""Encoding turns candidates into pieces, and decisions into columns of numbers, for records. Pure.

A piece is stored once, however many records hold it. The columns omit values that follow from others and are computed
when a record is read: a decision's signals name measures of its candidate, and shares that the profile's ranker
computes from these measures.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from assembly.engine.codes import Code
from assembly.engine.linear_ranker import SHARE_PREFIX, Ranker, SignalValues, share_signals, source_share_signals
from assembly.engine.priority import PRIORITY_SIGNALS
from assembly.engine.profile import Profile, Section
from assembly.engine.refs import without_version
from assembly.engine.types import Candidate, Decision, ShorterLevel
from assembly.models import text_hash
from config.caching.cached_function import cached_function

ID_BYTES = 8
MAX_PROFILE_PIECES_BYTES, SECTION_BYTES = 2_000_000, 2_000
"""Bytes of memory for the cached pieces of profiles, and approximately for one of their sections."""
SUMMARY, PROFILE = "summary", "profile"
"""Kinds of pieces that are no candidates: summaries and levels of texts, and the profile of an assembly."""
LEVELS_COLUMN = "levels"


class NewPiece(Struct, frozen=True):
    """A piece to be stored: a candidate's text and facts, which records share. It may be in the database already."""

    sha256: bytes
    ref: str
    text_sha256: bytes
    text: str
    facts: Mapping[str, Any]

    def id_from(self, byte: int = 0) -> int:
        """Return the piece's id: eight bytes of its hash, from `byte` on, as a number.

        If another piece has the id from the first eight bytes, the next eight are tried.
        """
        return int.from_bytes(self.sha256[byte : byte + ID_BYTES], signed=True)

    def row(self, id_: int) -> dict[str, Any]:
        """Return the piece's row in the table `pieces`, by column."""
        columns = {"sha256": self.sha256, "ref": self.ref, "named": without_version(self.ref)}
        return {"id": id_, **columns, "text_sha256": self.text_sha256, "facts": self.facts}


class StoredPiece(NamedTuple):
    """A stored piece, the part of a candidate that records share: its ref, its facts and its text."""

    ref: str
    facts: Mapping[str, Any]
    text: str


def piece_of(candidate: Candidate) -> NewPiece:
    """Return the piece of a candidate: its text and the facts that do not depend on the request."""
    known: NewPiece | None = candidate.memo.get(NewPiece)
    if known is None:
        facts = candidate.lasting_facts()
        known = candidate.memo[NewPiece] = _new_piece(facts.pop("ref"), candidate.text, facts)
    return known


def piece_of_summary(candidate: Candidate) -> NewPiece | None:
    """Return the piece of the candidate's summary; None without one."""
    told = candidate.summary
    return _new_piece(f"{SUMMARY}:{candidate.ref}", told.text, {"model": told.model}) if told else None


def pieces_of_levels(candidate: Candidate) -> Mapping[ShorterLevel, NewPiece]:
    """Return the pieces of the candidate's levels of detail, which have the form of summaries."""
    if not candidate.levels:
        return {}
    known: Mapping[ShorterLevel, NewPiece] | None = candidate.memo.get(LEVELS_COLUMN)
    if known is None:
        known = candidate.memo[LEVELS_COLUMN] = {
            level: _new_piece(f"{SUMMARY}:{candidate.ref}", one.text, {"model": one.model})
            for level, one in candidate.levels.items()
        }
    return known


def _profile_piece_bytes(profile: Profile) -> int:
    return SECTION_BYTES * (1 + len(profile.sections))


@cached_function("profile_pieces", MAX_PROFILE_PIECES_BYTES, _profile_piece_bytes)
def piece_of_profile(profile: Profile) -> NewPiece:
    """Return the piece of a profile as it was used; its text is JSON."""
    return _new_piece(f"{PROFILE}:{profile.name}@{profile.version}", orjson.dumps(profile.to_dict()).decode(), {})


def piece_hash(ref: str, text_sha256: bytes, facts: Mapping[str, Any]) -> bytes:
    """Return the SHA-256 of a piece as a JSON array of ref, text hash in hexadecimal, and facts with sorted keys."""
    canonical = orjson.dumps([ref, text_sha256.hex(), facts], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).digest()


def _new_piece(ref: str, text: str, facts: Mapping[str, Any]) -> NewPiece:
    text_sha256 = text_hash(text)
    return NewPiece(piece_hash(ref, text_sha256, facts), ref, text_sha256, text, facts)


Columns = dict[str, Any]
"""Values by column name: a list with a value per decision or, for rare values, a dict by decision index as text."""

BARE, RANKED, CONTESTED, VERBATIM = range(4)
"""Encodings of a decision's signals relative to its candidate: see `_decode_signals`."""
COHERENCE = "coherence"
REPLACED_MEASURES = {COHERENCE, "recency", "credibility"}
"""Measures for which the engine may use another value than the candidate's."""
ADDED_SIGNALS = {COHERENCE, "boost", f"{SHARE_PREFIX}boost"} | PRIORITY_SIGNALS
"""Signals that the engine or a rule adds to those of the candidate; they are stored as they are."""
NO_SIGNALS: tuple[Any, ...] = ({}, [])


def columns_of(
    decisions: Sequence[Decision],
    candidates: Sequence[Candidate],
    pieces: Sequence[int],
    summaries: Sequence[int | None],
    profile: Profile,
    *,
    levels: Sequence[Mapping[ShorterLevel, int]] = (),
) -> Columns:
    """Return the columns of the decisions, each on the candidate at the same index.

    `pieces` and `summaries` are, for each candidate, the indexes of its piece and of its summary's piece in the record,
    and `levels` those of the pieces of its levels of detail.
    """
    sections = {section.key: place for place, section in enumerate(profile.sections)}
    measures = sorted({name for candidate in candidates for name in candidate.measures})
    rankers = {section.key: _ranker_of(section, profile) for section in profile.sections}
    ways = [
        _signal_encoding(decision, one, rankers[decision.section])
        for decision, one in zip(decisions, candidates, strict=True)
    ]
    columns: Columns = {
        "piece": list(pieces),
        "section": [sections[one.section] for one in decisions],
        "code": [str(one.code) for one in decisions],
        "rank": [one.rank for one in decisions],
        "score": [one.score for one in decisions],
        "tokens": [one.tokens for one in decisions],
        "full": [one.tokens_full for one in decisions],
        "start": [one.start for one in decisions],
        "length": [None if one.start is None else (one.end or 0) - one.start for one in decisions],
        "similarity": [one.similarity for one in candidates],
        "measures": {name: [one.measures.get(name) for one in candidates] for name in measures},
        "signals": [way for way, _ in ways],
        "more": _sparse_column([more or None for _, more in ways]),
        "detail": _sparse_column([dict(one.detail) if one.detail else None for one in decisions]),
        "source_score": _sparse_column([one.score for one in candidates]),
        "position": _sparse_column([one.position for one in candidates]),
        "summary": _sparse_column(summaries),
        LEVELS_COLUMN: _sparse_column([dict(one) or None for one in levels]),
    }
    return {name: values for name, values in columns.items() if values not in NO_SIGNALS}


def _sparse_column(values: Sequence[Any]) -> dict[str, Any]:
    return {str(place): value for place, value in enumerate(values) if value is not None}


def candidate_facts(columns: Columns, place: int, profile: Profile, *, measures: bool = True) -> dict[str, Any]:
    """Return the facts of the decision's candidate that its piece omits, as `Candidate.from_dict` takes them; without
    its measures if these are not wanted.
    """
    key = str(place)
    by_name = columns.get("measures", {}) if measures else {}
    measured = {name: values[place] for name, values in by_name.items() if values[place] is not None}
    score, position = columns.get("source_score", {}).get(key), columns.get("position", {}).get(key)
    return {
        "section": profile.sections[columns["section"][place]].key,
        "similarity": columns["similarity"][place],
        **({} if score is None else {"score": score}),
        **({} if position is None else {"position": position}),
        **({"measures": measured} if measured else {}),
    }


def positions_of(columns: Columns, pieces: Set[int]) -> list[int]:
    """Return the indexes of the decisions on any of these pieces (by index in the record), in order."""
    return [place for place, piece in enumerate(columns["piece"]) if piece in pieces]


def decision_at(
    columns: Columns, place: int, candidate: Candidate, profile: Profile, *, signals: bool = True
) -> Decision:
    """Return the decision at this index, as the engine made it on this candidate; without signals if not wanted."""
    start, key = columns["start"][place], str(place)
    told: SignalValues = ()
    if signals:
        ranker = _ranker_of(profile.sections[columns["section"][place]], profile)
        told = _decode_signals(columns["signals"][place], columns.get("more", {}).get(key, []), candidate, ranker)
    return Decision(
        ref=candidate.ref,
        section=candidate.section,
        code=Code(columns["code"][place]),
        rank=columns["rank"][place],
        score=columns["score"][place],
        signals=told,
        tokens=columns["tokens"][place],
        tokens_full=columns["full"][place],
        start=start,
        end=None if start is None else start + columns["length"][place],
        detail=columns.get("detail", {}).get(key, {}),
    )


def _ranker_of(section: Section, profile: Profile) -> Ranker | None:
    """Return the ranker whose shares are among the signals of the section's decisions; None without a ranker."""
    return section.ranker if section.shape == "blocks" else profile.ranker


def _signal_encoding(decision: Decision, candidate: Candidate, ranker: Ranker | None) -> tuple[int, list[Any]]:
    """Return the encoding of a decision's signals, and the signals to store with it."""
    if not decision.signals and candidate.similarity is None:
        return BARE, []
    signals = dict(decision.signals)
    measures = candidate.measures
    more = [
        [name, value]
        for name, value in decision.signals
        # What is not one of the candidate's measures, or has another value.
        if name in ADDED_SIGNALS or (name in REPLACED_MEASURES and measures.get(name) != value)
    ]
    for way in _possible_encodings(signals, len(more), candidate):
        if _decoded(way, more, candidate, ranker) == signals:
            return way, more
    return VERBATIM, [list(signal) for signal in decision.signals]


def _possible_encodings(signals: Mapping[str, Any], added: int, candidate: Candidate) -> Iterator[int]:
    """Yield the encodings that the names of the signals allow; trying an encoding takes longer than this check."""
    if len(signals) == added + (candidate.similarity is not None):
        yield BARE
    if any(name.startswith(SHARE_PREFIX) and name not in ADDED_SIGNALS for name in signals):
        yield RANKED
    yield CONTESTED


def _decoded(way: int, more: Sequence[Any], candidate: Candidate, ranker: Ranker | None) -> dict[str, float]:
    """Return the signals of `_decode_signals` by name, without their order, which takes longer than the rest."""
    if way != CONTESTED:
        return dict(_decode_signals(way, more, candidate, ranker))
    base = {} if candidate.similarity is None else {"similarity": float(candidate.similarity)}
    own = {} if candidate.score is None else {"source_score": candidate.score}
    return {**base, **own, **candidate.measures, **dict(source_share_signals(ranker, candidate)), **dict(more)}


def _decode_signals(way: int, more: Sequence[Any], candidate: Candidate, ranker: Ranker | None) -> SignalValues:
    """Return the signals of a decision from its encoding `way`, the stored signals and its candidate."""
    added = tuple((name, value) for name, value in more)
    if way == VERBATIM:
        return added
    base: SignalValues = () if candidate.similarity is None else (("similarity", float(candidate.similarity)),)
    if way == RANKED and ranker:
        shares = ranker.shares(candidate)
        known = {name for name, _ in base}
        features = [(name, candidate.measures[name]) for name, _ in shares if name not in known]
        return (*base, *features, *share_signals(shares), *added)
    if way == CONTESTED:
        own = () if candidate.score is None else (("source_score", candidate.score),)
        replaced = {name: value for name, value in added if name in REPLACED_MEASURES}
        measured = sorted({**candidate.measures, **replaced}.items())
        shares = source_share_signals(ranker, candidate)
        return (*base, *own, *measured, *shares, *(one for one in added if one[0] not in REPLACED_MEASURES))
    return (*base, *added)
