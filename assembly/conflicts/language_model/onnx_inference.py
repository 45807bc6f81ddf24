"""A language model in ONNX format is run by the package `onnxruntime`, on processors alone.

Nothing is downloaded: graph and tokenizer are files of the folder.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from assembly.conflicts.detection.inference import Inference
from assembly.conflicts.language_model.model_folder import ModelFolder, UnusableModel

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

BATCH_PAIRS = 16
"""The most pairs that the model reads at once."""
TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
NOT_INSTALLED = "The package onnxruntime is not installed. Install it with: pip install onnxruntime"


class OnnxInference:
    """A loaded model: its graph, its tokenizer and its name."""

    def __init__(self, folder: ModelFolder, name: str, session: "InferenceSession", tokenizer: "Tokenizer") -> None:
        self.name = name
        self._session, self._tokenizer, self._padding = session, tokenizer, folder.padding
        self._types = {one.name: TYPES.get(one.type) for one in session.get_inputs()}
        outputs = [one.name for one in session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]
        self._contradiction = folder.labels.index("contradiction")
        self._entailment = folder.labels.index("entailment")
        self._labels = len(folder.labels)

    @classmethod
    def load(cls, folder: ModelFolder, *, threads: int) -> Self:
        """Return the loaded model, which uses so many threads. Raises UnusableModel, and what onnxruntime raises."""
        try:
            import onnxruntime  # noqa: PLC0415 - slow to import, and not needed if the model is off
        except ImportError:
            raise UnusableModel(NOT_INSTALLED) from None
        from tokenizers import Tokenizer  # noqa: PLC0415 - slow to import

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4  # what fails is raised, too
        session = onnxruntime.InferenceSession(str(folder.graph), options, providers=["CPUExecutionProvider"])
        for one in session.get_inputs():
            if one.name not in INPUTS or one.type not in TYPES:
                raise UnusableModel(
                    f"The graph {folder.graph} has the input {one.name} ({one.type}). Only {', '.join(INPUTS)} with"
                    " whole numbers are known."
                )
            if any(isinstance(size, int) for size in one.shape):
                raise UnusableModel(
                    f"The graph {folder.graph} has inputs of a fixed size. Export it with dynamic axes."
                )
        tokenizer = Tokenizer.from_file(str(folder.tokenizer))
        tokenizer.no_padding()
        tokenizer.enable_truncation(folder.max_tokens, strategy="longest_first")
        return cls(folder, folder.name(), session, tokenizer)

    def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Inference]:
        """Return an inference per pair of premise and hypothesis. Raises UnusableModel for unusable answers."""
        found: list[Inference] = []
        for start in range(0, len(pairs), BATCH_PAIRS):
            # One by one, the tokenizer starts no threads of its own.
            read = [self._tokenizer.encode(*pair) for pair in pairs[start : start + BATCH_PAIRS]]
            found += self._inferences(read)
        return found

    def _inferences(self, read: Sequence["Encoding"]) -> Iterator[Inference]:
        [logits] = self._session.run([self._output], self._inputs(read))
        if np.shape(logits) != (len(read), self._labels) or not np.isfinite(logits).all():
            raise UnusableModel(
                f"The model answers with numbers of the shape {np.shape(logits)}, or with none. It must give"
                f" {self._labels} logits per pair of texts, in the order of its labels."
            )
        powers = np.exp(np.float64(logits) - np.max(logits, axis=1, keepdims=True))
        for row in powers / powers.sum(axis=1, keepdims=True):
            yield Inference(float(row[self._contradiction]), float(row[self._entailment]))

    def _inputs(self, read: Sequence["Encoding"]) -> dict[str, NDArray[np.integer]]:
        """Return the inputs that the graph names, each of the shape (pairs, tokens of the longest pair)."""
        longest = max(len(one.ids) for one in read)
        rows = {
            "input_ids": ([one.ids for one in read], self._padding),
            "attention_mask": ([one.attention_mask for one in read], 0),
            "token_type_ids": ([one.type_ids for one in read], 0),
        }
        return {
            name: np.array([row + [fill] * (longest - len(row)) for row in rows[name][0]], dtype=type_)
            for name, type_ in self._types.items()
            for fill in (rows[name][1],)
        }
