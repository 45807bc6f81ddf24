"""What the form of a rule writes reads back to the same rule; what the form would lose is noticed."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.rules import WEEKDAYS, Actions, Boost, Condition, Selector, TimeWindow
from assembly.profiles.catalogue import known_sources
from assembly.rules.parser import LOADABLE, MAX_WEIGHT, SELECTORS, parse_rule
from assembly.rules.writer import has_comments, is_nested, rule_yaml

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=60).map(
    lambda text: text.strip() or "word"
)
TRICKY = st.sampled_from(
    ["404", "1e3", "yes", "null", "~", "2026-11-01", "12:30", "- a", "a: b", "#no", "a # b", "'", '"', "*", "&a", "!x",
     "@", "`", "{", "[a]", "|", ">", "%", "?", "…", "слово", "👩", "**/x?.md", "a\\b", "on", "0x1F", "=", "<<"]
)  # fmt: skip
WORD = PRINTABLE | TRICKY
WORDS = st.lists(WORD, max_size=4).map(tuple)
MINUTES = st.builds(datetime.time, st.integers(0, 23), st.integers(0, 59))
HOURS = st.tuples(MINUTES, MINUTES).filter(lambda hours: hours[0] != hours[1])
DAYS = st.lists(st.dates(), min_size=2, max_size=2).map(sorted)


@st.composite
def windows(draw: st.DrawFn) -> TimeWindow:
    first, last = draw(DAYS)
    opens, closes = draw(HOURS | st.just((None, None)))
    weekdays = tuple(draw(st.lists(st.sampled_from(WEEKDAYS), unique=True)))
    return TimeWindow(
        draw(st.sampled_from([None, first])), draw(st.sampled_from([None, last])), weekdays, opens, closes
    )


INTENTS = st.lists(st.sampled_from(["question", "action", "fix", "explain", "other"])).map(tuple)
FLAT = st.builds(
    Condition, task_contains=WORDS, agent=WORDS, team=WORDS, profile=WORDS, intent=INTENTS,
    between=st.none() | windows().filter(lambda window: window != TimeWindow()),
)  # fmt: skip
CONDITIONS = st.recursive(
    FLAT,
    lambda parts: st.builds(
        Condition,
        all=st.lists(parts, max_size=2).map(tuple),
        any=st.lists(parts, max_size=2).map(tuple),
        never=st.none() | parts,
    ),
    max_leaves=4,
)


def selectors(*known: str) -> st.SearchStrategy[Selector]:
    named = st.builds(Selector, st.sampled_from([by for by in known if by != "source"]), WORD)
    whole = st.builds(Selector, st.just("source"), st.sampled_from(known_sources()))
    return named | whole if "source" in known else named


WEIGHTS = st.floats(0, MAX_WEIGHT) | st.integers(0, MAX_WEIGHT).map(float) | st.sampled_from([5e-324, 1e-7, 0.1 + 0.2])
ACTIONS = st.builds(
    Actions,
    always_include=st.lists(selectors(*LOADABLE), max_size=3).map(tuple),
    boost=st.lists(st.builds(Boost, selectors(*SELECTORS), WEIGHTS.map(abs)), max_size=3).map(tuple),
    exclude=st.lists(selectors(*SELECTORS), max_size=3).map(tuple),
).filter(lambda actions: actions != Actions())


@given(description=st.just("") | WORD, when=CONDITIONS, then=ACTIONS)
def test_what_is_written_reads_back_to_an_equal_rule(description: str, when: Condition, then: Actions) -> None:
    text = rule_yaml(description, when, then)
    read = parse_rule(text, name="r", version=1, scope="everywhere", sources=known_sources())
    assert (read.description, read.rule.when, read.rule.then) == (description, when, then)
    assert not has_comments(text)


def test_the_text_is_as_people_write_it() -> None:
    when = Condition(
        task_contains=("auth", "sign in"), between=TimeWindow(datetime.date(2026, 11, 1), weekdays=("mon", "fri"))
    )
    path, person = Selector("path", "docs/**"), Selector("kg_entity", "AuthService")
    then = Actions((path,), (Boost(person, 2.0), Boost(person, 0.5)), (Selector("source", "daily_logs"),))
    assert (
        rule_yaml("On signing in.", when, then)
        == """\
description: On signing in.
when:
  task_contains: [auth, sign in]
  between:
    from: '2026-11-01'
    weekdays: [mon, fri]
then:
  always_include:
  - path: docs/**
  boost:
  - kg_entity: AuthService
    weight: 2
  - kg_entity: AuthService
    weight: 0.5
  exclude:
  - source: daily_logs
"""
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("then: {exclude: [{tag: x}]}\n", False),
        ("# why\nthen: {exclude: [{tag: x}]}\n", True),
        ("then: {exclude: [{tag: x}]} # why", True),
        ("then: {exclude: [{tag: x}]}\n# why", True),
        ("then:\n  # why\n  exclude: [{tag: x}]\n", True),
        ("then: {exclude: [{tag: 'a # b'}]}\n", False),
        ("then: {exclude: [{tag: a#b}]}\n", False),
        ("description: > # why\n  Text.\nthen: {exclude: [{tag: x}]}\n", True),
        ("description: >-\n  Number # 1.\nthen: {exclude: [{tag: x}]}\n", False),
    ],
)
def test_comments_are_noticed(text: str, expected: bool) -> None:
    assert has_comments(text) is expected


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (Condition(agent=("a",)), False),
        (Condition(all=(Condition(),)), True),
        (Condition(any=(Condition(),)), True),
        (Condition(never=Condition()), True),
    ],
)
def test_conditions_within_conditions_are_noticed(when: Condition, expected: bool) -> None:
    assert is_nested(when) is expected
