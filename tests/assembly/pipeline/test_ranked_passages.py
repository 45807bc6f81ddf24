"""Contexts whose passages were ranked: on record, in the API, on the page, in a replay, and when one asks why not."""

import json
import math
from dataclasses import replace

import pytest

from agents.models import Agent
from assembly.contexts.scores import feature_label, score_parts
from assembly.engine.assemble import assemble as run
from assembly.engine.codes import Code
from assembly.engine.linear_ranker import relevance_of
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import Assembly, StoredProfile
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.rankers import RANKERS
from assembly.profiles.services import profile_create, profile_save
from assembly.records.reader import load_record, replay
from assembly.why_not.changes import is_scored, with_raised_score
from memories.embeddings.indexing import document_split
from memories.services.document import documents_create
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.recorded_decisions import decided
from tests.assembly.why_not.engine_inputs import check, found_for
from tests.client import Api

pytestmark = pytest.mark.django_db

TOPIC = "Where is the trawler moored?"
PAGES = {
    "boats.md": "# Boats\n\n" + "\n\n".join(f"Paragraph {number} is about sails. " * 12 for number in range(6)),
    "harbour.md": "# Harbour\n\nThe trawler is moored at Tromsø.\n\n"
    + " ".join(f"The harbour is {number} m deep." for number in range(90)),
}
PROFILE = """\
weights: {recency: 0, relevance: 1, salience: 0, credibility: 0, coherence: 0}
sections:
  - {key: content, heading: Content, layer: L6, source: semantic_content, shape: blocks, ranker: default, cap: 500}
"""


@pytest.fixture
def answer(luna: Agent, admin: User) -> AssemblyResult:
    facts = [{"path": path, "content": content} for path, content in PAGES.items()]
    for document in documents_create(agent=luna, facts=facts, principal=SYSTEM):
        document_split(id_=document.id)
    profile_create(name="passages", content=PROFILE, principal=SYSTEM)
    asked = AssemblyRequest(topic=TOPIC, now=NOW, profile="passages")
    return assemble(agent=luna, team=None, principal=SYSTEM, asked=asked)


def test_the_passage_with_the_answer_comes_first_and_says_why(answer: AssemblyResult) -> None:
    assert "moored at Tromsø" in answer.content.split("boats.md")[0]
    [first] = [one for one in decided(Assembly.objects.get(id=answer.assembly.id)) if one.rank == 1]
    signals = dict(first.signals)
    shares = {name.removeprefix("source_share:"): value for name, value in signals.items() if "share" in name}
    weights = dict(RANKERS["default"].weights_for(load_record(answer.assembly).inputs.candidates[0]))
    assert {"similarity_z", "words_z", "words_around_z", "relative_length"} <= shares.keys()
    assert not {"salience", "credibility"} & shares.keys(), "the profile weighs these"
    for name, share in shares.items():
        assert share == pytest.approx(weights[name] * signals[name], abs=1e-4)
    assert first.score == signals["source_score"] == signals["relevance"]
    assert relevance_of(round(math.fsum(shares.values()), 4)) == first.score


def test_a_replay_needs_no_search_and_names_the_same_shares(answer: AssemblyResult) -> None:
    record = load_record(Assembly.objects.get(id=answer.assembly.id))
    again = replay(record)
    assert (again.identical, again.content) == (True, answer.content)
    assert record.inputs.profile.sections[0].ranker == RANKERS["default"]
    made = {one.ref: dict(one.signals) for one in record.inputs.assembled().decisions}
    assert made == {one.ref: dict(one.signals) for one in decided(record.assembly)}


def test_a_record_from_before_there_were_rankers_of_passages_is_as_it_was(answer: AssemblyResult) -> None:
    inputs = load_record(Assembly.objects.get(id=answer.assembly.id)).inputs
    before = inputs.profile.to_dict()
    del before["sections"][0]["ranker"]
    profile = Profile.from_dict(before)
    assembled = run(inputs.request, profile, inputs.candidates, get_tokenizer("cl100k_base"))
    assert assembled.content == answer.content
    assert not [name for one in assembled.decisions for name, _ in one.signals if "share" in name]


def test_why_not_finds_the_least_score_that_brings_a_passage_in(answer: AssemblyResult) -> None:
    inputs = load_record(answer.assembly).inputs
    [out, *_] = [one for one in inputs.assembled().decisions if one.code is Code.OVER_SECTION_BUDGET]
    found = found_for(inputs, out)
    check(inputs, out, found)
    assert "source_score" in {remedy.change.kind for remedy in found.found}
    section, candidate = inputs.profile.sections[0], inputs.candidates[0]
    assert is_scored(candidate, section, inputs.profile)
    assert with_raised_score(candidate, section, inputs.profile, 0.25).measures["relevance"] == pytest.approx(
        candidate.measures["relevance"] + 0.25
    )


def test_the_api_shows_features_and_shares(answer: AssemblyResult, admin_api: Api) -> None:
    page = json.loads(admin_api.get(f"assemblies/{answer.assembly.id}/decisions?limit=200").content)
    [first] = [one for one in page["results"] if one["rank"] == 1]
    assert {"similarity", "words_z", "source_share:words_z", "source_score"} <= first["signals"].keys()
    described = json.loads(admin_api.get("profiles/passages").content)
    assert [section["ranker"] for section in described["sections"]] == ["default"]


def test_a_page_tells_the_score_from_that_of_the_source(answer: AssemblyResult) -> None:
    record = load_record(answer.assembly)
    [first] = [one for one in record.inputs.assembled().decisions if one.rank == 1]
    parts = score_parts(first, record.inputs.profile.weights)
    assert [part.share for part in parts if part.share is not None] == [pytest.approx(first.score)]
    by_label = {part.label: part for part in parts}
    words = by_label[feature_label("words_z")]
    assert words.source_share == dict(first.signals)["source_share:words_z"]
    assert words.counted == f"{words.source_share:.2f} at source"
    assert words.value == dict(first.signals)["words_z"]


def test_another_ranker_has_to_be_searched_for_and_is_named_as_a_setting(answer: AssemblyResult) -> None:
    from assembly.comparison.side_by_side import parameter_diffs
    from assembly.simulation.what_if.services import record_covers_profile

    record = load_record(Assembly.objects.get(id=answer.assembly.id))
    row = StoredProfile.objects.get(name="passages")
    text = PROFILE.replace("ranker: default", "ranker: seed")
    profile_save(name="passages", content=text, expected_version=row.version, principal=SYSTEM)
    [section] = record.inputs.profile.sections
    wanted = replace(record.inputs.profile, sections=(replace(section, ranker=None),))
    assert not record_covers_profile(record, wanted)
    [setting] = parameter_diffs(record.inputs, replace(record.inputs, profile=wanted))
    assert (setting.before, setting.after, setting.of) == ("ranker default", "ranker seed", "Content")
