"""Training the classifier: from files with labelled pairs to a file of weights."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from assembly.conflicts.detection.classifier import DEFAULT_WEIGHTS, LABELS, Classifier
from assembly.conflicts.detection.contradiction import CONTRADICTION_FEATURES
from assembly.conflicts.detection.features import LABEL_FEATURES, SUBJECT_FEATURES

EXAMPLES = {
    "conflict": [("The {} is open.", "The {} is closed."), ("The {} takes 2 days.", "The {} takes 5 days.")],
    "duplicate": [("The {} is open.", "The {} is not closed."), ("The {} takes 2 h.", "The {} takes 120 minutes.")],
    "refining": [("The {} is open.", "The {} is open on Mondays in the north hall.")],
    "evolving": [("The {} was open.", "The {} is closed now."), ("The {} took 2 days.", "The {} takes 5 days now.")],
    "similar": [
        ("The {} is open.", "The bakery beside the {} is closed."),
        ("The {} takes 2 days.", "The {} costs 5 euros."),
    ],
    "unrelated": [("The {} is open.", "Garlic is planted in October.")],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, nouns in (("mine", ("shop", "pool", "import", "tour")), ("other", ("gym", "audit"))):
        lines = [
            json.dumps({"left": left.format(noun), "right": right.format(noun), "label": label})
            for noun in nouns
            for label, pairs in EXAMPLES.items()
            for left, right in pairs
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def train(folder: Path, **options: Any) -> Any:
    call_command("train_conflicts", data=folder, out=folder / "mine.yaml", **options)
    return yaml.safe_load((folder / "mine.yaml").read_text(encoding="utf-8"))


def test_weights_are_learned_and_written_down(folder: Path) -> None:
    facts = train(folder, train="mine", test="other", as_version=4)
    assert (facts["name"], facts["version"], facts["trained"]) == ("mine", 4, {"mine": "40 pairs"})
    assert facts["figures"]["other"]["precision"] == 1
    assert facts["figures"]["other"]["recall"] >= 0.5
    assert set(facts["without_the_writer"]) == {f"mine, part {part}" for part in range(1, 6)}
    classifier = Classifier.from_dict(facts)
    assert set(classifier.subject_weights) == {*SUBJECT_FEATURES, "bias"}
    assert all(set(classifier.label_weights[label]) == {*LABEL_FEATURES, "bias"} for label in LABELS)


def test_the_figures_of_each_writer_are_those_without_their_pairs(folder: Path) -> None:
    facts = train(folder, train="mine,other", repeat="other")
    assert set(facts["without_the_writer"]) == {"mine", "other"}
    assert facts["trained"] == {"mine": "40 pairs", "other": "20 pairs, 3 times"}


@pytest.mark.deep
def test_unrelated_texts_are_learned_from(folder: Path, tmp_path: Path) -> None:
    corpora = tmp_path / "corpora"
    corpora.mkdir()
    for name, nouns in (("notes", ("shop", "gym")), ("pages", ("pool", "tour"))):
        lines = [
            json.dumps({"text": text.format(noun), "item": f"{noun} {number}"})
            for noun in nouns
            for number, text in enumerate(("The {} takes 3 days.", "The way to the {} takes 40 minutes."))
        ]
        (corpora / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    facts = train(folder, train="mine", corpora=corpora)
    assert facts["unrelated"] == {"notes": "4 texts", "pages": "4 texts"}
    assert set(facts["contradiction"]) == {*CONTRADICTION_FEATURES, "bias"}
    assert facts["contradiction"] != train(folder, train="mine")["contradiction"]
    (corpora / "notes.jsonl").write_text("[]", encoding="utf-8")
    with pytest.raises(CommandError, match=r"Line 1 of notes\.jsonl"):
        train(folder, train="mine", corpora=corpora)


@pytest.mark.deep
def test_training_again_gives_the_same_file(folder: Path) -> None:
    train(folder, train="mine")
    before = (folder / "mine.yaml").read_bytes()
    train(folder, train="mine")
    assert (folder / "mine.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Line 1 of wrong.jsonl is no JSON object"),
        ('{"left": "a", "right": "b"}', "Line 1 of wrong.jsonl is no JSON object"),
        ('{"left": "a", "right": "b", "label": "fight"}', "has the label “fight”"),
        ("", "has no pairs"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "wrong.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(CommandError, match=message):
        train(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": "missing"}, "There is no missing.jsonl"),
        ({"test": "mine,other"}, "to train with"),
        ({"embedder": "none"}, "There is no embedder"),
        ({"corpora": Path("nowhere")}, "There is no NAME.jsonl in nowhere"),
    ],
)
def test_wrong_options_are_refused(folder: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        train(folder, **options)


def test_the_shipped_weights_name_all_features() -> None:
    facts = yaml.safe_load(DEFAULT_WEIGHTS.read_text(encoding="utf-8"))
    Classifier.from_dict(facts)
    assert set(facts["subject"]) == {*SUBJECT_FEATURES, "bias"}
    assert set(facts["labels"]["conflict"]) == {*LABEL_FEATURES, "bias"}
    assert set(facts["contradiction"]) == {*CONTRADICTION_FEATURES, "bias"}


def test_weights_of_features_that_do_not_exist_are_refused() -> None:
    facts = yaml.safe_load(DEFAULT_WEIGHTS.read_text(encoding="utf-8"))
    facts["subject"]["colour"] = 1.0
    with pytest.raises(ValueError, match="colour"):
        Classifier.from_dict(facts)
