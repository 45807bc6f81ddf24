"""The answer to "why not …?" is formatted for its page here, without side effects."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.linear_ranker import SHARE_PREFIX, SOURCE_SHARE_PREFIX
from assembly.engine.priority import PRIORITY_PREFIX
from assembly.engine.types import Candidate, Decision
from assembly.records.item_titles import reason_sentence, title_of
from assembly.records.reader import StoredAssembly
from assembly.records.section_names import section_name
from assembly.why_not.answer import Competitor, Match, RankContext, WhyNotAnswer
from assembly.why_not.drafts import RemedyDraft, RemedyDrafts
from assembly.why_not.fix_search import Remedy, is_whole
from assembly.why_not.sentences import Titles, cost_sentence, fine_score, remedy_sentence, untried_sentence

MAX_CHOICES = 40


@dataclass(frozen=True, slots=True)
class MatchChoice:
    """An item that the search text may mean."""

    ref: str
    section: str
    title: str
    label: str
    outcome: str
    tone: str


@dataclass(frozen=True, slots=True)
class CompetitorRow:
    """An item with a neighbouring rank. `score` is empty if there is none."""

    choice: MatchChoice
    rank: str
    score: str
    tokens: int
    is_subject: bool


@dataclass(frozen=True, slots=True)
class RemedyRow:
    """A remedy in words, with its effect on other items, and the drafts that apply it."""

    sentence: str
    cost: str
    drafts: tuple[RemedyDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class WhyNotPage:
    """The answer; `title` is empty if the item was not considered."""

    headline: str
    tone: str
    title: str = ""
    why: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    """The parts of the item's score."""
    rows: tuple[CompetitorRow, ...] = ()
    above: int = 0
    below: int = 0
    ways: tuple[RemedyRow, ...] = ()
    untried: str = ""
    is_in: bool = False
    is_whole: bool = False
    elsewhere: tuple[tuple[str, str], ...] = ()
    """The names of items that were not considered, with the reasons."""


def why_not_page(found: WhyNotAnswer, drafts: RemedyDrafts) -> WhyNotPage:
    """Return the answer for its page, with the drafts that the user may open."""
    rank_context = found.standing
    if rank_context is None:
        return _not_considered(found)
    titles = {candidate.ref: title_of(candidate) for candidate in found.told.inputs.candidates}
    labels = {section.key: section_name(section) for section in found.told.sections}
    decision = rank_context.decision
    return WhyNotPage(
        headline=_headline(decision),
        tone="good" if is_whole(decision) else "warn",
        title=title_of(rank_context.candidate),
        why=reason_sentence(decision, section_name(rank_context.section), titles),
        facts=tuple(_facts(found.told, rank_context)),
        parts=tuple((_score_part_row(name), fine_score(round(value, 4))) for name, value in decision.signals),
        rows=tuple(_competitor_row(neighbour, labels) for neighbour in rank_context.around),
        above=rank_context.above,
        below=rank_context.below,
        ways=tuple(_remedy_row(remedy, found, titles, drafts) for remedy in found.remedies.found),
        untried=untried_sentence(found.remedies.untried),
        is_in=decision.included,
        is_whole=is_whole(decision),
    )


def match_choices(matches: Sequence[Match]) -> list[MatchChoice]:
    """Return the other items that the search text may mean."""
    return [_match_choice(match.decision, match.candidate, match.label) for match in matches]


def missing_choices(told: StoredAssembly) -> list[MatchChoice]:
    """Return the excluded and truncated items as choices."""
    labels = {section.key: section_name(section) for section in told.sections}
    out = ((one, candidate) for one, candidate in told.decided if not is_whole(one) and one.tokens_full)
    return [_match_choice(one, candidate, labels[one.section]) for one, candidate in _first(out)]


def _first(out: Iterable[tuple[Decision, Candidate]]) -> list[tuple[Decision, Candidate]]:
    return [both for both, _place in zip(out, range(MAX_CHOICES), strict=False)]


def _headline(decision: Decision) -> str:
    if is_whole(decision):
        return _("Included in full.")
    return _("Included, but not in full.") if decision.included else _("Considered, but excluded.")


def _not_considered(found: WhyNotAnswer) -> WhyNotPage:
    first, *others = found.unconsidered
    if first.thing is None:
        return WhyNotPage(first.sentence, "plain")
    listed = tuple((one.thing.name, one.sentence) for one in found.unconsidered if one.thing)
    if not others:
        return WhyNotPage(_("Not considered."), "warn", title=first.thing.name, why=first.sentence)
    count = len(listed)
    headline = ngettext("Not considered.", "None of these %(count)s items was considered.", count)
    return WhyNotPage(headline % {"count": f"{count:,}"}, "warn", elsewhere=listed)


def _facts(told: StoredAssembly, rank_context: RankContext) -> Iterable[tuple[str, str]]:
    decision, result = rank_context.decision, rank_context.result
    yield _("Section"), section_name(rank_context.section)
    if decision.rank and rank_context.around:
        yield _("Rank"), _("%(rank)s of %(all)s") % {"rank": f"{decision.rank:,}", "all": f"{result.considered:,}"}
    if decision.score is not None:
        yield _("Score"), fine_score(round(decision.score, 4))
    yield _("Length"), _tokens(decision.tokens if is_whole(decision) else decision.tokens_full)
    room = _("the remaining budget") if rank_context.cap is None else _tokens(rank_context.cap)
    if rank_context.section.required:
        room = _("no limit: required")
    yield _("Section limit"), room
    yield (
        _("Used by items before it"),
        _("%(used)s of %(budget)s tokens")
        % {"used": f"{rank_context.used_before:,}", "budget": f"{told.inputs.request.budget:,}"},
    )


def _tokens(count: int) -> str:
    return ngettext("%(count)s token", "%(count)s tokens", count) % {"count": f"{count:,}"}


def _score_part_row(name: str) -> str:
    if name.startswith(SOURCE_SHARE_PREFIX):
        words = name.removeprefix(SOURCE_SHARE_PREFIX).replace("_", " ")
        return _("share of %(name)s in the source score") % {"name": words}
    if name.startswith(PRIORITY_PREFIX):
        return _("%(name)s in the priority") % {"name": name.removeprefix(PRIORITY_PREFIX)}
    words = name.removeprefix(SHARE_PREFIX).replace("_", " ")
    return _("share of %(name)s") % {"name": words} if name.startswith(SHARE_PREFIX) else words


def _match_choice(decision: Decision, candidate: Candidate, label: str) -> MatchChoice:
    outcome, tone = _outcome(decision)
    return MatchChoice(decision.ref, decision.section, title_of(candidate), label, outcome, tone)


def _outcome(decision: Decision) -> tuple[str, str]:
    if is_whole(decision):
        return _("in"), "good"
    return (_("included in part"), "warn") if decision.included else (_("excluded"), "plain")


def _competitor_row(neighbour: Competitor, labels: Mapping[str, str]) -> CompetitorRow:
    decision = neighbour.decision
    return CompetitorRow(
        choice=_match_choice(decision, neighbour.candidate, labels[decision.section]),
        rank=f"{decision.rank:,}",
        score="" if decision.score is None else f"{decision.score:.4f}",
        tokens=decision.tokens_full,
        is_subject=neighbour.is_subject,
    )


def _remedy_row(remedy: Remedy, found: WhyNotAnswer, titles: Titles, drafts: RemedyDrafts) -> RemedyRow:
    decision = found.matches[0].decision
    place = (decision.section, decision.ref)
    return RemedyRow(
        sentence=remedy_sentence(remedy, found.told.inputs, titles),
        cost=cost_sentence(remedy, place, titles),
        drafts=tuple(drafts.of(remedy.changes)),
    )
