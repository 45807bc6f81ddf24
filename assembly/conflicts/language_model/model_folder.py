"""A folder has the files of a language model for natural-language inference, as exports to ONNX write them.

`model.onnx` (or `onnx/model.onnx`) is the graph, `tokenizer.json` the tokenizer, and `config.json` names the labels.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

LABELS = ("contradiction", "entailment", "neutral")
GRAPHS = ("model.onnx", "onnx/model.onnx")
MOST_TOKENS = 512
"""The most tokens of two sentences together, whatever a model would take: longer ones cost too much."""
SHIFTED_POSITIONS = frozenset(("camembert", "roberta", "xlm-roberta", "xlm-roberta-xl"))
"""The types of models that count positions from the number of the padding on, so that they take fewer tokens."""
LEAST_TOKENS = 8
NAME_CHARACTERS = 80
ADVICE = "Correct it, or leave CONFLICT_MODEL_FOLDER out."


class UnusableModel(Exception):
    """Raised where a folder has no usable model; the message says what is missing and what to do."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder whose files exist and fit together, as far as this is known without loading the graph."""

    path: Path
    graph: Path
    labels: tuple[str, ...]
    """LABELS in the order of the graph's outputs."""
    padding: int
    """The number of the token that fills short texts."""
    max_tokens: int
    """The most tokens of two sentences together."""

    @classmethod
    def read(cls, path: Path, labels: Sequence[str] = ()) -> Self:
        """Return the folder; `labels` are those of the setting CONFLICT_MODEL_LABELS. Raises UnusableModel."""
        if not path.is_dir():
            raise UnusableModel(f"CONFLICT_MODEL_FOLDER is {path}, which is no folder. {ADVICE}")
        graph = next((path / name for name in GRAPHS if (path / name).is_file()), None)
        if graph is None:
            raise UnusableModel(
                f"The folder {path} has neither model.onnx nor onnx/model.onnx. Export the model to ONNX and put it"
                " there: nothing is downloaded."
            )
        _load_json(path, "tokenizer.json")
        config = _load_json(path, "config.json")
        padding = config.get("pad_token_id")
        return cls(
            path=path,
            graph=graph,
            labels=_known_labels(path, labels) if labels else _labels_of(path, config),
            padding=padding if isinstance(padding, int) and padding >= 0 else 0,
            max_tokens=_max_tokens(path, config),
        )

    @property
    def tokenizer(self) -> Path:
        return self.path / "tokenizer.json"

    def digest(self) -> str:
        """Return the first 12 digits of the SHA-256 of the files that decide what the model answers."""
        total = hashlib.sha256()
        # A large graph keeps its weights in a file of its own, such as model.onnx_data.
        for file in [*sorted(self.graph.parent.glob(f"{self.graph.name}*")), self.tokenizer, self.path / "config.json"]:
            with file.open("rb") as opened:
                total.update(hashlib.file_digest(opened, "sha256").digest())
        return total.hexdigest()[:12]

    def name(self) -> str:
        """Return the name of the model: that of the folder, and the digest of its files."""
        name = "".join(sign if sign.isprintable() else "?" for sign in self.path.name[:NAME_CHARACTERS])
        return f"{name or 'model'}@{self.digest()}"


def _load_json(path: Path, name: str) -> dict[str, Any]:
    file = path / name
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnusableModel(f"The folder {path} has no {name}. Copy it from where the model is from.") from None
    except (OSError, ValueError) as error:
        raise UnusableModel(f"{file} cannot be read as JSON ({type(error).__name__}). Copy it again.") from None
    if not isinstance(facts, dict):
        raise UnusableModel(f"{file} is no JSON object. Copy it again.")
    return facts


def _labels_of(path: Path, config: dict[str, Any]) -> tuple[str, ...]:
    named = config.get("id2label")
    try:
        ordered = [str(named[str(place)]) for place in range(len(named))] if isinstance(named, dict) else []
    except KeyError:
        ordered = []
    if sorted(_plain(ordered)) == sorted(LABELS):
        return tuple(_plain(ordered))
    said = ", ".join(ordered)[:200] or "none"
    raise UnusableModel(
        f"The labels in id2label of {path / 'config.json'} must be contradiction, entailment and neutral, and are"
        f" {said}. If they only have other names, set CONFLICT_MODEL_LABELS to the three in the order of the model's"
        " outputs, as in contradiction,entailment,neutral. Otherwise the model is not for natural-language inference."
    )


def _known_labels(path: Path, labels: Sequence[str]) -> tuple[str, ...]:
    if sorted(_plain(labels)) != sorted(LABELS):
        raise UnusableModel(
            f"CONFLICT_MODEL_LABELS is {','.join(labels)[:200]!r}. Set it to contradiction, entailment and neutral in"
            f" the order of the outputs of the model in {path}, or leave it out if its config.json names them."
        )
    return tuple(_plain(labels))


def _plain(labels: Sequence[str]) -> list[str]:
    return [label.strip().lower() for label in labels]


def _max_tokens(path: Path, config: dict[str, Any]) -> int:
    """Return the most tokens that the model takes, at most MOST_TOKENS."""
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions <= 0:
        return MOST_TOKENS
    if config.get("model_type") in SHIFTED_POSITIONS:
        positions -= int(config.get("pad_token_id") or 0) + 1
    if positions < LEAST_TOKENS:
        raise UnusableModel(f"max_position_embeddings in {path / 'config.json'} leaves no room for two sentences.")
    return min(MOST_TOKENS, positions)
