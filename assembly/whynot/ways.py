"""Which ways might bring a candidate in, by the reason that keeps it out; those that fit it best come first. Pure."""

from collections.abc import Callable, Iterator, Mapping

from assembly.engine.codes import Code
from assembly.whynot import ranks
from assembly.whynot.lifting import lifted
from assembly.whynot.room import more_room, shorter
from assembly.whynot.standpoint import Standpoint, Way

Ways = Callable[[Standpoint], Iterator[Way]]


def ways_of(stand: Standpoint) -> Iterator[Way]:
    """The ways for what is left out, or not in with all its words."""
    yield from lifted(stand)
    for ways in _BY_CODE.get(stand.decision.code, ()):
        yield from ways(stand)
    if stand.decision.code is not Code.EMPTY:
        yield from ranks.pin(stand)
        yield from ranks.always_include(stand)


def _room(stand: Standpoint) -> Iterator[Way]:
    yield from more_room(stand, whole=False)


def _room_for_all_of_it(stand: Standpoint) -> Iterator[Way]:
    yield from more_room(stand, whole=True)


_SHORT = (_room_for_all_of_it, shorter)
_BY_CODE: Mapping[Code, tuple[Ways, ...]] = {
    Code.OUTRANKED: (ranks.more_places, ranks.higher_score, ranks.boost),
    Code.BELOW_RELEVANCE: (ranks.lower_threshold, ranks.longer_reach, ranks.higher_score),
    Code.OVER_SECTION_BUDGET: (_room, shorter, ranks.higher_source_score, ranks.boost),
    Code.OVER_TOTAL_BUDGET: (_room, shorter, ranks.higher_score, ranks.boost),
    Code.TRUNCATED: _SHORT,
    Code.COMPACTED: _SHORT,
    Code.SUMMARISED: _SHORT,
}
