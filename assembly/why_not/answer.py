"""The answer to "why is it not in this context?", from its record.

It finds the candidate by ref, name or words of its text, and tells its rank, its rivals and what the budget went to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assembly.contexts.search.owned_things import OwnedRecord, find_owned_record, search_owned_records
from assembly.engine.diff import ItemKey
from assembly.engine.profile import Section
from assembly.engine.refs import Ref, document_of, without_version
from assembly.engine.types import Candidate, Decision, SectionResult
from assembly.models import Assembly
from assembly.records.reader import StoredAssembly, load_record
from assembly.sources.kinds import FILES
from assembly.why_not.fix_search import RemedySearchResult, TrialRuns, find_remedies, is_whole
from assembly.why_not.not_considered import NotConsidered, explain_not_considered, unknown_record

SHOWN_COMPETITORS = 5
"""So many are shown above and below."""


@dataclass(frozen=True, slots=True)
class Competitor:
    """One of those that competed with it, and what became of it."""

    decision: Decision
    candidate: Candidate
    is_subject: bool = False


@dataclass(frozen=True, slots=True)
class RankContext:
    """A candidate of a context, what became of it, and what beat it."""

    decision: Decision
    candidate: Candidate
    section: Section
    result: SectionResult
    """What became of its section."""
    around: tuple[Competitor, ...]
    """Itself among those that rank around it, the best first; blocks among those of all sections, by score. Empty where
    it was not ranked, or has no rival."""
    above: int
    """How many rank above the first of those around it."""
    below: int
    """How many rank below the last of those around it."""
    cap: int | None
    """Of its section, in tokens; None: what remains of the budget."""
    used_before: int
    """Tokens that were used when its section's turn came; of blocks, when that of the first of them came."""


def rank_context(told: StoredAssembly, place: ItemKey) -> RankContext:
    """The standing of the candidate in that place."""
    by_place = {(one.section, one.ref): (one, candidate) for one, candidate in told.decided}
    decision, candidate = by_place[place]
    section = next(one for one in told.inputs.profile.sections if one.key == place[0])
    result = next(one for one in told.sections if one.key == place[0])
    rivals = _ranked_competitors(told, section) if decision.rank is not None else []
    if len(rivals) == 1:
        rivals = []
    at = next((at for at, rival in enumerate(rivals) if rival.decision is decision), 0)
    first, last = max(0, at - SHOWN_COMPETITORS), min(len(rivals), at + SHOWN_COMPETITORS + 1)
    return RankContext(
        decision=decision,
        candidate=candidate,
        section=section,
        result=result,
        around=tuple(_to_competitors(rivals[first:last], decision)),
        above=first,
        below=len(rivals) - last,
        cap=section.cap_within(told.inputs.request.budget),
        used_before=_used_before(told, section),
    )


def _ranked_competitors(told: StoredAssembly, section: Section) -> list[Competitor]:
    """All that were ranked where it was, the best first."""
    keys = _competing_sections(told, section)
    ranked = [Competitor(*both) for both in told.decided if both[0].section in keys and both[0].rank is not None]
    if section.shape == "blocks":
        return sorted(ranked, key=lambda one: (-(one.decision.score or 0.0), one.decision.ref))
    return sorted(ranked, key=lambda one: one.decision.rank or 0)


def _competing_sections(told: StoredAssembly, section: Section) -> set[str]:
    """The sections whose items compete with those of this one."""
    if section.shape != "blocks":
        return {section.key}
    return {one.key for one in told.inputs.profile.sections if one.shape == "blocks"}


def _to_competitors(rivals: Sequence[Competitor], decision: Decision) -> list[Competitor]:
    return [Competitor(one.decision, one.candidate, is_subject=one.decision is decision) for one in rivals]


def _used_before(told: StoredAssembly, section: Section) -> int:
    keys = _competing_sections(told, section)
    used = 0
    for result in told.sections:
        if result.key in keys:
            break
        used += result.tokens
    return used


MAX_MATCHES = 20
"""Matches, the best first."""
MAX_CHARACTERS = 400
"""Of what is typed."""


@dataclass(frozen=True, slots=True)
class Match:
    """One candidate of the context, and what became of it."""

    decision: Decision
    candidate: Candidate
    label: str
    """The heading of its section."""


def find_by_ref(told: StoredAssembly, ref: str) -> list[Match]:
    """The candidates that the ref names, with or without its version, or by the id alone; what is in comes first.

    The version that is named comes before others of the same thing, which answer for it, too.
    """
    matches = [match for match in _all_matches(told) if _is_named(match.decision.ref, ref)]
    return sorted(matches, key=lambda match: (match.decision.ref != ref, not match.decision.included))


def find_by_words(told: StoredAssembly, words: str) -> list[Match]:
    """The candidates that are called so, or say so: the best match first, of equals what is left out first.

    A name that is the same beats one that holds the words, which beats a text that holds them together, which beats one
    that holds all of them, which beats one that holds some.
    """
    sought = _normalized(words)
    graded = [(_match_grade(match, sought), match) for match in _all_matches(told)] if sought else []
    found = [(grade, match) for grade, match in graded if grade > 0]
    found.sort(key=lambda pair: (-pair[0], pair[1].decision.included))
    return [match for _, match in found[:MAX_MATCHES]]


def _all_matches(told: StoredAssembly) -> Iterator[Match]:
    labels = {section.key: section.label for section in told.inputs.profile.sections}
    return (Match(decision, candidate, labels[decision.section]) for decision, candidate in told.decided)


def _is_named(ref: str, sought: str) -> bool:
    """A document stands for its pieces, too."""
    unversioned, document = without_version(ref), without_version(document_of(ref))
    ids = {unversioned.partition(":")[2], document.partition(":")[2]}
    return sought in {ref, *ids} or without_version(sought) in {unversioned, document}


def _match_grade(match: Match, sought: str) -> float:
    names = [_normalized(name) for name in _names(match)]
    if sought in names:
        return 4
    if any(sought in name for name in names):
        return 3
    text = _normalized(match.candidate.text)
    if sought in text:
        return 2
    words = sought.split()
    share = sum(word in text or any(word in name for name in names) for word in words) / len(words)
    return share if len(words) > 1 else 0


def _names(match: Match) -> Sequence[str]:
    """What people call it: its section where it is all that stands there, its file, path, names or day."""
    candidate = match.candidate
    labels = [name for by in ("path", "kg_entity") for name in candidate.labels.get(by, ())]
    is_file = Ref.parse(candidate.ref).kind in FILES
    own = [match.label, candidate.kind] if is_file else []
    return [*labels, *own, *([candidate.date.isoformat()] if candidate.date else [])]


def _normalized(text: str) -> str:
    """As it is compared: whatever its case and its white space."""
    return " ".join(text.casefold().split())


NO_REMEDIES = RemedySearchResult((), ())


@dataclass(frozen=True, slots=True)
class WhyNotAnswer:
    """What was found about the one thing that is meant most likely; what else could be meant is in `matches`, it first.

    With a standing, it was considered: the remedies tell what would bring it in, or bring all of it in where it is in
    part. Without one, it was not; `explain_not_considered` tells why of each thing that could be meant.
    """

    told: StoredAssembly
    matches: tuple[Match, ...]
    standing: RankContext | None
    remedies: RemedySearchResult
    unconsidered: tuple[NotConsidered, ...]


def answer_why_not(assembly: Assembly, *, ref: str = "", words: str = "", section: str = "") -> WhyNotAnswer:
    """The answer for what the ref names, which may leave out its version, or for what the words find.

    One thing may stand in several sections: `section` says in which it is meant. Two queries, and some more where
    nothing was considered that could be meant. Whether somebody may ask is for the caller to decide.
    """
    told = load_record(assembly)
    matches = find_by_ref(told, ref or words.strip()) or find_by_words(told, "" if ref else words)
    things = [] if matches else _owned_records(assembly, ref, words.strip())
    # The words of a search are found in other forms, too: what they find may have been considered all the same.
    matches = matches or [match for thing in things for match in find_by_ref(told, thing.ref)]
    in_section = [match for match in matches if match.decision.section == section]
    chosen = next(iter([*in_section, *matches]), None)
    if chosen is None:
        missed = tuple(explain_not_considered(assembly, thing) for thing in things)
        return WhyNotAnswer(told, (), None, NO_REMEDIES, missed or (unknown_record(),))
    ranking = rank_context(told, (chosen.decision.section, chosen.decision.ref))
    others = [match for match in matches if match is not chosen]
    return WhyNotAnswer(told, (chosen, *others), ranking, _find_remedies(told, ranking), ())


def _owned_records(assembly: Assembly, ref: str, words: str) -> list[OwnedRecord]:
    """What is there today of that name; a ref names one at most."""
    if found := find_owned_record(assembly, ref or words):
        return [found]
    return [*search_owned_records(assembly, words)] if words and not ref else []


def _find_remedies(told: StoredAssembly, ranking: RankContext) -> RemedySearchResult:
    if is_whole(ranking.decision):
        return NO_REMEDIES
    return find_remedies(TrialRuns(told.inputs), told, (ranking.decision.section, ranking.decision.ref))
