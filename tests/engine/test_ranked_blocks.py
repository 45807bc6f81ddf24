"""Blocks whose source ranked them by a ranker: its shares stand in the decision, beside those of the final score."""

import json
import math

import pytest

from assembly.engine.linear_ranker import Ranker, relevance_of
from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.types import Candidate
from tests.engine.factories import candidate, decision_on, run

RANKER = Ranker("mine", 2, (("salience", 1.0), ("similarity_z", 1.0), ("words_z", 2.0)), least_words=0.3, reach=6.0)
BLOCKS = Section("s", "Content", "L6", "semantic_content", "blocks", ranker=RANKER)
FEATURES = {"salience": 0.5, "similarity_z": 1.5, "words_z": -0.25, "words": 0.1, "brevity": 0.4}


def profile(section: Section) -> Profile:
    return Profile("test", 1, (section,), weights=Weights(0.5, 0.5, 0, 0, 0))


def passage(**measures: float) -> Candidate:
    return candidate(
        "chunk:a@1#0", "Text.", score=relevance_of(1.0), measures={"relevance": relevance_of(1.0)} | measures
    )


def test_the_shares_add_up_to_the_score_of_the_source_and_not_to_the_final_one() -> None:
    decision = decision_on(run(profile(BLOCKS), passage(**FEATURES)), "chunk:a@1#0")
    signals = dict(decision.signals)
    shares = {name: value for name, value in signals.items() if name.startswith("source_share:")}
    assert shares == {"source_share:similarity_z": 1.5, "source_share:words_z": -0.5}
    assert signals["source_score"] == relevance_of(math.fsum(shares.values()))
    assert decision.score == 0.5 * signals["relevance"]


@pytest.mark.parametrize(
    ("section", "measures"),
    [(Section("s", "Content", "L6", "semantic_content", "blocks"), FEATURES), (BLOCKS, {})],
    ids=["no ranker", "nothing measured"],
)
def test_there_are_none_where_no_ranker_ranked(section: Section, measures: dict[str, float]) -> None:
    decision = decision_on(run(profile(section), passage(**measures)), "chunk:a@1#0")
    assert not [name for name, _ in decision.signals if "share" in name]


def test_a_ranker_changes_no_text() -> None:
    plain = Section("s", "Content", "L6", "semantic_content", "blocks")
    assert run(profile(BLOCKS), passage(**FEATURES)).content == run(profile(plain), passage(**FEATURES)).content


def test_a_profile_is_recorded_with_the_ranker_of_each_section_by_value() -> None:
    given = profile(BLOCKS)
    written = json.loads(json.dumps(given.to_dict(), sort_keys=True))
    assert Profile.from_dict(written) == given
    assert Profile.from_dict(written).sections[0].ranker == RANKER


def test_a_section_without_a_ranker_is_recorded_as_ever() -> None:
    plain = Section("s", "Content", "L6", "semantic_content", "blocks")
    [written] = profile(plain).to_dict()["sections"]
    assert "ranker" not in written
    assert Profile.from_dict({"name": "test", "version": 1, "sections": [written]}).sections == (plain,)
