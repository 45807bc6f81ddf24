"""The answer to “why not …?” in the words and shapes of its page. Pure: everything comes in as values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.linear_ranker import SHARE_PREFIX, SOURCE_SHARE_PREFIX
from assembly.engine.types import Candidate, Decision
from assembly.records.item_titles import reason_sentence, title_of
from assembly.records.reader import StoredAssembly
from assembly.why_not.answer import Competitor, Match, RankContext, WhyNotAnswer
from assembly.why_not.fix_search import Remedy, is_whole
from assembly.why_not.sentences import Titles, cost_sentence, fine_score, remedy_sentence, untried_sentence

MAX_CHOICES = 40


@dataclass(frozen=True, slots=True)
class MatchChoice:
    """Something that could be meant."""

    ref: str
    section: str
    title: str
    label: str
    outcome: str
    tone: str


@dataclass(frozen=True, slots=True)
class CompetitorRow:
    """One of those around it. `score` is empty where nothing scored them."""

    choice: MatchChoice
    rank: str
    score: str
    tokens: int
    is_subject: bool


@dataclass(frozen=True, slots=True)
class RemedyRow:
    """What would bring it in, and what that does to the others."""

    sentence: str
    cost: str


@dataclass(frozen=True, slots=True)
class WhyNotPage:
    """The answer; `title` is empty where the thing was not considered."""

    headline: str
    tone: str
    title: str = ""
    why: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    """Of its score."""
    rows: tuple[CompetitorRow, ...] = ()
    above: int = 0
    below: int = 0
    ways: tuple[RemedyRow, ...] = ()
    untried: str = ""
    is_in: bool = False
    is_whole: bool = False
    elsewhere: tuple[tuple[str, str], ...] = ()
    """Of things that were not considered, the name and why."""


def why_not_page(found: WhyNotAnswer) -> WhyNotPage:
    """The whole answer."""
    rank_context = found.standing
    if rank_context is None:
        return _not_considered(found)
    titles = {candidate.ref: title_of(candidate) for candidate in found.told.inputs.candidates}
    labels = {section.key: section.label for section in found.told.sections}
    decision = rank_context.decision
    return WhyNotPage(
        headline=_headline(decision),
        tone="good" if is_whole(decision) else "warn",
        title=title_of(rank_context.candidate),
        why=reason_sentence(decision, rank_context.section.label, titles),
        facts=tuple(_facts(found.told, rank_context)),
        parts=tuple((_score_part_row(name), fine_score(round(value, 4))) for name, value in decision.signals),
        rows=tuple(_competitor_row(neighbour, labels) for neighbour in rank_context.around),
        above=rank_context.above,
        below=rank_context.below,
        ways=tuple(_remedy_row(remedy, found, titles) for remedy in found.remedies.found),
        untried=untried_sentence(found.remedies.untried),
        is_in=decision.included,
        is_whole=is_whole(decision),
    )


def match_choices(matches: Sequence[Match]) -> list[MatchChoice]:
    """What else could be meant."""
    return [_match_choice(match.decision, match.candidate, match.label) for match in matches]


def missing_choices(told: StoredAssembly) -> list[MatchChoice]:
    """What is left out, or not in with all its words, to pick from."""
    labels = {section.key: section.label for section in told.sections}
    out = ((one, candidate) for one, candidate in told.decided if not is_whole(one) and one.tokens_full)
    return [_match_choice(one, candidate, labels[one.section]) for one, candidate in _first(out)]


def _first(out: Iterable[tuple[Decision, Candidate]]) -> list[tuple[Decision, Candidate]]:
    return [both for both, _place in zip(out, range(MAX_CHOICES), strict=False)]


def _headline(decision: Decision) -> str:
    if is_whole(decision):
        return _("It is in, whole.")
    return _("It is in, but not all of it.") if decision.included else _("It was considered, and left out.")


def _not_considered(found: WhyNotAnswer) -> WhyNotPage:
    first, *others = found.unconsidered
    if first.thing is None:
        return WhyNotPage(first.sentence, "plain")
    listed = tuple((one.thing.name, one.sentence) for one in found.unconsidered if one.thing)
    if not others:
        return WhyNotPage(_("It was not considered at all."), "warn", title=first.thing.name, why=first.sentence)
    count = len(listed)
    headline = ngettext("None of this was considered.", "None of these %(count)s was considered.", count)
    return WhyNotPage(headline % {"count": f"{count:,}"}, "warn", elsewhere=listed)


def _facts(told: StoredAssembly, rank_context: RankContext) -> Iterable[tuple[str, str]]:
    decision, result = rank_context.decision, rank_context.result
    yield _("Section"), rank_context.section.label
    if decision.rank and rank_context.around:
        yield _("Rank"), _("%(rank)s of %(all)s") % {"rank": f"{decision.rank:,}", "all": f"{result.considered:,}"}
    if decision.score is not None:
        yield _("Score"), fine_score(round(decision.score, 4))
    yield _("Length"), _tokens(decision.tokens_full)
    room = _("what remains of the budget") if rank_context.cap is None else _tokens(rank_context.cap)
    if rank_context.section.required:
        room = _("as much as it needs: it is never cut")
    yield _("Room of the section"), room
    yield (
        _("Used before it"),
        _("%(used)s of %(budget)s tokens")
        % {"used": f"{rank_context.used_before:,}", "budget": f"{told.inputs.request.budget:,}"},
    )


def _tokens(count: int) -> str:
    return ngettext("%(count)s token", "%(count)s tokens", count) % {"count": f"{count:,}"}


def _score_part_row(name: str) -> str:
    if name.startswith(SOURCE_SHARE_PREFIX):
        words = name.removeprefix(SOURCE_SHARE_PREFIX).replace("_", " ")
        return _("share of %(name)s in the score of its source") % {"name": words}
    words = name.removeprefix(SHARE_PREFIX).replace("_", " ")
    return _("share of %(name)s") % {"name": words} if name.startswith(SHARE_PREFIX) else words


def _match_choice(decision: Decision, candidate: Candidate, label: str) -> MatchChoice:
    outcome, tone = _outcome(decision)
    return MatchChoice(decision.ref, decision.section, title_of(candidate), label, outcome, tone)


def _outcome(decision: Decision) -> tuple[str, str]:
    if is_whole(decision):
        return _("in"), "good"
    return (_("in, in part"), "warn") if decision.included else (_("left out"), "plain")


def _competitor_row(neighbour: Competitor, labels: Mapping[str, str]) -> CompetitorRow:
    decision = neighbour.decision
    return CompetitorRow(
        choice=_match_choice(decision, neighbour.candidate, labels[decision.section]),
        rank=f"{decision.rank:,}",
        score="" if decision.score is None else f"{decision.score:.4f}",
        tokens=decision.tokens_full,
        is_subject=neighbour.is_subject,
    )


def _remedy_row(remedy: Remedy, found: WhyNotAnswer, titles: Titles) -> RemedyRow:
    decision = found.matches[0].decision
    place = (decision.section, decision.ref)
    return RemedyRow(remedy_sentence(remedy, found.told.inputs, titles), cost_sentence(remedy, place, titles))
