"""At start, a check says what is missing in the folder of the language model, and what to do."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from assembly.conflicts.language_model import checks
from tests.assembly.conflicts.language_model.onnx_models import write_model


def messages() -> list[str]:
    return [message.msg for message in run_checks(tags=["local_files"])]


def test_no_folder_is_nothing_to_check(settings: Any) -> None:
    assert settings.CONFLICT_MODEL_FOLDER is None
    assert messages() == []


def test_a_usable_folder_passes(tmp_path: Path, settings: Any) -> None:
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path)
    assert messages() == []


def configure(**facts: Any) -> Callable[[Path], object]:
    return lambda folder: (folder / "config.json").write_text(json.dumps(facts))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), "neither model.onnx nor onnx/model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "has no tokenizer.json. Copy it"),
        (lambda folder: (folder / "config.json").unlink(), "has no config.json. Copy it"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read as JSON"),
        (lambda folder: (folder / "config.json").write_bytes(b"\xff"), "cannot be read as JSON"),
        (lambda folder: (folder / "config.json").write_text("[]"), "is no JSON object"),
        (configure(), "and are none"),
        (configure(id2label={"1": "contradiction"}), "and are none"),
        (configure(id2label=["contradiction", "entailment", "neutral"]), "and are none"),
        (configure(id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}), "set CONFLICT_MODEL_LABELS"),
        (configure(id2label={"0": "entailment", "1": "not_entailment"}), "and are entailment, not_entailment"),
        (configure(id2label={"0": "positive", "1": "negative"}), "not for natural-language inference"),
    ],
)
def test_a_check_says_what_is_missing(
    tmp_path: Path, settings: Any, spoil: Callable[[Path], object], said: str
) -> None:
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path)
    spoil(tmp_path)
    [message] = messages()
    assert said in message
    assert str(tmp_path) in message


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path, settings: Any) -> None:
    settings.CONFLICT_MODEL_FOLDER = tmp_path / "nothing"
    [message] = messages()
    assert message.startswith(f"CONFLICT_MODEL_FOLDER is {tmp_path / 'nothing'}, which is no folder.")


def test_labels_of_the_setting_are_checked(tmp_path: Path, settings: Any) -> None:
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    settings.CONFLICT_MODEL_LABELS = ["neutral", "Entailment", "contradiction"]
    assert messages() == []
    settings.CONFLICT_MODEL_LABELS = ["neutral", "entailment", "entailment"]
    [message] = messages()
    assert message.startswith("CONFLICT_MODEL_LABELS is 'neutral,entailment,entailment'.")


def test_a_missing_package_is_named(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path)
    monkeypatch.setattr(checks, "find_spec", lambda _: None)
    assert messages() == ["The package onnxruntime is not installed. Install it with: pip install onnxruntime"]


@pytest.mark.parametrize("command", ["serve", "work"])
def test_neither_the_server_nor_a_worker_starts_with_a_broken_folder(
    tmp_path: Path, settings: Any, command: str
) -> None:
    settings.CONFLICT_MODEL_FOLDER = tmp_path
    with pytest.raises(CommandError, match=r"neither model\.onnx nor onnx/model\.onnx"):
        call_command(command, skip_checks=False)
