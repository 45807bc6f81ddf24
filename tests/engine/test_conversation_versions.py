"""The profile `conversation` gives the same in every engine version since 5, but for the newest day that is cut.

Before version 6, a day that did not fit was skipped, and only a section without any day was cut.
"""

import datetime as dt
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assembly.engine.types import ENGINE_VERSION, PASSAGES_SINCE, Candidate, EngineResult
from assembly.profiles.shipped import CONVERSATION
from tests.engine.factories import NOW, run
from tests.engine.strategies import FACTS, story
from tests.examples import examples

LOGS = "recent_activity"
LATER = range(PASSAGES_SINCE + 1, ENGINE_VERSION + 1)
Context = tuple[Candidate, ...]


def day(age: int, text: str) -> Candidate:
    return Candidate(f"daily_log:{age}@1", LOGS, text, date=NOW.date() - dt.timedelta(days=age))


@st.composite
def contexts(draw: st.DrawFn) -> Context:
    """Files, days, memories and knowledge of any length, some larger than their section."""
    chance = Random(draw(st.integers(0, 10**6)))

    def text(most: int) -> str:
        return story(chance.randrange(14), chance.randrange(1, most), chance.choice([" ", "\n"]))

    found = [
        Candidate(f"agent_file:{section.key}@1", section.key, text(300 if section.cap else 60))
        for section in CONVERSATION.sections
        if section.shape == "text" and (section.required or chance.random() < 0.7)
    ]
    found += [day(age, text(draw(st.sampled_from([4, 60, 500])))) for age in range(7) if chance.random() < 0.8]
    for key in ("team_knowledge", "personal_memories"):
        drawn = draw(st.lists(FACTS, max_size=7))
        found += [Candidate(f"memory:{key}{place}@1", key, text(30), **facts) for place, facts in enumerate(drawn)]
    return tuple(found)


def run_version(version: int, context: Context, budget: int, topic: str) -> EngineResult:
    return run(CONVERSATION, *context, budget=budget, topic=topic, engine_version=version)


def fates(result: EngineResult, keys: Sequence[str]) -> list[tuple[str, str, int, int | None, int | None]]:
    decisions = [one for one in result.decisions if one.section in keys]
    return [(one.ref, one.code.value, one.tokens, one.start, one.end) for one in decisions]


BUDGETS = st.sampled_from([0, 300, 2_000, 4_000, 6_000, 9_000, 16_000, 60_000])


@settings(max_examples=examples(200), deadline=None)
@given(contexts(), BUDGETS, st.sampled_from(["", "harbour keys"]), st.sampled_from(LATER))
@example((day(1, "short"), day(2, story(1, 900, " ")), day(3, "old")), 16_000, "", ENGINE_VERSION)
def test_later_versions_differ_only_in_the_newest_day_that_does_not_fit(
    context: Context, budget: int, topic: str, version: int
) -> None:
    old, new = (run_version(one, context, budget, topic) for one in (PASSAGES_SINCE, version))
    keys = [section.key for section in CONVERSATION.sections]
    before = keys[: keys.index(LOGS)]
    assert fates(old, before) == fates(new, before)
    if fates(old, [LOGS]) == fates(new, [LOGS]):
        assert (old.content, fates(old, keys)) == (new.content, fates(new, keys))
        return
    was = {one.ref: one for one in old.decisions if one.section == LOGS}
    days = [one for one in new.decisions if one.section == LOGS]  # the newest first
    place = next(place for place, one in enumerate(days) if one.code.value == "truncated")
    cut = days[place]
    assert not was[cut.ref].included, "it was skipped"
    assert all((one.code, one.tokens) == (was[one.ref].code, was[one.ref].tokens) for one in days[:place])
    assert all(one.code.value != "truncated" for one in days[place + 1 :])
    if place:
        assert old.content[: days[place - 1].end] == new.content[: days[place - 1].end]


@pytest.mark.parametrize("version", LATER)
@settings(max_examples=examples(40), deadline=None)
@given(contexts(), BUDGETS)
def test_without_days_all_versions_are_the_same(version: int, context: Context, budget: int) -> None:
    others = tuple(one for one in context if one.section != LOGS)
    old, new = (run_version(one, others, budget, "harbour keys") for one in (PASSAGES_SINCE, version))
    keys = [section.key for section in CONVERSATION.sections]
    assert (old.content, fates(old, keys)) == (new.content, fates(new, keys))


def test_a_day_that_does_not_fit_is_cut_and_was_skipped_before() -> None:
    context = day(1, "short"), day(2, story(1, 900, " ")), day(3, "old")
    codes = {
        version: {one.ref: one.code.value for one in run_version(version, context, 16_000, "").decisions}
        for version in (PASSAGES_SINCE, ENGINE_VERSION)
    }
    assert codes[PASSAGES_SINCE]["daily_log:2@1"] == "over_section_budget"
    assert codes[ENGINE_VERSION]["daily_log:2@1"] == "truncated"
    assert codes[PASSAGES_SINCE]["daily_log:3@1"] == "fits"
