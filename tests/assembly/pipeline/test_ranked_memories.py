"""Contexts whose memories were ranked: on record, in the API, in a replay; and of a record from before."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agents.models import Agent
from assembly.engine.assemble import assemble as run
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.rankers import RANKERS
from assembly.profiles.shipped import CONVERSATION
from assembly.records.reader import load_record, replay
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.large_record import recorded_context
from tests.assembly.recorded_decisions import decided
from tests.client import Api

pytestmark = pytest.mark.django_db

TEXTS = ["Ben: When is the boat sold?", "Ada: It was sold last week.", "Ben: The weather is fine.", "Ada: I like tea."]
TOPIC = "When was the boat of Ada sold?"
OLD_WEIGHTS = {"similarity": 1.236, "words": 0.8138, "length": 3.5072, "asks": -1.0291}
"""Some of those of the first ranker, which had one column of them, of features that are measured no more."""


@pytest.fixture
def answer(luna: Agent) -> AssemblyResult:
    facts = [MemoryFacts(kind="message", text=text, occurred_at=NOW) for text in TEXTS]
    memories_create(owner=luna, facts=facts, principal=SYSTEM)
    return assemble(agent=luna, team=None, principal=SYSTEM, asked=AssemblyRequest(topic=TOPIC, now=NOW))


def memories_in(answer: AssemblyResult) -> list[dict[str, Any]]:
    rows = decided(Assembly.objects.get(id=answer.assembly.id), section="personal_memories")
    return [
        {"score": row.score, **dict(row.signals)} for row in sorted(rows, key=lambda row: row.rank or 0) if row.rank
    ]


def test_each_share_of_the_score_is_on_record(answer: AssemblyResult) -> None:
    [best, *_] = memories_in(answer)
    [measured] = [one for one in load_record(answer.assembly).inputs.candidates if one.text == TEXTS[1]]
    weights = dict(RANKERS["default"].weights_for(measured))
    shares = {name.removeprefix("share:"): value for name, value in best.items() if name.startswith("share:")}
    assert best["score"] == pytest.approx(sum(shares.values()), abs=1e-3)
    assert {"similarity_z", "words_z", "labelled", "time_said", "after_question"} <= shares.keys()
    for name, share in shares.items():
        assert share == pytest.approx(weights[name] * best[name], abs=1e-4)


def test_what_answers_comes_first(answer: AssemblyResult) -> None:
    section = answer.content.partition("## Personal Memories\n")[2]
    assert section.splitlines()[0] == "- [message] Ada: It was sold last week."


def test_a_replay_needs_no_search(answer: AssemblyResult) -> None:
    again = replay(load_record(Assembly.objects.get(id=answer.assembly.id)))
    assert (again.identical, again.content) == (True, answer.content)


def test_a_record_from_before_there_were_rankers_ranks_by_similarity(answer: AssemblyResult) -> None:
    assembly = Assembly.objects.get(id=answer.assembly.id)
    older = {name: value for name, value in assembly.profile.items() if name != "ranker"}
    inputs = replace(load_record(assembly).inputs, profile=Profile.from_dict(older))
    assert inputs.profile.ranker is None
    assembled = run(inputs.request, inputs.profile, inputs.candidates, get_tokenizer("cl100k_base"))
    scored = [decision for decision in assembled.decisions if decision.section == "personal_memories" and decision.rank]
    assert scored
    for decision in scored:
        assert decision.score == dict(decision.signals)["similarity"]


def test_a_record_of_the_first_ranker_replays_unchanged(luna: Agent, team: Team) -> None:
    first = {"name": "default", "version": 1, "weights": OLD_WEIGHTS, "least_words": 0.3, "reach": 6.0}
    measures = {"similarity": 0.4, "words": 0.5, "length": 0.6, "asks": 1.0}
    offered = [
        Candidate("memory:a@1", "personal_memories", "The boat is sold.", kind="fact", measures=measures),
        Candidate("memory:b@1", "personal_memories", "The boat is blue.", kind="fact", measures={"words": 0.4}),
    ]
    ranker = Ranker.from_dict(first)
    assembly = recorded_context(luna, team, SYSTEM, CONVERSATION.sections, offered, budget=2_000, ranker=ranker)
    assert assembly.profile["ranker"] == first
    told = load_record(Assembly.objects.get(id=assembly.id))
    assert replay(told).identical
    scores = {decision.ref: decision.score for decision in told.decisions}
    assert scores["memory:a@1"] == pytest.approx(1.236 * 0.4 + 0.8138 * 0.5 + 3.5072 * 0.6 - 1.0291, abs=1e-4)
    assert RANKERS["default"].version > ranker.version


def test_the_api_shows_features_and_shares(answer: AssemblyResult, admin_api: Api) -> None:
    page = json.loads(admin_api.get(f"assemblies/{answer.assembly.id}/decisions?limit=200").content)
    [first] = [one for one in page["results"] if one["section"] == "personal_memories" and one["rank"] == 1]
    assert {"similarity", "similarity_z", "share:similarity_z", "words_z", "share:words_z"} <= first["signals"].keys()


def test_the_shipped_ranker_is_recorded_by_value(answer: AssemblyResult) -> None:
    recorded = Profile.from_dict(Assembly.objects.get(id=answer.assembly.id).profile)
    assert recorded.ranker == RANKERS["default"]
