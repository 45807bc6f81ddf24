"""Why is something not in a context? The whole answer, from its record."""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.comparing import Place
from assembly.models import Assembly
from assembly.recorded import Recorded, recorded
from assembly.whynot.finding import Match, by_ref, by_words
from assembly.whynot.remedies import Remedies, remedies_for
from assembly.whynot.standing import Standing, standing
from assembly.whynot.things import thing_named, things_saying
from assembly.whynot.trials import Trials, is_whole
from assembly.whynot.unconsidered import Unconsidered, unconsidered, unknown

NOTHING = Remedies((), ())


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What was found about the one thing that is meant most likely; what else could be meant is in `matches`, it first.

    With a standing, it was considered: the remedies tell what would bring it in, or bring all of it in where it is in
    part. Without one, it was not; `unconsidered` tells why of each thing that could be meant.
    """

    told: Recorded
    matches: tuple[Match, ...]
    standing: Standing | None
    remedies: Remedies
    unconsidered: tuple[Unconsidered, ...]


def why_not(assembly: Assembly, *, ref: str = "", words: str = "", section: str = "") -> WhyNot:
    """The answer for what the ref names, which may leave out its version, or for what the words find.

    One thing may stand in several sections: `section` says in which it is meant. Two queries, and some more where
    nothing was considered that could be meant. Whether somebody may ask is for the caller to decide.
    """
    told = recorded(assembly)
    matches = _matches(told, ref, words)
    chosen = next((one for one in matches if section in {"", one.decision.section}), None)
    if chosen is None:
        return WhyNot(told, (), None, NOTHING, _not_considered(assembly, ref, words))
    stands = standing(told, (chosen.decision.section, chosen.decision.ref))
    others = [match for match in matches if match is not chosen]
    return WhyNot(told, (chosen, *others), stands, _remedies(told, stands), ())


def _matches(told: Recorded, ref: str, words: str) -> Sequence[Match]:
    """Words that are a ref name it."""
    if ref:
        return by_ref(told, ref)
    return by_ref(told, words.strip()) or by_words(told, words)


def _remedies(told: Recorded, stands: Standing) -> Remedies:
    if is_whole(stands.decision):
        return NOTHING
    place: Place = (stands.decision.section, stands.decision.ref)
    return remedies_for(Trials(told.inputs), told, place)


def _not_considered(assembly: Assembly, ref: str, words: str) -> tuple[Unconsidered, ...]:
    found = thing_named(assembly, ref or words.strip())
    things = [found] if found else [] if ref else [*things_saying(assembly, words.strip())]
    return tuple(unconsidered(assembly, thing) for thing in things) or (unknown(),)
