"""Tiny models in ONNX format, of the same shape as real ones: they see contradictions where one side alone is vegan."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

VEGAN = "The school canteen cooks vegan food."
BEEF = "Beef stew is what the school canteen cooks on most days."
"""Two texts that contradict each other without any cue."""
LABELS = ("entailment", "neutral", "contradiction")
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "vegan", "the", "school", "canteen", "cooks", "food", "beef", "stew")
VEGAN_TOKEN = WORDS.index("vegan")


def write_model(
    folder: Path,
    *,
    labels: Sequence[str] = LABELS,
    has_types: bool = True,
    integers: int = TensorProto.INT64,
    is_one_sided: bool = False,
    size: str | int = "tokens",
    **config: Any,
) -> Path:
    """Write the files of a model into the folder, and return it.

    Without types of tokens, the model counts whether an odd number of tokens is vegan. A one-sided one sees a
    contradiction only where the hypothesis alone is vegan.
    """
    folder.mkdir(parents=True, exist_ok=True)
    save(
        _graph(labels, has_types=has_types, integers=integers, is_one_sided=is_one_sided, size=size),
        folder / "model.onnx",
    )
    tokenizer().save(str(folder / "tokenizer.json"))
    named = {"id2label": {str(place): label for place, label in enumerate(labels)}}
    facts = {"model_type": "bert", "pad_token_id": 0, "max_position_embeddings": 64, **named, **config}
    (folder / "config.json").write_text(json.dumps(facts))
    return folder


def tokenizer() -> Tokenizer:
    """BERT's, as far as these words go."""
    made = Tokenizer(WordPiece({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, WORDS.index(name)) for name in ("[CLS]", "[SEP]")],
    )
    return made


def _graph(labels: Sequence[str], *, has_types: bool, integers: int, is_one_sided: bool, size: str | int) -> Any:
    """The logit of contradiction is 5 if the sides differ and -5 otherwise, that of entailment the opposite."""
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if has_types else [])]
    inputs = [helper.make_tensor_value_info(name, integers, ["batch", size]) for name in names]
    weights = np.zeros((1, len(labels)), dtype=np.float32)
    for place, label in enumerate(labels):
        weights[0, place] = {"contradiction": 5, "entailment": -5}.get(label.lower(), 0)

    def constant(name: str, value: Any) -> Any:
        return numpy_helper.from_array(np.asarray(value), name)

    node = helper.make_node
    nodes = [
        node("Cast", ["input_ids"], ["ids"], to=TensorProto.INT64),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Equal", ["ids", "vegan"], ["is_vegan"]),
        node("Cast", ["is_vegan"], ["marked"], to=TensorProto.FLOAT),
        node("Mul", ["marked", "mask"], ["counted"]),
    ]
    if has_types:
        nodes += [
            node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
            node("Mul", ["counted", "types"], ["of_hypothesis"]),
            node("Sub", ["counted", "of_hypothesis"], ["of_premise"]),
            node("Sub", ["of_hypothesis", "of_premise"], ["signed"]),
            node("ReduceSum", ["signed", "axis"], ["difference"], keepdims=1),
            node("Relu" if is_one_sided else "Abs", ["difference"], ["differs"]),
        ]
    else:
        nodes += [
            node("ReduceSum", ["counted", "axis"], ["sum"], keepdims=1),
            node("Mod", ["sum", "two"], ["differs"], fmod=1),
        ]
    nodes += [
        node("Mul", ["differs", "two"], ["doubled"]),
        node("Sub", ["doubled", "one"], ["sign"]),
        node("MatMul", ["sign", "weights"], ["logits"]),
    ]
    constants = [
        constant("vegan", np.int64(VEGAN_TOKEN)),
        constant("axis", np.array([1], dtype=np.int64)),
        constant("two", np.float32(2)),
        constant("one", np.float32(1)),
        constant("weights", weights),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(labels)])
    model = helper.make_model(
        helper.make_graph(nodes, "vegan", inputs, [output], constants),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )
    checker.check_model(model)
    return model
