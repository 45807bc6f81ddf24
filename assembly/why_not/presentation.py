"""The answer to “why not …?” in the words and shapes of its page. Pure: everything comes in as values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.linear_ranker import SHARE, SOURCE_SHARE
from assembly.engine.types import Candidate, Decision
from assembly.records.item_titles import reason, title_of
from assembly.records.reader import Recorded
from assembly.why_not.answer import Match, Neighbour, Standing, WhyNot
from assembly.why_not.fix_search import Remedy, is_whole
from assembly.why_not.sentences import Titles, cost, fine, untried, would_be_in

MOST_CHOICES = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that could be meant."""

    ref: str
    section: str
    title: str
    label: str
    outcome: str
    tone: str


@dataclass(frozen=True, slots=True)
class Row:
    """One of those around it. `score` is empty where nothing scored them."""

    choice: Choice
    rank: str
    score: str
    tokens: int
    is_itself: bool


@dataclass(frozen=True, slots=True)
class Way:
    """What would bring it in, and what that does to the others."""

    sentence: str
    cost: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer; `title` is empty where the thing was not considered."""

    headline: str
    tone: str
    title: str = ""
    why: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    """Of its score."""
    rows: tuple[Row, ...] = ()
    above: int = 0
    below: int = 0
    ways: tuple[Way, ...] = ()
    untried: str = ""
    is_in: bool = False
    is_whole: bool = False
    elsewhere: tuple[tuple[str, str], ...] = ()
    """Of things that were not considered, the name and why."""


def answered(found: WhyNot) -> Answered:
    """The whole answer."""
    stands = found.standing
    if stands is None:
        return _not_considered(found)
    titles = {candidate.ref: title_of(candidate) for candidate in found.told.inputs.candidates}
    labels = {section.key: section.label for section in found.told.sections}
    decision = stands.decision
    return Answered(
        headline=_headline(decision),
        tone="good" if is_whole(decision) else "warn",
        title=title_of(stands.candidate),
        why=reason(decision, stands.section.label, titles),
        facts=tuple(_facts(found.told, stands)),
        parts=tuple((_part(name), fine(round(value, 4))) for name, value in decision.signals),
        rows=tuple(_row(neighbour, labels) for neighbour in stands.around),
        above=stands.above,
        below=stands.below,
        ways=tuple(_way(remedy, found, titles) for remedy in found.remedies.found),
        untried=untried(found.remedies.untried),
        is_in=decision.included,
        is_whole=is_whole(decision),
    )


def choices(matches: Sequence[Match]) -> list[Choice]:
    """What else could be meant."""
    return [_choice(match.decision, match.candidate, match.label) for match in matches]


def missing(told: Recorded) -> list[Choice]:
    """What is left out, or not in with all its words, to pick from."""
    labels = {section.key: section.label for section in told.sections}
    out = ((one, candidate) for one, candidate in told.decided if not is_whole(one) and one.tokens_full)
    return [_choice(one, candidate, labels[one.section]) for one, candidate in _first(out)]


def _first(out: Iterable[tuple[Decision, Candidate]]) -> list[tuple[Decision, Candidate]]:
    return [both for both, _place in zip(out, range(MOST_CHOICES), strict=False)]


def _headline(decision: Decision) -> str:
    if is_whole(decision):
        return _("It is in, whole.")
    return _("It is in, but not all of it.") if decision.included else _("It was considered, and left out.")


def _not_considered(found: WhyNot) -> Answered:
    first, *others = found.unconsidered
    if first.thing is None:
        return Answered(first.sentence, "plain")
    listed = tuple((one.thing.name, one.sentence) for one in found.unconsidered if one.thing)
    if not others:
        return Answered(_("It was not considered at all."), "warn", title=first.thing.name, why=first.sentence)
    count = len(listed)
    headline = ngettext("None of this was considered.", "None of these %(count)s was considered.", count)
    return Answered(headline % {"count": f"{count:,}"}, "warn", elsewhere=listed)


def _facts(told: Recorded, stands: Standing) -> Iterable[tuple[str, str]]:
    decision, result = stands.decision, stands.result
    yield _("Section"), stands.section.label
    if decision.rank and stands.around:
        yield _("Rank"), _("%(rank)s of %(all)s") % {"rank": f"{decision.rank:,}", "all": f"{result.considered:,}"}
    if decision.score is not None:
        yield _("Score"), fine(round(decision.score, 4))
    yield _("Length"), _tokens(decision.tokens_full)
    room = _("what remains of the budget") if stands.cap is None else _tokens(stands.cap)
    if stands.section.required:
        room = _("as much as it needs: it is never cut")
    yield _("Room of the section"), room
    yield (
        _("Used before it"),
        _("%(used)s of %(budget)s tokens")
        % {"used": f"{stands.used_before:,}", "budget": f"{told.inputs.request.budget:,}"},
    )


def _tokens(count: int) -> str:
    return ngettext("%(count)s token", "%(count)s tokens", count) % {"count": f"{count:,}"}


def _part(name: str) -> str:
    if name.startswith(SOURCE_SHARE):
        words = name.removeprefix(SOURCE_SHARE).replace("_", " ")
        return _("share of %(name)s in the score of its source") % {"name": words}
    words = name.removeprefix(SHARE).replace("_", " ")
    return _("share of %(name)s") % {"name": words} if name.startswith(SHARE) else words


def _choice(decision: Decision, candidate: Candidate, label: str) -> Choice:
    outcome, tone = _outcome(decision)
    return Choice(decision.ref, decision.section, title_of(candidate), label, outcome, tone)


def _outcome(decision: Decision) -> tuple[str, str]:
    if is_whole(decision):
        return _("in"), "good"
    return (_("in, in part"), "warn") if decision.included else (_("left out"), "plain")


def _row(neighbour: Neighbour, labels: Mapping[str, str]) -> Row:
    decision = neighbour.decision
    return Row(
        choice=_choice(decision, neighbour.candidate, labels[decision.section]),
        rank=f"{decision.rank:,}",
        score="" if decision.score is None else f"{decision.score:.4f}",
        tokens=decision.tokens_full,
        is_itself=neighbour.is_itself,
    )


def _way(remedy: Remedy, found: WhyNot, titles: Titles) -> Way:
    decision = found.matches[0].decision
    place = (decision.section, decision.ref)
    return Way(would_be_in(remedy, found.told.inputs, titles), cost(remedy, place, titles))
