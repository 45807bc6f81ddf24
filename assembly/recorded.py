"""An assembly as its record tells it: what the engine was given, and what became of each candidate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assembly.engine.pipeline import assemble
from assembly.engine.profile import Profile
from assembly.engine.types import Assembled, Candidate, Decision, Request, SectionResult
from assembly.models import Assembly, StoredText
from assembly.models import Decision as Row
from assembly.rules.firing import rules_replayed
from config.tokens import get_tokenizer


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
    """All that the record holds, texts included: two queries."""
    rows = list(Row.objects.filter(assembly=assembly.decided_in or assembly.id).order_by("position"))
    texts = _texts_of(rows)
    candidates = tuple(_candidate_of(row, texts) for row in rows)
    request = Request(
        budget=assembly.budget,
        topic=assembly.topic,
        tokenizer=assembly.tokenizer,
        now=assembly.now,
        exclude=tuple(assembly.request.get("exclude", ())),
        appended=assembly.request.get("appended", ""),
        rules=rules_replayed(assembly.request),
        engine_version=assembly.engine_version,
    )
    inputs = Inputs(request, Profile.from_dict(assembly.profile), candidates)
    return Recorded(assembly, inputs, tuple(row.as_decided() for row in rows))


def _candidate_of(row: Row, texts: Mapping[bytes, str]) -> Candidate:
    """The candidate that was decided on, with its recorded texts."""
    summary = texts.get(_summary_hash_of(row), "")
    return Candidate.from_dict(row.candidate, texts.get(bytes(row.text_sha256), ""), summary)


def _summary_hash_of(row: Row) -> bytes:
    """The SHA-256 of the summary that the candidate came with; empty without one."""
    return bytes.fromhex(row.candidate.get("summary", {}).get("sha256", ""))


def _texts_of(rows: Sequence[Row]) -> dict[bytes, str]:
    """The recorded texts of the decisions' candidates, and of their summaries, by their SHA-256."""
    hashes = {bytes(row.text_sha256) for row in rows}
    hashes |= {found for row in rows if (found := _summary_hash_of(row))}
    stored = StoredText.objects.filter(sha256__in=hashes).values_list("sha256", "text")
    return {bytes(key): text for key, text in stored}
