"""What is over its room is handled step by step: only where it is over, the weakest first, and on record."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.types import Decision
from tests.engine.reference_format import (
    FOR_WANT_OF_ROOM,
    HITS,
    SHORT,
    cap_of,
    heading,
    says_the_same,
    stood,
    whole_item,
)
from tests.engine.situations import Settled

ON_THE_LADDER = [[], ["drop"], ["compact"], ["summarise"], ["summarise", "drop"], ["compact", "drop"], ["truncate"]]
"""For its section and then for the whole, an item is made shorter once at most, and left out at most once. What is cut
in the end is cut from the whole text."""

SHAPES = {"compact": {"turns", "lines"}, "summarise": HITS, "drop": HITS}
"""Of the sections whose items a step changes."""


def what_is_over_its_room_goes_down_the_ladder(settled: Settled) -> None:
    for section in settled.situation.profile.sections:
        for decision in settled.of(section):
            check_steps(settled, section, decision)
        check_that_half_stays(settled, section)
        taken = [decision for decision in settled.of(section) if decision.detail.get("steps")]
        if any(decision.code is not Code.TRUNCATED for decision in taken):
            check_that_it_was_over(settled, section)


def check_steps(settled: Settled, section: Section, decision: Decision) -> None:
    """Each makes the item smaller, from its tokens when whole to what is in, or to nothing."""
    profile = settled.situation.profile
    steps: Sequence[dict[str, Any]] = decision.detail.get("steps", ())
    names = [step["step"] for step in steps]
    assert names in ON_THE_LADDER
    assert set(names) - {"truncate"} <= set(profile.over_budget)
    assert (names == ["truncate"]) == (decision.code is Code.TRUNCATED)
    assert (decision.code.value in SHORT) <= bool(steps)
    if not steps:
        return
    assert steps[0]["before"] == decision.tokens_full
    if decision.code is Code.TRUNCATED:
        content = settled.assembled.content
        assert steps[-1]["after"] == settled.situation.count(content[decision.start : decision.end])
        return
    assert not section.required
    assert all(section.shape in SHAPES[name] for name in names)
    assert section.overflow != "drop" or names == ["drop"]
    assert all(one["after"] == other["before"] for one, other in pairwise(steps))
    assert all(step["before"] > step["after"] for step in steps)
    assert (names[-1] == "drop") == (steps[-1]["after"] == 0)
    # Made shorter for its section, it may be what another section says, too.
    assert decision.code.value in FOR_WANT_OF_ROOM | (SHORT | {"duplicate"} if names[-1] != "drop" else set())


def check_that_half_stays(settled: Settled, section: Section) -> None:
    """The ladder drops the weaker half at most, once for the section and once for the whole; twins go together."""
    standing = [item for item in settled.of(section) if stood(settled.situation.profile, item)]
    dropped = [item for item in standing if item.detail.get("steps", [{}])[-1:][0].get("step") == "drop"]
    for_section = [item for item in dropped if item.code is Code.OVER_SECTION_BUDGET]
    for_whole = [item for item in dropped if item.code is Code.OVER_TOTAL_BUDGET and not has_twin(settled, item)]
    assert len(for_section) <= len(standing) // 2
    assert len(for_whole) <= (len(standing) - len(for_section)) // 2
    if section.shape in {"lines", "entries"}:
        assert [item.rank for item in dropped] == sorted(item.rank or 0 for item in dropped)
        kept = [item for item in standing if item.included and item not in dropped]
        filled = settled.situation.profile.fill  # what was dropped may have come back
        assert filled or not dropped or all((item.rank or 0) < (dropped[0].rank or 0) for item in kept)


def has_twin(settled: Settled, decision: Decision) -> bool:
    """Whether other blocks say the same."""
    one = settled.candidate(decision)
    blocks = {section.key for section in settled.situation.profile.sections if section.shape == "blocks"}
    others = [other for other in settled.situation.candidates if other is not one and other.section in blocks]
    return any(says_the_same(one, other) for other in others)


def check_that_it_was_over(settled: Settled, section: Section) -> None:
    """All that could have stood there was more than its room, or than that of the whole with all that is beside it."""
    profile, budget = settled.situation.profile, settled.situation.request.budget
    cap = cap_of(section, budget)
    rounding = len(settled.assembled.decisions) + len(settled.assembled.sections)
    over_section = cap is not None and whole_tokens(settled, [section]) + rounding > cap
    assert over_section or whole_tokens(settled, profile.sections) + rounding > budget


def whole_tokens(settled: Settled, sections: Sequence[Section]) -> int:
    """Tokens of the sections, had all that stood come in whole."""
    count, total = settled.situation.count, 0
    for section in sections:
        standing = [item for item in settled.of(section) if stood(settled.situation.profile, item)]
        items = [count(whole_item(section, settled.candidate(item)) + "\n\n") for item in standing]
        total += sum(items) + (count("\n\n" + heading(section)) if items else 0)
    return total
