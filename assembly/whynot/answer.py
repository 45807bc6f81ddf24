"""Why is something not in a context? The whole answer, from its record."""

from dataclasses import dataclass

from assembly.models import Assembly
from assembly.recorded import Recorded, recorded
from assembly.whynot.finding import Match, by_ref, by_words
from assembly.whynot.remedies import Remedies, remedies_for
from assembly.whynot.standing import Standing, standing
from assembly.whynot.things import Thing, thing_named, things_saying
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
    matches = by_ref(told, ref or words.strip()) or by_words(told, "" if ref else words)
    things = [] if matches else _things(assembly, ref, words.strip())
    # The words of a search are found in other forms, too: what they find may have been considered all the same.
    matches = matches or [match for thing in things for match in by_ref(told, thing.ref)]
    in_section = [match for match in matches if match.decision.section == section]
    chosen = next(iter([*in_section, *matches]), None)
    if chosen is None:
        missed = tuple(unconsidered(assembly, thing) for thing in things)
        return WhyNot(told, (), None, NOTHING, missed or (unknown(),))
    stands = standing(told, (chosen.decision.section, chosen.decision.ref))
    others = [match for match in matches if match is not chosen]
    return WhyNot(told, (chosen, *others), stands, _remedies(told, stands), ())


def _things(assembly: Assembly, ref: str, words: str) -> list[Thing]:
    """What is there today of that name; a ref names one at most."""
    if found := thing_named(assembly, ref or words):
        return [found]
    return [*things_saying(assembly, words)] if words and not ref else []


def _remedies(told: Recorded, stands: Standing) -> Remedies:
    if is_whole(stands.decision):
        return NOTHING
    return remedies_for(Trials(told.inputs), told, (stands.decision.section, stands.decision.ref))
