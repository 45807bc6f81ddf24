"""A client of the memory contract, written from its published schemas alone, with the standard library.

    python examples/memory_client.py http://127.0.0.1:8000 KEY "What is asked most often?"

It reads both schemas, asks for memory, prints the fragments, checks each answer against the schema, and then meets each
limit and makes each mistake on purpose. KEY is the key of an agent. The exit status is 1 if anything was unexpected.
"""

import json
import re
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

SCHEMAS = "/api/v1/schemas/"
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class Client:
    """A client requests the memory of one agent over HTTP."""

    def __init__(self, address: str, key: str) -> None:
        self.address, self.key = address.rstrip("/"), key
        self.request_schema = self._get_schema("memory-request.v0.json")
        self.answer_schema = self._get_schema("assembled-context.v0.json")

    def assemble(self, **request: Any) -> tuple[int, bytes]:
        """Return the status and the body of the answer; without a request_id, the request gets a new one."""
        body = {"request_id": str(uuid.uuid4()), **request}
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return self._send("/api/v1/memory/assemble", json.dumps(body).encode(), headers)

    def context(self, **request: Any) -> dict[str, Any]:
        """Return an AssembledContext.v0. Raises ValueError for a problem, and for an answer that breaks its schema."""
        status, body = self.assemble(**request)
        answer: dict[str, Any] = json.loads(body)
        if status != HTTPStatus.CREATED:
            raise ValueError(f"{status} {answer['code']}: {answer['detail']}")
        if faults := list(faults_of(answer, self.answer_schema, self.answer_schema)):
            raise ValueError(f"The answer breaks its schema: {faults}")
        return answer

    def _get_schema(self, name: str) -> dict[str, Any]:
        _status, body = self._send(SCHEMAS + name, None, {})
        schema: dict[str, Any] = json.loads(body)
        return schema

    def _send(self, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        request = urllib.request.Request(self.address + path, body, headers)  # noqa: S310 - the caller's own server
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                return response.status, response.read()
        except urllib.error.HTTPError as problem:
            return problem.code, problem.read()


def faults_of(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "answer") -> Iterator[str]:
    """Yield where the value breaks the schema. It knows the keywords of JSON Schema that the contract uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(isinstance(value, TYPES[name]) and (name == "boolean") == isinstance(value, bool) for name in types):
        yield f"{path} is no {' or '.join(types)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} is none of {schema['enum']}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{path} has other characters"
    if types[0] in {"integer", "number"} and value is not None:
        yield from _faults_of_number(value, schema, path)
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from faults_of(item, schema["items"], root, f"{path}.{place}")
    if isinstance(value, dict):
        yield from _faults_of_members(value, schema, root, path)


def _faults_of_number(value: float, schema: dict[str, Any], path: str) -> Iterator[str]:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{path} is out of range"


def _faults_of_members(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str]:
    yield from (f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value)
    for name, member in value.items():
        if name in schema["properties"]:
            yield from faults_of(member, schema["properties"][name], root, f"{path}.{name}")
        else:
            yield f"{path}.{name} is unknown"


def print_context(answer: dict[str, Any]) -> None:
    """Print the fragments of an answer and what it says of itself."""
    metadata = answer["metadata"]
    print(f"{metadata['total_tokens']} tokens in {metadata['assembly_time_ms']} ms, assembly {metadata['assembly']}")
    print(f"source_coverage {metadata['source_coverage']:.2f}, quality_achieved {metadata['quality_achieved']}")
    for fragment in answer["fragments"]:
        text = " ".join(fragment["content"].split())[:60]
        place = f"{fragment['layer'] or '--'} {fragment['lod']:<6} {fragment['priority_score']:.2f}"
        print(f"  {place} {fragment['token_cost']:>5} tokens  {fragment['id']}: {text}")
    for warning in metadata["warnings"]:
        print(f"  {warning['code']}: {warning['message']} {warning['sources'] or ''}")


class Tour:
    """The tour walks through everything that the contract can answer; it counts what was not as expected."""

    def __init__(self, client: Client, intent: str) -> None:
        self.client, self.intent = client, intent
        self.failures = 0

    def expect(self, what: str, found: object, *, holds: bool) -> None:
        """Print what was found; count it if it does not hold."""
        self.failures += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {what}: {found}")

    def walk(self) -> None:
        """Ask for memory, then meet each limit and make each mistake."""
        answer = self.client.context(intent=self.intent, entities=[], lod_preference="adaptive", format="markdown")
        print_context(answer)
        self.read_fragments(answer)
        self.meet_limits(answer["metadata"]["total_tokens"])
        self.repeat_requests()
        self.make_mistakes()

    def read_fragments(self, answer: dict[str, Any]) -> None:
        """Check that the fragments add up to the whole text."""
        metadata, fragments = answer["metadata"], answer["fragments"]
        costs = sum(fragment["token_cost"] for fragment in fragments)
        self.expect("token costs add up", costs, holds=costs == metadata["total_tokens"])
        inside = all(fragment["content"] in metadata["content"] for fragment in fragments)
        self.expect("fragments are in the text", len(fragments), holds=inside)

    def meet_limits(self, total: int) -> None:
        """Ask for less than there is: fewer tokens, one scope, more relevance, hardly any time."""
        small = self.client.context(intent=self.intent, budgets={"tokens_max": total // 2})
        codes = [warning["code"] for warning in small["metadata"]["warnings"]]
        trims = small["metadata"]["trims"]
        self.expect("half the tokens", f"{codes}, {len(trims)} trims", holds="BUDGET_EXCEEDED" in codes and bool(trims))
        self.expect(
            "within them", small["metadata"]["total_tokens"], holds=small["metadata"]["total_tokens"] <= total // 2
        )

        scope = self.client.context(intent=self.intent, source_scope=["L4"])
        layers = {fragment["layer"] for fragment in scope["fragments"]}
        self.expect("one scope", layers, holds=layers <= {"L4"})

        best = self.client.context(intent=self.intent, budgets={"quality_min": 1})
        codes = [warning["code"] for warning in best["metadata"]["warnings"]]
        self.expect("perfect relevance", codes, holds="QUALITY_BELOW_MINIMUM" in codes)

        for _ in range(5):  # a fast server may need another try
            hurried = self.client.context(intent=f"{uuid.uuid4()} {self.intent}", budgets={"time_ms": 10})
            codes = [warning["code"] for warning in hurried["metadata"]["warnings"]]
            late = [name for warning in hurried["metadata"]["warnings"] for name in warning["sources"]]
            if "SOURCE_TIMEOUT" in codes:
                break
        self.expect("ten milliseconds", f"{codes}, late: {late}", holds="SOURCE_TIMEOUT" in codes and bool(late))

    def repeat_requests(self) -> None:
        """Send a request twice, and then another one with its id."""
        request: dict[str, Any] = {"request_id": f"tour {uuid.uuid4()}", "intent": self.intent}
        first, second = self.client.assemble(**request), self.client.assemble(**request)
        self.expect("the same request again", f"{len(second[1])} bytes", holds=first == second)
        self.refused("another request with its id", "request_id_reused", "request_id", **{**request, "intent": "Other"})

    def make_mistakes(self) -> None:
        """Make each mistake that a request can have."""
        intent = self.intent
        self.refused("no intent", "invalid", "intent")
        self.refused("an unknown field", "invalid", "privacy", intent=intent, privacy="off")
        self.refused("an unknown level", "invalid", "lod_preference", intent=intent, lod_preference="tiny")
        self.refused("an empty scope", "invalid", "source_scope", intent=intent, source_scope=[])
        self.refused("an unknown scope", "invalid", "source_scope.0", intent=intent, source_scope=["L9"])
        self.refused("too many tokens", "invalid", "budgets.tokens_max", intent=intent, budgets={"tokens_max": 10**9})
        self.refused("too little time", "invalid", "budgets.time_ms", intent=intent, budgets={"time_ms": 1})
        self.refused("too many entities", "invalid", "entities", intent=intent, entities=["x"] * 51)
        self.refused(
            "half a policy", "invalid", "kv_policy.evict", intent=intent, kv_policy={"pin": {}, "compress": {}}
        )
        self.refused("an unknown profile", "invalid", "profile", intent=intent, profile="nonsense")
        status, body = self.client.assemble(intent=intent, agent="somebody-else")
        self.expect("another agent", f"{status} {json.loads(body)['code']}", holds=status == HTTPStatus.NOT_FOUND)
        self.client.key = "wrong"
        status, body = self.client.assemble(intent=intent)
        self.expect("a wrong key", f"{status} {json.loads(body)['code']}", holds=status == HTTPStatus.UNAUTHORIZED)

    def refused(self, what: str, code: str, field: str, **request: Any) -> None:
        """Send a wrong request: it must be refused with this code, and with a sentence about this field."""
        status, body = self.client.assemble(**request)
        problem = json.loads(body)
        (error, *_) = problem.get("errors", {}).get(field, [{"message": "no error"}])
        found = f"{status} {problem.get('code')}: {field}: {error['message']}"
        self.expect(
            what,
            found,
            holds=(status, problem.get("code")) == (HTTPStatus.UNPROCESSABLE_ENTITY, code) and "code" in error,
        )


def main(arguments: list[str]) -> int:
    """Walk through the contract; return the exit status."""
    try:
        address, key, intent = arguments
    except ValueError:
        print(__doc__)
        return 2
    tour = Tour(Client(address, key), intent)
    tour.walk()
    return 1 if tour.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
