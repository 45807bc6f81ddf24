"""An assembly as its record tells it: what the engine was given, and what became of each candidate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import OuterRef, Subquery

from assembly.columns import Columns, candidate_facts, decision_at
from assembly.engine.pipeline import assemble
from assembly.engine.profile import Profile
from assembly.engine.types import Assembled, Candidate, Decision, Request, SectionResult, Summary
from assembly.models import Assembly, Piece, StoredText
from assembly.rules.firing import rules_replayed
from config.http.errors import DossierError
from config.tokens import get_tokenizer

NONE: Columns = {"piece": []}
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ObjectDoesNotExist)
"""What reading a record raises that somebody changed, or that names a tokenizer which is not there any more."""


class RecordDamaged(DossierError):
    status = 500
    code = "record_damaged"
    title = "This record does not give the recorded text any more"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the engine makes a context of."""

    request: Request
    profile: Profile
    candidates: tuple[Candidate, ...]

    def assembled(self) -> Assembled:
        """The engine's result for them."""
        return assemble(self.request, self.profile, self.candidates, get_tokenizer(self.request.tokenizer))


@dataclass(frozen=True, slots=True)
class Recorded:
    """One assembly, whatever became of the files, memories and people in it."""

    assembly: Assembly
    inputs: Inputs
    decisions: tuple[Decision, ...]
    """In the order in which they were taken; each is on the candidate at the same place of the inputs."""

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


def recorded(assembly: Assembly) -> Recorded:
    """All that the record holds, texts included: one query, where the profile is known.

    Raises RecordDamaged where somebody changed it so that it cannot be read any more.
    """
    try:
        return recorded_with(assembly, _pieces_of([*assembly.told, *assembly.omitted]))
    except UNREADABLE:
        raise RecordDamaged("It cannot be read. Tell your admin: somebody changed the database.") from None


def recorded_with(assembly: Assembly, pieces: "Mapping[int, PieceRead]") -> Recorded:
    """The same where its pieces were read already, by their ids. What `UNREADABLE` names shows a damaged record."""
    columns, profile = assembly.contents.get("decisions") or NONE, Profile.from_dict(assembly.profile)
    ids = [*assembly.told, *assembly.omitted]
    candidates, decisions = [], []
    for place, piece_at in enumerate(columns["piece"]):
        candidate = _candidate_at(
            columns, place, profile, pieces[ids[piece_at]], _summary_at(columns, place, ids, pieces)
        )
        candidates.append(candidate)
        decisions.append(decision_at(columns, place, candidate, profile))
    inputs = Inputs(_request_of(assembly), profile, tuple(candidates))
    return Recorded(assembly, inputs, tuple(decisions))


def _request_of(assembly: Assembly) -> Request:
    asked = assembly.request
    return Request(
        budget=assembly.budget,
        topic=assembly.topic,
        tokenizer=assembly.tokenizer,
        now=assembly.now,
        exclude=tuple(asked.get("exclude", ())),
        appended=asked.get("appended", ""),
        rules=rules_replayed(asked),
        engine_version=assembly.engine_version,
    )


class PieceRead(NamedTuple):
    """A piece as it is stored, with its text."""

    ref: str
    facts: Mapping[str, Any]
    text: str


def _pieces_of(ids: Sequence[int]) -> dict[int, PieceRead]:
    text = StoredText.objects.filter(sha256=OuterRef("text_sha256")).values("text")
    rows = Piece.objects.filter(id__in=ids).annotate(text=Subquery(text)).values_list("id", "ref", "facts", "text")
    return {id_: PieceRead(ref, facts, text or "") for id_, ref, facts, text in rows}


def _summary_at(columns: Columns, place: int, ids: Sequence[int], pieces: Mapping[int, PieceRead]) -> Summary | None:
    piece_at = columns.get("summary", {}).get(str(place))
    if piece_at is None:
        return None
    piece = pieces[ids[piece_at]]
    return Summary(piece.text, piece.facts["model"])


def _candidate_at(
    columns: Columns, place: int, profile: Profile, piece: PieceRead, summary: Summary | None
) -> Candidate:
    facts = {**piece.facts, "ref": piece.ref, **candidate_facts(columns, place, profile)}
    return replace(Candidate.from_dict(facts, piece.text), summary=summary)
