"""The promises would show little, were some code or some step of the ladder never drawn."""

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings

from assembly.engine.codes import WarningCode
from assembly.engine.profile import STEPS
from tests.engine.situations import Situation, situations

CODES = {
    "required", "pinned", "rule_included", "fits", "truncated", "compacted", "summarised",
    "over_section_budget", "over_total_budget", "outranked", "below_relevance", "duplicate", "rule_excluded",
    "filtered", "superseded", "expired", "empty",
}  # fmt: skip
"""All that the engine gives."""

WARNINGS = {WarningCode.BUDGET_EXCEEDED, WarningCode.QUALITY_BELOW_MINIMUM, WarningCode.RULE_NOT_KEPT}


@pytest.mark.deep
def test_every_code_and_every_step_is_drawn_within_800_examples() -> None:
    seen: set[str] = set()

    @settings(max_examples=800, derandomize=True, database=None, phases=[Phase.generate])
    @given(situation=situations())
    def look(situation: Situation) -> None:
        seen.update(found_in(situation))

    look()
    expected = {*CODES, *WARNINGS, *STEPS, "truncate", "fill", "several runs"}
    assert not expected - seen


def found_in(situation: Situation) -> set[str]:
    """Codes, warnings and steps of the context that comes of the situation."""
    settled = situation.settled()
    assembled = settled.assembled
    steps = {step["step"] for item in assembled.decisions for step in item.detail.get("steps", ())}
    without_filling = replace(settled.situation, profile=replace(situation.profile, fill=False)).assembled()
    filled = {"fill"} if without_filling.content != assembled.content else set()
    several = {"several runs"} if settled.runs > 1 else set()
    return {item.code.value for item in assembled.decisions} | set(assembled.warnings) | steps | filled | several
