"""What a score is made of, in plain words; the shares add up to it."""

import pytest

from agents.models import Agent
from assembly.contexts.scores import FEATURE_LABELS, feature_label, score_parts
from assembly.engine.codes import Code
from assembly.engine.priority import PRIORITY_PREFIX
from assembly.engine.profile import Weights
from assembly.engine.types import Decision
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.shipped import CONVERSATION
from assembly.records.reader import load_record
from assembly.rules.services import rule_create
from assembly.sources.base import ConversationTurn
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.large_agent import ONE_OF_EACH, TOPIC, fill
from tests.assembly.large_record import NOW, context_of_many
from tests.pages.conftest import SignedIn, text_of

WEIGHTS = Weights()


def decided(score: float | None, *signals: tuple[str, float]) -> Decision:
    return Decision("memory:a@1", "knows", Code.FITS, score=score, signals=signals)


def test_the_shares_of_the_ranker_stand_as_they_were_recorded() -> None:
    signals = (("similarity", 0.5), ("asks", 1.0), ("share:similarity", 2.0), ("share:asks", -1.5))
    parts = score_parts(decided(0.5, *signals), WEIGHTS)
    assert [(part.label, part.value, part.share, part.width) for part in parts] == [
        (FEATURE_LABELS["similarity"], 0.5, 2.0, 1000),
        (FEATURE_LABELS["asks"], 1.0, -1.5, 750),
    ]
    assert [part.against for part in parts] == [False, True]
    assert [(part.measured, part.counted) for part in parts] == [("0.50", "2.00"), ("1.00", "\N{MINUS SIGN}1.50")]


def test_blocks_are_weighed_by_the_profile_and_what_only_explains_counts_for_nothing() -> None:
    weights = Weights(recency=0.2, relevance=0.8, credibility=0, coherence=0)
    parts = score_parts(decided(0.5, ("recency", 0.5), ("relevance", 0.5), ("keyword_matches", 3.0)), weights)
    assert [(part.value, part.share) for part in parts] == [(0.5, 0.4), (0.5, 0.1), (3.0, None)]


def test_a_rule_adds_what_it_multiplied_by() -> None:
    parts = score_parts(decided(0.8, ("similarity", 0.4), ("boost", 2.0)), WEIGHTS)
    assert {part.label: part.share for part in parts} == {
        FEATURE_LABELS["similarity"]: 0.4,
        FEATURE_LABELS["boost"]: 0.4,
    }


def test_what_has_no_score_has_no_parts() -> None:
    assert score_parts(decided(None, ("similarity", 0.4)), WEIGHTS) == []


def test_shares_add_up_to_the_mean_whatever_the_sum_of_the_weights_and_in_old_records_to_the_sum() -> None:
    weights, measures = (
        Weights(recency=1, relevance=3, credibility=0, coherence=0),
        (("recency", 0.4), ("relevance", 0.8)),
    )
    mean = score_parts(decided(0.7, *measures), weights)
    assert [part.share for part in mean] == [pytest.approx(0.6), pytest.approx(0.1)]
    total = score_parts(decided(2.8, *measures), weights, is_mean=False)
    assert [part.share for part in total] == [pytest.approx(2.4), pytest.approx(0.4)]


def test_a_priority_beside_the_score_is_told_with_its_measures() -> None:
    weights = Weights(recency=0.2, relevance=0.4, credibility=0.2, coherence=0)
    weighed = (("priority:recency", 1.0), ("priority:credibility", 0.5), ("priority", 0.75))
    of_entry = score_parts(decided(None, *weighed), weights)
    told = [(part.label, part.measured, part.counted) for part in of_entry]
    assert told == [
        (FEATURE_LABELS["priority"], "", "0.75"),
        (FEATURE_LABELS["recency"], "1.00", "0.50 of priority"),
        (FEATURE_LABELS["credibility"], "0.50", "0.25 of priority"),
    ]
    of_line = score_parts(decided(0.4, ("similarity", 0.4), *weighed), weights)
    assert [(part.label, part.share) for part in of_line] == [(FEATURE_LABELS["similarity"], 0.4)] + [
        (part.label, None) for part in of_entry
    ]


def test_what_nobody_named_is_called_by_its_own_name() -> None:
    assert feature_label("times_sung") == "Times sung"


def _assert_they_add_up(assembly: Assembly) -> set[str]:
    """The names of all that was measured."""
    told = load_record(assembly)
    weights = told.inputs.profile.weights
    for decision in told.decisions:
        if decision.score is not None:
            shares = [part.share for part in score_parts(decision, weights) if part.share is not None]
            assert sum(shares) == pytest.approx(decision.score, abs=0.001), decision
    return {
        name
        for decision in told.decisions
        for name, _ in decision.signals
        if not name.startswith(("share:", "source_share:"))
    }


def test_shares_add_up_to_the_score_in_every_kind_of_context(team: Team, agent: Agent, owner: User) -> None:
    _assert_they_add_up(context_of_many(agent, team, owner.principal, candidates=200))
    content = "then: {boost: [{memory_kind: fact, weight: 2}, {source: recent_events, weight: 3}]}"
    rule_create(name="more", content=content, owner=None, enabled=True, principal=SYSTEM)
    facts = [MemoryFacts(kind="fact", text=f"The login number {number} fails") for number in range(9)]
    memories_create(owner=agent, facts=facts, principal=owner.principal)
    session = fill(agent, NOW, ONE_OF_EACH)
    measured = set()
    for profile in ("conversation", "coding", "research", "operations"):
        asked = AssemblyRequest(topic=TOPIC, profile=profile, session=str(session.id), now=NOW)
        answer = assemble(agent=agent, team=team, principal=owner.principal, asked=asked)
        measured |= _assert_they_add_up(answer.assembly)
    assert "boost" in measured
    named = {name.removeprefix(PRIORITY_PREFIX) for name in measured}
    assert named <= set(FEATURE_LABELS), "everything that is measured has a name in plain words"


def test_all_that_the_ranker_weighs_has_a_name() -> None:
    assert CONVERSATION.ranker
    assert {name for name, _ in CONVERSATION.ranker.weights} <= set(FEATURE_LABELS)


def test_the_page_of_an_item_tells_the_priority_of_a_turn_which_has_no_score(
    signed_in: SignedIn, team: Team, agent: Agent, owner: User
) -> None:
    turns = (ConversationTurn("user", "Is the stage free?"),)
    asked = AssemblyRequest(topic="stage", profile="coding", history=turns, now=NOW)
    assembly = assemble(agent=agent, team=team, principal=owner.principal, asked=asked).assembly
    decided = load_record(assembly).decisions
    position = next(place for place, one in enumerate(decided) if one.section == "turns")
    page = " ".join(text_of(signed_in(owner).get(f"/contexts/{assembly.id}/items/?item={position}")).split())
    priority = dict(decided[position].signals)["priority"]
    assert f"Priority {priority:.2f}" in page
    assert "Score <" not in page[page.index("item-details") :]
