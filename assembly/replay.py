"""Replaying: the engine run again from the record alone, whatever became of the files, memories and people in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assembly.engine.pipeline import assemble
from assembly.engine.profile import Profile
from assembly.engine.types import Assembled, Candidate, Request
from assembly.models import Assembly, Decision, StoredText
from assembly.rules.firing import rules_replayed
from config.http.errors import DossierError
from config.tokens import get_tokenizer


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay gave. `identical`: the bytes have the recorded SHA-256, and every candidate the recorded fate."""

    identical: bool
    sha256: str
    content: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the engine makes a context of."""

    request: Request
    profile: Profile
    candidates: tuple[Candidate, ...]

    def assembled(self) -> Assembled:
        """The engine's result for them."""
        return assemble(self.request, self.profile, self.candidates, get_tokenizer(self.request.tokenizer))


class RecordDamaged(DossierError):
    status = 500
    code = "record_damaged"
    title = "This record does not give the recorded text any more"


def replay(assembly: Assembly, decisions: list[Decision] | None = None) -> Replay:
    """Assemble again from the record, and compare. Pass its decisions, in order, if they are at hand."""
    decisions = decisions if decisions is not None else list(assembly.decisions.order_by("position"))
    again = rebuild(assembly, decisions)
    same_bytes = bytes.fromhex(again.sha256) == bytes(assembly.sha256)
    fates = [(decision.section, decision.ref, decision.code) for decision in decisions]
    same_fates = fates == [(decision.section, decision.ref, decision.code) for decision in again.decisions]
    return Replay(same_bytes and same_fates, again.sha256, again.content)


def content_of(assembly: Assembly, decisions: list[Decision] | None = None) -> str:
    """The exact text that was returned. Raises RecordDamaged rather than show another one."""
    again = replay(assembly, decisions)
    if not again.identical:
        raise RecordDamaged("Its hash differs from the recorded one. Tell your admin: somebody changed the database.")
    return again.content


def rebuild(assembly: Assembly, decisions: list[Decision]) -> Assembled:
    """The engine's result for the recorded request, profile and candidates."""
    return inputs_of(assembly, decisions).assembled()


def inputs_of(assembly: Assembly, decisions: Sequence[Decision]) -> Inputs:
    """What the engine was given, from the record alone: its decisions are to come in order."""
    by_hash = texts_of(decisions)
    candidates = tuple(candidate_of(decision, by_hash) for decision in decisions)
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
    return Inputs(request, Profile.from_dict(assembly.profile), candidates)


def candidate_of(decision: Decision, texts: Mapping[bytes, str]) -> Candidate:
    """The candidate that was decided on, with its recorded texts."""
    summary = texts.get(summary_hash_of(decision), "")
    return Candidate.from_dict(decision.candidate, texts.get(bytes(decision.text_sha256), ""), summary)


def summary_hash_of(decision: Decision) -> bytes:
    """The SHA-256 of the summary that the candidate came with; empty without one."""
    return bytes.fromhex(decision.candidate.get("summary", {}).get("sha256", ""))


def texts_of(decisions: Sequence[Decision]) -> dict[bytes, str]:
    """The recorded texts of the decisions' candidates, and of their summaries, by their SHA-256."""
    hashes = {bytes(decision.text_sha256) for decision in decisions}
    hashes |= {found for decision in decisions if (found := summary_hash_of(decision))}
    rows = StoredText.objects.filter(sha256__in=hashes).values_list("sha256", "text")
    return {bytes(key): text for key, text in rows}
