"""What every answer of the contract must be: valid by the published schema, with numbers that agree."""

import hashlib
import json
from typing import Any

from jsonschema import Draft202012Validator

from assembly.contract.schemas import ASSEMBLED_CONTEXT, MEMORY_REQUEST
from assembly.engine.tokenizers import get_tokenizer
from tests.client import Answer, Api

ANSWERS = Draft202012Validator(ASSEMBLED_CONTEXT.document)
REQUESTS = Draft202012Validator(MEMORY_REQUEST.document)


def ask(api: Api, request_id: str = "one", **members: Any) -> dict[str, Any]:
    """The checked answer to the request, which must get one."""
    answer = sent(api, request_id, **members)
    assert answer.status_code == 201, answer.content
    document: dict[str, Any] = json.loads(answer.content)
    check_answer(document)
    return document


def sent(api: Api, request_id: str = "one", **members: Any) -> Answer:
    return api.post("memory/assemble", {"request_id": request_id, "intent": "Is the ink dry?", **members})


def check_answer(document: dict[str, Any]) -> None:
    """The answer is valid, and its numbers agree with each other."""
    ANSWERS.validate(document)
    metadata, fragments = document["metadata"], document["fragments"]
    assert sum(fragment["token_cost"] for fragment in fragments) == metadata["total_tokens"]
    codes = {warning["code"] for warning in metadata["warnings"]}
    assert ("BUDGET_EXCEEDED" in codes) == bool(metadata["trims"] or metadata["overrun"])
    for scope, coverage in metadata["coverage"].items():
        mine = [fragment for fragment in fragments if fragment["source_layer"] == scope]
        assert coverage["in"] == len(mine) <= coverage["returned"]
        assert {fragment["layer"] for fragment in mine} <= {coverage["layer"]}
    if "content" in metadata:
        content = metadata["content"]
        assert get_tokenizer(metadata["tokenizer"]).count(content) == metadata["total_tokens"]
        assert hashlib.sha256(content.encode()).hexdigest() == metadata["sha256"]
        at = 0
        for fragment in fragments:
            at = content.index(fragment["content"], at) + len(fragment["content"])


def codes_of(document: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in document["metadata"]["warnings"]]
