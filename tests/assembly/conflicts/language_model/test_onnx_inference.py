"""A real model in ONNX format, built here, is loaded and asked about pairs of sentences."""

from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto

from assembly.conflicts.language_model.model_folder import ModelFolder, UnusableModel
from assembly.conflicts.language_model.onnx_inference import BATCH_PAIRS, OnnxInference
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN, write_model


def load(folder: Path, *labels: str) -> OnnxInference:
    return OnnxInference.load(ModelFolder.read(folder, labels), threads=1)


@pytest.mark.parametrize(
    "labels", [("entailment", "neutral", "contradiction"), ("Contradiction", "NEUTRAL", "Entailment")]
)
@pytest.mark.parametrize("has_types", [True, False])
@pytest.mark.parametrize("integers", [TensorProto.INT64, TensorProto.INT32])
def test_labels_and_inputs_are_those_of_the_model(
    tmp_path: Path, labels: tuple[str, ...], has_types: bool, integers: int
) -> None:
    model = load(write_model(tmp_path, labels=labels, has_types=has_types, integers=integers))
    apart, equal = model.infer([(VEGAN, BEEF), (BEEF, BEEF)])
    assert apart.contradiction == pytest.approx(0.9933, abs=1e-4)
    assert apart.entailment == pytest.approx(0.00005, abs=1e-4)
    assert equal.entailment == pytest.approx(0.9933, abs=1e-4)


def test_a_graph_may_lie_in_a_folder_of_its_own_and_labels_in_a_setting(tmp_path: Path) -> None:
    write_model(tmp_path, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    write_model(tmp_path / "other", labels=("contradiction", "entailment", "neutral"))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").unlink()
    (tmp_path / "other" / "model.onnx").rename(tmp_path / "onnx" / "model.onnx")
    [apart] = load(tmp_path, "Contradiction", "entailment", "neutral").infer([(VEGAN, BEEF)])
    assert apart.contradiction > 0.9


def test_many_pairs_are_read_in_batches_with_equal_answers(tmp_path: Path) -> None:
    model = load(write_model(tmp_path))
    sizes = []

    class Session:
        """The session of the model, with the sizes of its batches."""

        def run(self, names: list[str], inputs: dict[str, Any]) -> Any:
            sizes.append(len(inputs["input_ids"]))
            return session.run(names, inputs)

    session, model._session = model._session, Session()
    answers = model.infer([(VEGAN, BEEF), (VEGAN + " The food is good." * 3, VEGAN)] * BATCH_PAIRS)
    assert sizes == [BATCH_PAIRS, BATCH_PAIRS]
    assert [round(one.contradiction) for one in answers] == [1, 0] * BATCH_PAIRS
    assert model.infer([]) == []


def test_long_sentences_are_cut_to_what_the_model_takes(tmp_path: Path) -> None:
    model = load(write_model(tmp_path, max_position_embeddings=16, model_type="roberta", pad_token_id=1))
    read = model._inputs([model._tokenizer.encode("food " * 500, "vegan " + "stew " * 500)])
    assert read["input_ids"].shape == (1, 14)
    [answer] = model.infer([("food " * 500, "vegan " + "stew " * 500)])
    assert answer.contradiction > 0.9, "the beginning of both is read"


def test_the_name_has_only_what_can_be_stored(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "a\tb\nc")
    assert load(folder).name.startswith("a?b?c@")


def test_the_name_tells_one_content_of_a_folder_from_another(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny-nli")
    first = load(folder).name
    assert first.startswith("tiny-nli@")
    assert load(folder).name == first
    write_model(folder, is_one_sided=True)
    assert load(folder).name != first


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"size": 128}, "dynamic axes"),
        ({"integers": TensorProto.FLOAT}, r"has the input input_ids \(tensor\(float\)\)"),
    ],
)
def test_a_graph_that_cannot_be_asked_is_refused(tmp_path: Path, facts: dict[str, int], said: str) -> None:
    with pytest.raises(UnusableModel, match=said):
        load(write_model(tmp_path, **facts))  # type: ignore[arg-type]


def test_a_graph_with_other_outputs_than_labels_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path, labels=("contradiction", "entailment"))
    with pytest.raises(UnusableModel, match="3 logits per pair"):
        load(tmp_path, "contradiction", "entailment", "neutral").infer([(VEGAN, BEEF)])
