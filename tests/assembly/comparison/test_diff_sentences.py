"""Comparing two contexts: nothing is different of one and the same, and whatever is different is told once."""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from assembly.comparison.diff_sentences import comparison_summary
from assembly.engine.codes import Code
from assembly.engine.diff import SHORTENED_CODES, ContextDiff, diff_contexts, diff_decisions
from assembly.engine.refs import without_version
from assembly.engine.types import Decision, EngineResult
from tests.engine.situations import Situation, conversation, situations
from tests.examples import examples

CALM = settings(
    max_examples=examples(40),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
PARAGRAPHS = "\n\n".join(["Pack my box with five dozen liquor jugs, and then some more."] * 9)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Situation, Situation]:
    """A situation, and the same with another text in place of one, with some things gone, or with another budget."""
    before = draw(situations())
    assume(before.candidates)
    changed = draw(st.sampled_from(before.candidates))
    text = draw(st.sampled_from(["", "x", changed.text * 3 + " and more", PARAGRAPHS]))
    gone = draw(
        st.sets(st.sampled_from([one.ref for one in before.candidates if one != changed] or ["none"]), max_size=2)
    )
    draft = structs.replace(changed, text=text, ref=f"{without_version(changed.ref)}@draft")
    kept = [draft if one == changed else one for one in before.candidates if one.ref not in gone]
    budget = draw(st.sampled_from([before.request.budget, before.request.budget // 2]))
    return before, replace(before, candidates=tuple(kept), request=replace(before.request, budget=budget))


def included(made: EngineResult) -> Counter[tuple[str, str]]:
    return Counter((one.section, without_version(one.ref)) for one in made.decisions if one.included)


@CALM
@given(situations())
def test_a_context_is_not_different_from_itself(gather_context: Situation) -> None:
    made = gather_context.settled().assembled
    found = diff_contexts(made, made)
    assert found.is_same
    assert (found.changes, found.newly_cut, found.tokens_before) == ((), (), found.tokens_after)
    assert comparison_summary(found) == "The context is unchanged."


@CALM
@given(pairs())
def test_sums_add_up_and_every_difference_is_told_once(pair: tuple[Situation, Situation]) -> None:
    before, after = (gather_context.settled().assembled for gather_context in pair)
    found = diff_contexts(before, after)
    assert sum(section.tokens_before for section in found.sections) == found.tokens_before == before.tokens
    assert sum(section.tokens_after for section in found.sections) == found.tokens_after == after.tokens
    assert sum(len(section.changes) for section in found.sections) == len(found.changes)
    came, went = (Counter(_places(found, effect)) for effect in ("in", "out"))
    moved = [change for change in found.changes if change.effect == "moved"]
    came.update((one.after.section, without_version(one.after.ref)) for one in moved if one.after)
    went.update((one.before.section, without_version(one.before.ref)) for one in moved if one.before)
    assert included(before) + came - went == included(after)
    assert found.is_same or comparison_summary(found)
    if before.content != after.content and not any(one.code in SHORTENED_CODES for one in before.decisions):
        assert not found.is_same


def _places(found: ContextDiff, effect: str) -> list[tuple[str, str]]:
    changes = [change for change in found.changes if change.effect == effect]
    return [(change.decision.section, without_version(change.decision.ref)) for change in changes]


def decided(ref: str, code: Code = Code.FITS, length: int = 10) -> Decision:
    return Decision(ref, "goals", code, start=0, end=length, tokens=length, tokens_full=10)


def test_another_version_is_the_same_thing_with_another_text() -> None:
    (change,) = diff_decisions([decided("team_file:1@7")], [decided("team_file:1@draft")])
    assert (change.effect, change.is_cut) == ("changed", False)
    assert without_version("external:mail:ada@example.org") == "external:mail:ada@example.org"


def test_two_versions_in_one_section_are_two_things() -> None:
    both = [decided("page:1@1"), decided("page:1@2")]
    assert diff_decisions(both, both) == ()
    assert [(change.effect, change.decision.ref) for change in diff_decisions(both, both[:1])] == [("out", "page:1@2")]


def test_more_is_cut_where_less_of_the_text_is_told() -> None:
    cut, shorter = decided("a@1", Code.TRUNCATED, 8), decided("a@1", Code.TRUNCATED, 5)
    assert [change.is_cut for change in diff_decisions([cut], [shorter])] == [True]
    assert [change.is_cut for change in diff_decisions([shorter], [cut])] == [False]
    (again,) = diff_decisions([cut], [decided("a@1")])
    assert again.is_restored


def told(budget: int, **files: str) -> EngineResult:
    return conversation(budget, "chars4", **files).assembled()


def test_what_it_costs_is_told_first() -> None:
    knows = {"knowledge_base": PARAGRAPHS}
    now = told(240, identity="I am.", **knows)
    assert comparison_summary(diff_contexts(now, told(240, identity="I am.", team_goals="Ship it.", **knows))) == (
        "No content is displaced. Goals would be included."
    )
    goals = "Ship the demo by the middle of March. " * 10
    assert comparison_summary(diff_contexts(now, told(240, identity="I am.", team_goals=goals, **knows))) == (
        "Knowledge would be truncated: the last paragraph of 9 would be missing. Goals would be included."
    )
