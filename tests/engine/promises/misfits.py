"""Promise 5: a misfit is skipped, not a stop, and what was left out for want of room had none."""

from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import Section
from assembly.engine.types import Decision
from tests.engine.reference_format import (
    FOR_WANT_OF_ROOM,
    WHOLE,
    cut_short,
    heading,
    lead_and_body,
    opened,
    tighter,
    whole_item,
)
from tests.engine.situations import Settled

Steps = list[str]


def what_is_left_out_for_want_of_room_has_none(settled: Settled) -> None:
    if WarningCode.BUDGET_EXCEEDED in settled.assembled.warnings:
        return
    end, reserved = 0, False
    for section, result in zip(settled.situation.profile.sections, settled.assembled.sections, strict=True):
        before, end = settled.assembled.content[:end], result.end
        reserved = reserved or (section.shape == "blocks" and settled.situation.profile.sections[-1].shape == "turns")
        if section.shape in {"blocks", "turns"}:
            check_that_none_is_left(settled, section, end)
        elif not reserved:  # else room is kept for the turns, which nothing outside tells
            check_misfits(settled, section, before)


def steps_of(decision: Decision) -> Steps:
    return [step["step"] for step in decision.detail.get("steps", ())]


def is_misfit(decision: Decision) -> bool:
    """Left out because there was no room, rather than to make room."""
    return decision.code.value in FOR_WANT_OF_ROOM and "drop" not in steps_of(decision)


def check_misfits(settled: Settled, section: Section, before: str) -> None:
    """At its turn, after what had got in until then, each misfit was too long by what its decision says."""
    situation, content = settled.situation, settled.assembled.content
    limit, code = tighter(section, situation.count(before), situation.request.budget)
    decided = settled.of(section)
    got_in = [decision for decision in decided if decision.included]
    room = limit - situation.count(before)
    so_far, has_cut = before, False
    for decision in decided:
        lead, body = lead_and_body(section, settled.candidate(decision))
        opening = opened(section, before, so_far)
        if decision.code.value in FOR_WANT_OF_ROOM:
            assert decision.code.value == code
        if is_misfit(decision):
            excess = situation.count(so_far + opening + lead + body) - limit
            assert excess > 0
            # A summary that has no room either is smaller than what it stands for.
            needed = decision.detail["needed"]
            assert 0 < needed <= excess if steps_of(decision) else needed == excess
        is_tried_in_turn = section.shape == "entries" and not has_cut
        is_due = is_tried_in_turn or (decision.rank == 1 and not got_in)
        if is_misfit(decision) and is_due and section.overflow == "cut" and len(body) > 1:
            least = len(body) - len(body.lstrip()) + 1
            cut = cut_short(section, settled.candidate(decision), least)
            assert cut is None or situation.count(so_far + opening + cut) > limit or least == len(body)
        if decision.code is Code.TRUNCATED:
            check_cut(settled, section, decision, so_far + opening, limit)
            most_fits = situation.profile.cut_at != "anywhere" and 2 * room >= decision.tokens_full
            has_cut = is_tried_in_turn or most_fits
            assert has_cut or got_in == [decision]
            assert section.shape == "entries" or decision.rank == 1
        if decision.included and (decision.code is not Code.TRUNCATED or has_cut):
            so_far = content[: decision.end]  # otherwise the cut came last: all others have had their chance before it


def check_cut(settled: Settled, section: Section, decision: Decision, before: str, limit: int) -> None:
    """It was too long, and as much of it is in as has room, or at least half of that where it ends well."""
    count, anywhere = settled.situation.count, settled.situation.profile.cut_at == "anywhere"
    candidate, kept = settled.candidate(decision), int(decision.detail["kept_chars"])
    lead, body = lead_and_body(section, candidate)
    assert count(before + lead + body) > limit
    if anywhere:
        longer = [cut for cut in range(kept + 1, min(kept + 9, len(body))) if not body[cut - 1].isspace()]
    else:
        longer = [cut for cut in (2 * kept + 20,) if cut < len(body) and not body[cut - 1].isspace()]
    for cut in (cut_short(section, candidate, length) for length in longer):
        assert cut is None or count(before + cut) > limit


def check_that_none_is_left(settled: Settled, section: Section, end: int) -> None:
    """No misfit among blocks and turns has room in the end, either."""
    situation, assembled = settled.situation, settled.assembled
    got_in = settled.inside(section)
    # Room in a contest is counted item by item, which `chars4` rounds up each time. That of turns is an estimate.
    rounding = len(assembled.decisions) + len(assembled.sections) if situation.request.tokenizer == "chars4" else 2
    for decision in settled.of(section):
        if is_misfit(decision):
            assert int(decision.detail["needed"]) > 0
        if is_misfit(decision) and decision.code is Code.OVER_TOTAL_BUDGET:
            item = whole_item(section, settled.candidate(decision))
            gap = "\n\n" if got_in else "\n\n" + heading(section)
            longer = assembled.content[:end] + gap + item + assembled.content[end:]
            assert situation.count(longer) + rounding > situation.request.budget
        if decision.code is Code.OVER_SECTION_BUDGET:
            assert section.cap is not None or section.share is not None
        if decision.code is Code.TRUNCATED:
            assert section.overflow == "cut"
            assert got_in == [decision]
            assert decision.rank == 1
        elif decision.included and not steps_of(decision):
            assert decision.code.value in WHOLE
