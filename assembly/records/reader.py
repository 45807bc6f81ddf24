"""The reader turns a stored record back into what the engine was given, and replays it from the record alone.

A replay needs no CPU budget: the tokens of the items are in the record, and the rest is less work than the assembly
was, which had one.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, NamedTuple

import orjson
from cachetools import LRUCache
from django.core.exceptions import ObjectDoesNotExist

from assembly.engine.assemble import assemble, profile_for_version
from assembly.engine.profile import Profile
from assembly.engine.selection import restore_token_count
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import (
    Candidate,
    Decision,
    EngineRequest,
    EngineResult,
    SectionResult,
    Summary,
    candidate_text_bytes,
)
from assembly.models import Assembly
from assembly.records.encoding import Columns, candidate_facts, decision_at
from assembly.rules.evaluation import rules_from_record
from config.db.statements import Rows, Statement, run_statement
from config.http.cpu_budget import unlimited_cpu
from config.http.errors import DossierError

NO_COLUMNS: Columns = {"piece": []}
PIECES_SQL = """
SELECT id, ref, facts, coalesce(text, '') AS text
FROM pieces LEFT JOIN stored_texts ON stored_texts.sha256 = pieces.text_sha256 WHERE id = ANY(%(ids)s) ORDER BY id
"""
BODIES_SQL = """
SELECT one.id, coalesce(repeated.body, one.body)
FROM assemblies AS one LEFT JOIN assemblies AS repeated ON repeated.id = one.decided_in WHERE one.id = ANY(%(ids)s)
"""
MAX_CACHE_BYTES = 24_000_000
"""Memory of the records that were read lately. A larger one is read again each time."""
CANDIDATE_BYTES = 4_500
"""Memory of a candidate beside its text, roughly, with the decision on it."""
DAMAGE_ERRORS = (ValueError, LookupError, TypeError, AttributeError, ObjectDoesNotExist)
"""What reading a record raises that somebody changed, or that names a tokenizer which is not there any more."""


class RecordDamaged(DossierError):
    status = 500
    code = "record_damaged"
    title = "This record does not give the recorded text any more"


@dataclass(frozen=True, slots=True)
class EngineInput:
    """What the engine makes a context of."""

    request: EngineRequest
    profile: Profile
    candidates: tuple[Candidate, ...]

    def assembled(self) -> EngineResult:
        """The engine's result for them."""
        return assemble(self.request, self.profile, self.candidates, get_tokenizer(self.request.tokenizer))

    def uncounted(self) -> "EngineInput":
        """The same, with nothing known of the candidates' tokens."""
        return replace(self, candidates=tuple(replace(one) for one in self.candidates))


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What a replay gave. `identical`: the bytes have the recorded SHA-256, and every candidate the recorded fate."""

    identical: bool
    sha256: str
    content: str


@dataclass(frozen=True, slots=True)
class StoredAssembly:
    """One assembly, whatever became of the files, memories and people in it."""

    assembly: Assembly
    inputs: EngineInput
    decisions: tuple[Decision, ...]
    """In the order in which they were taken; each is on the candidate at the same place of the inputs."""
    replayed: "list[ReplayResult]" = field(default_factory=list, compare=False, repr=False)
    """What replaying it gave, once somebody did: see `assembly.records.reader.content_of`."""

    @property
    def sections(self) -> tuple[SectionResult, ...]:
        """What became of each section."""
        return tuple(SectionResult(**section) for section in self.assembly.sections)

    @property
    def tokens(self) -> int:
        """Of the whole context."""
        return self.assembly.tokens

    @property
    def decided(self) -> Iterator[tuple[Decision, Candidate]]:
        """Each decision with the candidate that it was on."""
        return zip(self.decisions, self.inputs.candidates, strict=True)


def load_record(assembly: Assembly) -> StoredAssembly:
    """All that the record holds, texts included: one query, where the profile is known.

    People look at one record from many sides: what was made of all that is read of it is known for a while, by its
    hash. Where somebody changed a byte of that, it is made anew.
    Raises RecordDamaged where somebody changed it so that it cannot be read any more.
    """
    with _damage_reported():
        pieces = _load_pieces([assembly])
        sha256 = _content_hash(assembly, pieces)
        with _record_cache_lock:
            told = _record_cache.get(sha256)
        if told is None:
            told = record_from_pieces(assembly, _pieces_by_id(pieces))
            if _memory_bytes(told) <= _record_cache.maxsize:
                with _record_cache_lock:
                    _record_cache[sha256] = told
        assembly.contents = told.assembly.contents
        return replace(told, assembly=assembly)


def load_records(assemblies: Sequence[Assembly]) -> Iterator[StoredAssembly]:
    """The same of several, each read for this once: all their pieces in one query. Raises RecordDamaged."""
    load_bodies([one for one in assemblies if one.decided_in])
    pieces = _pieces_by_id(_load_pieces(assemblies))
    for assembly in assemblies:
        with _damage_reported():
            told = record_from_pieces(assembly, pieces)
        yield told


def load_bodies(assemblies: Sequence[Assembly]) -> None:
    """Read at once what each would read of its body by itself: that of the one that it repeats, or its own."""
    found = run_statement(Statement(BODIES_SQL, {"ids": [one.id for one in assemblies]})) if assemblies else []
    bodies = {id_: bytes(body) for id_, body in found}
    for one in assemblies:
        if one.id in bodies:
            one.packed = bodies[one.id]


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except DAMAGE_ERRORS:
        raise RecordDamaged("It cannot be read. Tell your admin: somebody changed the database.") from None


def _load_pieces(assemblies: Sequence[Assembly]) -> Rows:
    """Of all of them, each piece once."""
    return run_statement(
        Statement(PIECES_SQL, {"ids": list({id_ for one in assemblies for id_ in (*one.told, *one.omitted)})})
    )


def _pieces_by_id(pieces: Rows) -> "dict[int, StoredPiece]":
    return {id_: StoredPiece(*piece) for id_, *piece in pieces}


def record_from_pieces(assembly: Assembly, pieces: "Mapping[int, StoredPiece]") -> StoredAssembly:
    """The same where its pieces were read already, by their ids. What `DAMAGE_ERRORS` names shows a damaged record."""
    columns, profile = assembly.contents.get("decisions") or NO_COLUMNS, Profile.from_dict(assembly.profile)
    ids = [*assembly.told, *assembly.omitted]
    candidates, decisions = [], []
    for place, piece_at in enumerate(columns["piece"]):
        candidate = _candidate_at(
            columns, place, profile, pieces[ids[piece_at]], _summary_at(columns, place, ids, pieces)
        )
        candidates.append(candidate)
        decisions.append(decision_at(columns, place, candidate, profile))
    _restore_token_counts(assembly, profile, candidates, decisions)
    inputs = EngineInput(_request_of(assembly), profile, tuple(candidates))
    return StoredAssembly(assembly, inputs, tuple(decisions))


def _restore_token_counts(
    assembly: Assembly, profile: Profile, candidates: Sequence[Candidate], decisions: Sequence[Decision]
) -> None:
    """Tell the candidates their tokens. To count the texts of a large record once more takes longer than all else."""
    rendered = profile_for_version(profile, assembly.engine_version)
    sections = {section.key: section for section in rendered.sections}
    for candidate, decision in zip(candidates, decisions, strict=True):
        if decision.tokens_full:
            restore_token_count(sections[candidate.section], candidate, assembly.tokenizer, decision.tokens_full)


def _request_of(assembly: Assembly) -> EngineRequest:
    asked = assembly.request
    return EngineRequest(
        budget=assembly.budget,
        topic=assembly.topic,
        tokenizer=assembly.tokenizer,
        now=assembly.now,
        exclude=tuple(asked.get("exclude", ())),
        appended=asked.get("appended", ""),
        rules=rules_from_record(asked),
        engine_version=assembly.engine_version,
    )


class StoredPiece(NamedTuple):
    """A piece as it is stored, with its text."""

    ref: str
    facts: Mapping[str, Any]
    text: str


def _content_hash(assembly: Assembly, pieces: Rows) -> bytes:
    """Of all that candidates, decisions and the text of a record are made of."""
    one = assembly
    columns = [one.budget, one.topic, one.tokenizer, one.now, one.engine_version, one.told, one.omitted]
    read = orjson.dumps([*columns, bytes(one.sha256).hex(), pieces])
    return hashlib.sha256(read + one.packed).digest()


def _memory_bytes(told: StoredAssembly) -> int:
    return sum(CANDIDATE_BYTES + candidate_text_bytes(one.text) for one in told.inputs.candidates)


_record_cache: LRUCache[bytes, StoredAssembly] = LRUCache(MAX_CACHE_BYTES, _memory_bytes)
_record_cache_lock = Lock()


def _summary_at(columns: Columns, place: int, ids: Sequence[int], pieces: Mapping[int, StoredPiece]) -> Summary | None:
    piece_at = columns.get("summary", {}).get(str(place))
    if piece_at is None:
        return None
    piece = pieces[ids[piece_at]]
    return Summary(piece.text, piece.facts["model"])


def _candidate_at(
    columns: Columns, place: int, profile: Profile, piece: StoredPiece, summary: Summary | None
) -> Candidate:
    facts = {**piece.facts, "ref": piece.ref, **candidate_facts(columns, place, profile)}
    candidate = Candidate.from_dict(facts, piece.text)
    return replace(candidate, summary=summary) if summary else candidate


def replay(told: StoredAssembly) -> ReplayResult:
    """Assemble again from the record, and compare. Where the recorded tokens give another result, all are counted."""
    with unlimited_cpu():
        again = told.inputs.assembled()
        is_identical = _is_identical(told, again)
        if not is_identical:
            again = told.inputs.uncounted().assembled()
            is_identical = _is_identical(told, again)
    return ReplayResult(is_identical, again.sha256, again.content)


def _is_identical(told: StoredAssembly, again: EngineResult) -> bool:
    fates = [(decision.section, decision.ref, decision.code) for decision in told.decisions]
    return bytes.fromhex(again.sha256) == bytes(told.assembly.sha256) and fates == [
        (decision.section, decision.ref, decision.code) for decision in again.decisions
    ]


def content_of(told: StoredAssembly) -> str:
    """The exact text that was returned, replayed once. Raises RecordDamaged rather than show another one."""
    if not told.replayed:
        told.replayed.append(replay(told))
    (again, *_) = told.replayed
    if not again.identical:
        raise RecordDamaged("Its hash differs from the recorded one. Tell your admin: somebody changed the database.")
    return again.content
