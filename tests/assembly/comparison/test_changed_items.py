"""Every page shows a changed item by the same row, in words that fit what it compares."""

from typing import get_args

import pytest

from assembly.comparison.changed_items import TAGS, Wording, changed_items, effect_tag, titles_by_ref
from assembly.engine.codes import Code
from assembly.engine.diff import CHANGE_EFFECTS, ContextDiff, DecisionChange, SectionChange
from assembly.engine.types import Candidate, Decision, SectionResult

IN = Decision("memory:a@2", "knows", Code.FITS, tokens=7, tokens_full=9)
OUT = Decision("memory:a@1", "knows", Code.OUTRANKED, tokens_full=9)
SECTION = SectionResult("knows", "Knowledge", "LIBRARY", None, 7, 0, 20, "whole", 1, 1)


@pytest.mark.parametrize("effect", CHANGE_EFFECTS)
def test_each_effect_has_words_for_every_page(effect: str) -> None:
    assert {*TAGS[effect]} == {*get_args(Wording)}  # type: ignore[index]


@pytest.mark.parametrize(("before", "after", "tokens"), [(OUT, IN, 7), (IN, OUT, 9)])
def test_a_row_has_the_later_state_of_the_item(before: Decision, after: Decision, tokens: int) -> None:
    change = DecisionChange("in" if after is IN else "out", before, after)
    comparison = ContextDiff((SectionChange(SECTION, SECTION, (change,)),), (change,), 0, 7)
    titles = titles_by_ref(Candidate(one.ref, "knows", f"Says {one.ref}.") for one in (IN, OUT))
    [row] = changed_items(
        comparison, comparison.changes, titles,
        tag=lambda one: effect_tag(one, "past"), why=lambda one, label, _titles: f"{label}: {one.effect}",
    )  # fmt: skip
    assert (row.title, row.section, row.layer, row.tokens) == (
        f"“Says {after.ref}.”", "Knowledge", "library", tokens,
    )  # fmt: skip
    assert (row.tag.label, row.tag.tone) == (("new", "good") if after is IN else ("gone", "bad"))
    assert row.why == f"Knowledge: {change.effect}"
