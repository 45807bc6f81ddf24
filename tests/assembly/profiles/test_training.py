"""Training a ranker: from files with labelled questions to a file of weights, and nothing in between stays."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from django.core.management import CommandError, call_command

from agents.models import Agent
from assembly.engine.linear_ranker import Ranker
from assembly.profiles.rankers import RANKERS
from assembly.profiles.training.fitting import BASELINES, MANUAL_WEIGHTS, TRAINED_FEATURES, trained_weights
from assembly.profiles.training.labelled_questions import LabelledQuestion
from assembly.profiles.training.recall import mean_recall, recall
from memories.models import Memory
from memories.search.features import BREVITY

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    turns = ["I bought a violin in Oslo.", "How nice!", "The oven is broken again.", "Then we eat cold soup.", "Fine."]
    said = [
        {"speaker": ("Ada", "Ben")[number % 2], "dia_id": f"D1:{number}", "text": text}
        for number, text in enumerate(turns)
    ]
    asked = [
        {"question": "Where did Ada buy the violin?", "evidence": ["D1:0"], "category": 1},
        {"question": "What is wrong with the oven?", "evidence": ["D1:2; D1:3"], "category": 2},
        {"question": "Who sings?", "evidence": [], "category": 5},
    ]
    conversation = {"session_1": said, "session_1_date_time": "1:56 pm on 8 May, 2023", "qa": asked}
    (tmp_path / "one.json").write_text(json.dumps(conversation), encoding="utf-8")
    return tmp_path


def train(folder: Path, out: str = "mine.yaml", names: str = "one") -> Any:
    call_command("train_ranker", data=folder, train=names, out=folder / out)
    return yaml.safe_load((folder / out).read_text(encoding="utf-8"))


def test_weights_are_learned_and_written_down(folder: Path) -> None:
    facts = train(folder)
    ranker = Ranker.from_dict(facts)
    assert (ranker.name, ranker.version) == ("mine", 1)
    assert dict(ranker.weights).keys() == dict(ranker.brief_weights).keys() == {*TRAINED_FEATURES, *MANUAL_WEIGHTS}
    assert list(facts["trained"].values()) == ["files (one); 2 questions"]
    [figures] = facts["figures"].values()
    assert figures.keys() == {"trained"}
    assert figures["trained"]["ranker"]["r_at_20"] == 1
    assert figures["trained"].keys() == {"questions", "ranker", *BASELINES}


def test_training_again_gives_the_same_file(folder: Path) -> None:
    train(folder)
    before = (folder / "mine.yaml").read_bytes()
    train(folder)
    assert (folder / "mine.yaml").read_bytes() == before


def test_nothing_of_it_stays(folder: Path) -> None:
    before = Agent.objects.count(), Memory.objects.count()
    train(folder)
    assert (Agent.objects.count(), Memory.objects.count()) == before


@pytest.mark.parametrize(
    ("out", "names", "said"),
    [("Mine.txt", "one", "small letters"), ("mine.yaml", "missing", "no missing.json")],
)
def test_what_cannot_be_trained_says_why(folder: Path, out: str, names: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        train(folder, out, names)


def test_without_evidence_there_is_nothing_to_learn(folder: Path) -> None:
    data = json.loads((folder / "one.json").read_text(encoding="utf-8"))
    (folder / "one.json").write_text(json.dumps(data | {"qa": []}), encoding="utf-8")
    with pytest.raises(CommandError, match="No question has evidence"):
        train(folder)


@pytest.mark.parametrize("brevity", [0.0, 1.0])
def test_what_tells_the_evidence_gets_the_weight(brevity: float) -> None:
    told = np.array([0.0, 1.0, 0.0, 0.0])
    noise = np.array([0.0, 1.0, 1.0, 1.0])
    measures = {"words_z": told, "asks": noise, BREVITY: np.full(4, brevity)}
    question = LabelledQuestion("talk", measures, np.array([1]), np.array([9, 9, 9, 9]))
    weights = trained_weights([question], ["words_z", "asks"])
    at = weights.at(brevity)
    assert at["words_z"] > 1 > abs(at["asks"])
    assert mean_recall([question], weights)["r_at_5"] == 1


def test_within_a_budget_a_misfit_is_skipped() -> None:
    figures = recall([2, 0, 1], {0, 1}, [100, 300, 450])
    assert figures["r_at_5"] == 1
    assert figures["r_at_500_tokens"] == 0
    assert recall([2, 0, 1], {0, 1}, [40, 300, 450])["r_at_500_tokens"] == 0.5


def test_with_a_kind_left_out_the_others_train(folder: Path) -> None:
    for kind in ("talk", "pages"):
        (folder / kind).mkdir()
        (folder / kind / f"{kind}-1.json").write_bytes((folder / "one.json").read_bytes())
    (folder / "sources.yaml").write_text("talk: two people, invented", encoding="utf-8")
    facts = train(folder, names="talk-1,pages-1")
    assert facts["trained"] == {
        "pages": "files (pages-1); 2 questions",
        "talk": "two people, invented (talk-1); 2 questions",
    }
    assert [figures["left_out"]["questions"] for figures in facts["figures"].values()] == [2, 2]


def test_the_shipped_ranker_weighs_what_search_measures() -> None:
    assert dict(RANKERS["default"].weights).keys() == {*TRAINED_FEATURES, *MANUAL_WEIGHTS}
