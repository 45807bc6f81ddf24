"""The reader turns a stored record back into the engine's input, and replays it from the record alone.

A replay needs no CPU budget: the items' token counts are in the record, and the rest is less work than the assembly,
which had a budget.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import orjson
from django.core.exceptions import ObjectDoesNotExist
from msgspec import structs

from assembly.engine.assemble import assemble, profile_for_version
from assembly.engine.profile import Profile
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.selection import restore_token_count
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import (
    Candidate,
    Decision,
    EngineRequest,
    EngineResult,
    SectionResult,
    ShorterLevel,
    Summary,
    candidate_text_bytes,
)
from assembly.models import Assembly
from assembly.models.encryption import ErasedText, RecordErased, erasure_sentence
from assembly.records.bodies import load_bodies, load_keys, load_pieces
from assembly.records.encoding import LEVELS_COLUMN, Columns, StoredPiece, candidate_facts, decision_at
from assembly.records.erased_parts import find_erased
from assembly.records.record_errors import ErasedParts, PartsErased, RecordDamaged
from assembly.rules.evaluation import rules_from_record
from config.caching.process_cache import ProcessCache
from config.db.statements import Rows
from config.http.cpu_budget import unlimited_cpu
from teams.sealing.fields import require_readable
from teams.sensitivity import may_cache

NO_COLUMNS: Columns = {"piece": []}
MAX_CACHE_BYTES = 24_000_000
"""Bytes of memory for the cache of parsed records. A larger record is parsed each time."""
CANDIDATE_BYTES = 4_500
"""Approximate bytes of memory of a candidate with its decision, without its text."""
DAMAGE_ERRORS = (ValueError, LookupError, TypeError, AttributeError, ObjectDoesNotExist)
"""Exceptions that reading a record raises if it was changed, or if it names a tokenizer that no longer exists."""


@dataclass(frozen=True, slots=True)
class EngineInput:
    """The engine's input for one context: request, profile and candidates."""

    request: EngineRequest
    profile: Profile
    candidates: tuple[Candidate, ...]

    def assembled(self) -> EngineResult:
        """Return the engine's result for this input."""
        return assemble(self.request, self.profile, self.candidates, get_tokenizer(self.request.tokenizer))

    def uncounted(self) -> "EngineInput":
        """Return a copy of this input without the cached token counts of its candidates."""
        return replace(self, candidates=tuple(structs.replace(one) for one in self.candidates))


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay. `identical`: the text has the recorded SHA-256, and all decisions are as recorded."""

    identical: bool
    sha256: str
    content: str


@dataclass(frozen=True, slots=True)
class StoredAssembly:
    """A parsed record: an assembly with the engine's input and its decisions, unaffected by later changes of data."""

    assembly: Assembly
    inputs: EngineInput
    decisions: tuple[Decision, ...]
    """The decisions in the order in which they were made; each is on the candidate at the same index of the input."""
    replayed: "list[ReplayResult]" = field(default_factory=list, compare=False, repr=False)
    """The result of the replay after `content_of` was called; empty before."""
    erased: ErasedParts | None = None
    """What erasures removed from the record; its items have a note in the place of their texts."""

    @property
    def sections(self) -> tuple[SectionResult, ...]:
        """The recorded result of each section."""
        return tuple(SectionResult(**section) for section in self.assembly.sections)

    @property
    def keyless_texts(self) -> "list[ErasedText]":
        """What is left of the texts of this record whose keys were destroyed, of candidates and of their levels."""
        texts = [
            text
            for one in self.inputs.candidates
            for text in (one.text, *(level.text for level in one.levels.values()), one.summary and one.summary.text)
        ]
        return [text for text in texts if isinstance(text, ErasedText)]

    @property
    def erasure_sentence(self) -> str:
        """A sentence on what of this record was erased; empty if nothing was."""
        return self.erased.sentence if self.erased else erasure_sentence(self.keyless_texts)

    @property
    def tokens(self) -> int:
        """Tokens of the whole context."""
        return self.assembly.tokens

    @property
    def decided(self) -> Iterator[tuple[Decision, Candidate]]:
        """Each decision with its candidate, in the order of deciding."""
        return zip(self.decisions, self.inputs.candidates, strict=True)


def load_record(assembly: Assembly) -> StoredAssembly:
    """Return the parsed record of an assembly, texts included; one query, if the profile is cached.

    Parsed records are cached by a hash of their contents, so opening several pages of one context parses its record
    once. Any changed byte misses the cache. Raises RecordDamaged if the record cannot be read.
    """
    with _damage_reported():
        pieces = load_pieces([assembly])
        sha256 = _content_hash(assembly, pieces)
        told = _record_cache.get(sha256)
        if told is None:
            (parsed,) = parse_records([assembly], _pieces_by_id(pieces), record_from_pieces)
            if isinstance(parsed, RecordErased):
                raise parsed
            told = parsed
            if told.erased is None and may_cache(
                assembly.sensitivity
            ):  # what is erased may be more tomorrow, from rows that the hash does not know
                _record_cache.put(sha256, told)
        assembly.contents = told.assembly.contents
        return replace(told, assembly=assembly)


def load_records(assemblies: Sequence[Assembly]) -> Iterator[StoredAssembly]:
    """Yield the parsed records of several assemblies; one query reads all their pieces.

    Raises RecordDamaged, and RecordErased for a record whose decisions were erased.
    """
    for told in load_records_or_errors(assemblies):
        if isinstance(told, RecordErased):
            raise told
        yield told


def load_records_or_errors(assemblies: Sequence[Assembly]) -> Iterator[StoredAssembly | RecordErased]:
    """Yield the parsed records of several assemblies; for one whose decisions were erased, the error that says so.

    Raises RecordDamaged.
    """
    load_bodies([one for one in assemblies if one.decided_in])
    load_keys(assemblies)
    yield from parse_records(assemblies, _pieces_by_id(load_pieces(assemblies)), record_from_pieces)


Parse = Callable[[Assembly, Mapping[int, StoredPiece]], StoredAssembly]
"""A function that returns the record of an assembly, with its pieces by id; it raises one of `DAMAGE_ERRORS`."""


def parse_records(
    assemblies: Sequence[Assembly], pieces: dict[int, StoredPiece], parse: Parse
) -> Iterator[StoredAssembly | RecordErased]:
    """Yield the parsed records, with a note in the place of each erased item. Raises RecordDamaged."""
    with _damage_reported():
        found = find_erased(assemblies, pieces)
    for assembly in assemblies:
        erased = found.get(assembly.id)
        if erased and "body" in erased.columns:
            yield PartsErased(erased)
            continue
        try:
            with _damage_reported():
                told = parse(assembly, pieces)
        except RecordErased as error:
            yield error
        except RecordDamaged:
            if not erased:
                raise
            yield PartsErased(erased)  # its profile is gone
        else:
            yield replace(told, erased=erased) if erased else told


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except RecordErased:
        raise
    except DAMAGE_ERRORS:
        raise RecordDamaged(
            "It cannot be read. Contact your administrator: the database was changed outside of Dossier."
        ) from None


def _pieces_by_id(pieces: Rows) -> "dict[int, StoredPiece]":
    return {id_: StoredPiece(*piece) for id_, *piece in pieces}


def record_from_pieces(assembly: Assembly, pieces: "Mapping[int, StoredPiece]") -> StoredAssembly:
    """Return the parsed record from pieces that were read already, by id.

    Raises one of `DAMAGE_ERRORS` for a damaged record.
    """
    columns, profile = assembly.contents.get("decisions") or NO_COLUMNS, Profile.from_dict(assembly.profile)
    ids = [*assembly.told, *assembly.omitted]
    candidates, decisions = [], []
    for place, piece_at in enumerate(columns["piece"]):
        candidate = _candidate_at(columns, place, profile, pieces[ids[piece_at]], assembly.sensitivity)
        summary, levels = _summary_at(columns, place, ids, pieces), _levels_at(columns, place, ids, pieces)
        if summary or levels:
            candidate = structs.replace(candidate, summary=summary, levels=levels)
        candidates.append(candidate)
        decisions.append(decision_at(columns, place, candidate, profile))
    request = request_of(assembly)
    disputed = {ref for one in request.reconciliations for ref in (one.left, one.right)}
    _restore_token_counts(assembly, profile, candidates, decisions, except_for=disputed)
    inputs = EngineInput(request, profile, tuple(candidates))
    return StoredAssembly(assembly, inputs, tuple(decisions))


def _restore_token_counts(
    assembly: Assembly,
    profile: Profile,
    candidates: Sequence[Candidate],
    decisions: Sequence[Decision],
    *,
    except_for: Collection[str],
) -> None:
    """Set the candidates' token counts from the record, because counting the texts takes longest in a large record.

    The recorded counts of the refs `except_for` may include a mark, which their candidates do not have.
    """
    rendered = profile_for_version(profile, assembly.engine_version)
    sections = {section.key: section for section in rendered.sections}
    for candidate, decision in zip(candidates, decisions, strict=True):
        if decision.tokens_full and candidate.ref not in except_for:
            restore_token_count(sections[candidate.section], candidate, assembly.tokenizer, decision.tokens_full)


def request_of(assembly: Assembly) -> EngineRequest:
    """Return the engine's request as it is recorded."""
    asked = assembly.request
    return EngineRequest(
        budget=assembly.budget,
        topic=require_readable(assembly.topic),
        tokenizer=assembly.tokenizer,
        now=assembly.now,
        exclude=tuple(asked.get("exclude", ())),
        appended=asked.get("appended", ""),
        rules=rules_from_record(asked),
        engine_version=assembly.engine_version,
        reconciliations=tuple(map(Reconciliation.from_dict, asked.get("reconciliations", ()))),
    )


def _content_hash(assembly: Assembly, pieces: Rows) -> bytes:
    """Return the SHA-256 of everything in a record from which its candidates, decisions and text are made."""
    one = assembly
    columns = [one.budget, one.topic, one.tokenizer, one.now, one.engine_version, one.told, one.omitted]
    read = orjson.dumps([*columns, bytes(one.sha256).hex(), pieces])
    return hashlib.sha256(read + one.packed).digest()


def _memory_bytes(told: StoredAssembly) -> int:
    return sum(
        CANDIDATE_BYTES
        + candidate_text_bytes(one.text)
        + sum(candidate_text_bytes(level.text) for level in one.levels.values())
        for one in told.inputs.candidates
    )


_record_cache = ProcessCache[bytes, StoredAssembly]("records", MAX_CACHE_BYTES, _memory_bytes)


def _summary_at(columns: Columns, place: int, ids: Sequence[int], pieces: Mapping[int, StoredPiece]) -> Summary | None:
    piece_at = columns.get("summary", {}).get(str(place))
    if piece_at is None:
        return None
    piece = pieces[ids[piece_at]]
    return Summary(piece.text, piece.facts["model"])


def _levels_at(
    columns: Columns, place: int, ids: Sequence[int], pieces: Mapping[int, StoredPiece]
) -> dict[ShorterLevel, Summary]:
    found = columns.get(LEVELS_COLUMN, {}).get(str(place), {})
    stored = {level: pieces[ids[piece_at]] for level, piece_at in found.items()}
    return {level: Summary(piece.text, piece.facts["model"]) for level, piece in stored.items()}


def _candidate_at(columns: Columns, place: int, profile: Profile, piece: StoredPiece, level: int) -> Candidate:
    facts = {**piece.facts, "ref": piece.ref, **candidate_facts(columns, place, profile), "sensitivity": level}
    return Candidate.from_dict(facts, piece.text)


def replay(told: StoredAssembly) -> ReplayResult:
    """Replay the record and compare the result with it. Raises RecordErased if parts of it were erased without which
    the result is another one.

    If the recorded token counts give another result, all texts are counted again.
    """
    if told.erased:
        raise PartsErased(told.erased)
    with unlimited_cpu():
        again = told.inputs.assembled()
        is_identical = _is_identical(told, again)
        if not is_identical:
            again = told.inputs.uncounted().assembled()
            is_identical = _is_identical(told, again)
    if not is_identical and (keyless := told.keyless_texts):
        raise RecordErased.of_texts(keyless)
    return ReplayResult(is_identical, again.sha256, again.content)


def remaining_content(told: StoredAssembly) -> str:
    """Return the text of the context; if items of it were erased, what the others give, with notes in their places.

    Raises RecordDamaged if nothing was erased and the replay gives another text.
    """
    if not told.erased:
        return content_of(told)
    with unlimited_cpu():
        return told.inputs.assembled().content


def _is_identical(told: StoredAssembly, again: EngineResult) -> bool:
    fates = [(decision.section, decision.ref, decision.code) for decision in told.decisions]
    return bytes.fromhex(again.sha256) == bytes(told.assembly.sha256) and fates == [
        (decision.section, decision.ref, decision.code) for decision in again.decisions
    ]


def content_of(told: StoredAssembly) -> str:
    """Return the exact text of the context from a replay, which runs once per parsed record.

    Raises RecordDamaged if the replay gives another text, and RecordErased if that is because parts were erased.
    """
    if not told.replayed:
        told.replayed.append(replay(told))
    (again, *_) = told.replayed
    if not again.identical:
        raise RecordDamaged(
            "Its hash differs from the recorded one. Contact your administrator: the database was "
            "changed outside of Dossier."
        )
    return again.content
