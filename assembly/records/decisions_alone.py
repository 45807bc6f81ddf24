"""The decisions of records are read without the texts, for those who count them.

It takes a third of the time of whole records, because no text is read and decrypted. A record that was read so cannot
be replayed.
"""

from collections.abc import Iterator, Mapping, Sequence

from assembly.engine.codes import Code
from assembly.engine.profile import Profile
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.models.encryption import RecordErased
from assembly.records.bodies import load_bodies, load_keys, load_piece_refs
from assembly.records.encoding import StoredPiece, candidate_facts, decision_at
from assembly.records.reader import NO_COLUMNS, EngineInput, StoredAssembly, parse_records, request_of


def load_decisions_or_errors(assemblies: Sequence[Assembly]) -> Iterator[StoredAssembly | RecordErased]:
    """Yield the decisions of several assemblies; for one whose decisions were erased, the error that says so.

    Of a candidate, only what its decision does not have is read: its kind. Decisions on excluded items have no signals.
    Raises RecordDamaged.
    """
    load_bodies([one for one in assemblies if one.decided_in])
    load_keys(assemblies)
    pieces = {id_: StoredPiece(ref, {"kind": kind or ""}, "") for id_, ref, kind in load_piece_refs(assemblies)}
    yield from parse_records(assemblies, pieces, _decisions_from_pieces)


def _decisions_from_pieces(assembly: Assembly, pieces: Mapping[int, StoredPiece]) -> StoredAssembly:
    columns, profile = assembly.contents.get("decisions") or NO_COLUMNS, Profile.from_dict(assembly.profile)
    ids = [*assembly.told, *assembly.omitted]
    candidates, decisions = [], []
    for place, (piece_at, code) in enumerate(zip(columns["piece"], columns.get("code", ()), strict=True)):
        piece, is_included = pieces[ids[piece_at]], Code(code).included
        measured = candidate_facts(columns, place, profile, measures=is_included)
        candidates.append(Candidate(ref=piece.ref, text="", kind=piece.facts["kind"], **measured))
        decisions.append(decision_at(columns, place, candidates[-1], profile, signals=is_included))
    inputs = EngineInput(request_of(assembly), profile, tuple(candidates))
    return StoredAssembly(assembly, inputs, tuple(decisions))
