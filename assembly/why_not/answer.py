"""The answer to "why is it not in this context?" comes from the record.

It finds the item by ref, name or words of its text, and has its rank, its competitors and how the budget was used.
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
from assembly.records.section_names import section_name
from assembly.sources.kinds import FILES
from assembly.why_not.fix_search import RemedySearchResult, TrialRuns, find_remedies, is_whole
from assembly.why_not.not_considered import NotConsidered, explain_not_considered, unknown_record

SHOWN_COMPETITORS = 5
"""The number of competitors that are shown above and below the item."""


@dataclass(frozen=True, slots=True)
class Competitor:
    """An item that competed with the requested one, with its decision."""

    decision: Decision
    candidate: Candidate
    is_subject: bool = False


@dataclass(frozen=True, slots=True)
class RankContext:
    """An item of a context, its decision, and the items that ranked higher."""

    decision: Decision
    candidate: Candidate
    section: Section
    result: SectionResult
    """The result of the item's section."""
    around: tuple[Competitor, ...]
    """The item among those with neighbouring ranks, the best first; blocks are ranked across all sections by score.

    Empty if it was not ranked, or has no competitor.
    """
    above: int
    """The number of items that rank above the first one in `around`."""
    below: int
    """The number of items that rank below the last one in `around`."""
    cap: int | None
    """The limit of its section in tokens; None: what remains of the budget."""
    used_before: int
    """The tokens that were used before its section was filled; for blocks, before the section of the first block."""


def rank_context(told: StoredAssembly, place: ItemKey) -> RankContext:
    """Return the rank context of the item at this place."""
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
    """Return all items that were ranked with it, the best first."""
    keys = _competing_sections(told, section)
    ranked = [Competitor(*both) for both in told.decided if both[0].section in keys and both[0].rank is not None]
    if section.shape == "blocks":
        return sorted(ranked, key=lambda one: (-(one.decision.score or 0.0), one.decision.ref))
    return sorted(ranked, key=lambda one: one.decision.rank or 0)


def _competing_sections(told: StoredAssembly, section: Section) -> set[str]:
    """Return the sections whose items compete with those of this section."""
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
"""The maximum number of matches, the best first."""
MAX_CHARACTERS = 400
"""The maximum length of a search text."""


@dataclass(frozen=True, slots=True)
class Match:
    """An item of the context, with its decision."""

    decision: Decision
    candidate: Candidate
    label: str
    """The heading of the item's section."""


def find_by_ref(told: StoredAssembly, ref: str) -> list[Match]:
    """Return the items with this ref, with or without its version, or with this id alone; included ones come first.

    The requested version comes before other versions of the same item.
    """
    matches = [match for match in _all_matches(told) if _is_named(match.decision.ref, ref)]
    return sorted(matches, key=lambda match: (match.decision.ref != ref, not match.decision.included))


def find_by_words(told: StoredAssembly, words: str) -> list[Match]:
    """Return the items whose name or text has the words, the best match first; of equal matches, excluded items first.

    The order is: an equal name; a name that contains the words; a text that contains them as a phrase; items with all
    of several words; items with some of them.
    """
    sought = _normalized(words)
    graded = [(_match_grade(match, sought), match) for match in _all_matches(told)] if sought else []
    found = [(grade, match) for grade, match in graded if grade > 0]
    found.sort(key=lambda pair: (-pair[0], pair[1].decision.included))
    return [match for _, match in found[:MAX_MATCHES]]


def _all_matches(told: StoredAssembly) -> Iterator[Match]:
    labels = {section.key: section_name(section) for section in told.inputs.profile.sections}
    return (Match(decision, candidate, labels[decision.section]) for decision, candidate in told.decided)


def _is_named(ref: str, sought: str) -> bool:
    """Return whether the ref is the searched one; a document also matches its passages."""
    unversioned, document = without_version(ref), without_version(document_of(ref))
    whole = Ref.parse(ref).item
    ids = {unversioned.partition(":")[2], document.partition(":")[2], whole.partition(":")[2]}
    return sought in {ref, *ids} or without_version(sought) in {unversioned, document, whole}


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
    """Return the names of an item for people: its section if it is the only item there, its file,
    path, names or day.
    """
    candidate = match.candidate
    labels = [name for by in ("path", "kg_entity") for name in candidate.labels.get(by, ())]
    is_file = Ref.parse(candidate.ref).kind in FILES
    own = [match.label, candidate.kind] if is_file else []
    return [*labels, *own, *([candidate.date.isoformat()] if candidate.date else [])]


def _normalized(text: str) -> str:
    """Return the text in lower case with single spaces, for comparison."""
    return " ".join(text.casefold().split())


NO_REMEDIES = RemedySearchResult((), ())


@dataclass(frozen=True, slots=True)
class WhyNotAnswer:
    """The answer for the most likely item of a search; `matches` has this item first, then the other matches.

    If the item was considered, `standing` is its rank, and `remedies` are the changes that would include it, or all of
    it if it is truncated. Otherwise `standing` is None, and `unconsidered` has the reason for each item that may be
    meant.
    """

    told: StoredAssembly
    matches: tuple[Match, ...]
    standing: RankContext | None
    remedies: RemedySearchResult
    unconsidered: tuple[NotConsidered, ...]


def answer_why_not(assembly: Assembly, *, ref: str = "", words: str = "", section: str = "") -> WhyNotAnswer:
    """Return why the item with this ref, with or without its version, or with these words, is not in the context.

    `section` selects one of several sections that considered the item. Two queries, and some more if no considered item
    matches. The caller checks permissions.
    """
    told = load_record(assembly)
    matches = find_by_ref(told, ref or words.strip()) or find_by_words(told, "" if ref else words)
    things = [] if matches else _owned_records(assembly, ref, words.strip())
    # The search in the database also finds other forms of the words, so its results may be considered items.
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
    """Return the current items with this name; a ref names at most one."""
    if found := find_owned_record(assembly, ref or words):
        return [found]
    return [*search_owned_records(assembly, words)] if words and not ref else []


def _find_remedies(told: StoredAssembly, ranking: RankContext) -> RemedySearchResult:
    if is_whole(ranking.decision):
        return NO_REMEDIES
    return find_remedies(TrialRuns(told.inputs), told, (ranking.decision.section, ranking.decision.ref))
