"""Promise 1: no context counts more than its budget, no section more than its cap.

Here as for the other promises, whole strings are counted with the real tokenizer; the checks share nothing with the
engine but its types.
"""

import hashlib

from assembly.engine.codes import Code, WarningCode
from assembly.engine.types import Decision
from tests.engine.reference_format import FOR_WANT_OF_ROOM, cap_of, heading, separator, whole_item
from tests.engine.situations import Settled

NEVER_FOR_WANT_OF_ROOM = {
    Code.REQUIRED, Code.EMPTY, Code.SUPERSEDED, Code.EXPIRED, Code.OUTRANKED, Code.BELOW_RELEVANCE,
}  # fmt: skip


def no_context_is_over_its_budget(settled: Settled) -> None:
    check_the_whole(settled)
    check_the_sections(settled)
    check_the_warnings(settled)


def check_the_whole(settled: Settled) -> None:
    situation, assembled = settled.situation, settled.assembled
    assert assembled.tokens == situation.count(assembled.content)
    assert assembled.sha256 == hashlib.sha256(assembled.content.encode()).hexdigest()
    required = required_text(settled)
    if situation.count(required) > situation.request.budget:
        assert WarningCode.BUDGET_EXCEEDED in assembled.warnings
        assert assembled.content == required
    else:
        assert WarningCode.BUDGET_EXCEEDED not in assembled.warnings
        assert assembled.tokens <= situation.request.budget
        assert assembled.content.startswith(required)


def check_the_sections(settled: Settled) -> None:
    """Each is within its cap, and together they are the whole. What a caller sent may have what others left."""
    situation, assembled = settled.situation, settled.assembled
    end = 0
    for section, result in zip(situation.profile.sections, assembled.sections, strict=True):
        cap = cap_of(section, situation.request.budget)
        if section.source in {"turns", "additional_context"} and cap is not None and result.cap is not None:
            assert cap <= result.cap <= max(cap, situation.request.budget)
        else:
            assert result.cap == cap
        counted = situation.count(assembled.content[: result.end]) - situation.count(assembled.content[:end])
        assert result.tokens == counted
        assert result.cap is None or result.tokens <= result.cap
        end = result.end
    assert sum(result.tokens for result in assembled.sections) == assembled.tokens


def check_the_warnings(settled: Settled) -> None:
    request, assembled = settled.situation.request, settled.assembled
    broken = any(
        item.section == "always_included" and item.code.value in FOR_WANT_OF_ROOM for item in assembled.decisions
    )
    assert (WarningCode.RULE_NOT_KEPT in assembled.warnings) == broken
    if not request.topic.strip():
        assert assembled.quality is None
    else:
        found = [relevance for item in assembled.decisions if (relevance := relevance_of(item)) is not None]
        assert abs((assembled.quality or 0) - (sum(found) / len(found) if found else 0)) < 1e-9
    weak = assembled.quality is not None and assembled.quality < settled.situation.profile.quality_min
    assert (WarningCode.QUALITY_BELOW_MINIMUM in assembled.warnings) == weak
    assert len(set(assembled.warnings)) == len(assembled.warnings)


def relevance_of(decision: Decision) -> float | None:
    """Of what is in and was searched for, from 0 to 1."""
    signals = dict(decision.signals)
    searched_for = decision.included and decision.code is not Code.PINNED
    found = signals.get("similarity", signals.get("relevance")) if searched_for else None
    return None if found is None else min(1, max(0, found))


def required_text(settled: Settled) -> str:
    """The required sections alone; nothing of them is left out, or cut, for want of room."""
    parts = []
    for section in settled.situation.profile.sections:
        if section.required:
            assert {decision.code for decision in settled.of(section)} <= NEVER_FOR_WANT_OF_ROOM
            items = [whole_item(section, settled.candidate(decision)) for decision in settled.inside(section)]
            parts += [heading(section) + separator(section).join(items)] if items else []
    return "\n\n".join(parts)
