"""A client of the REST API: sends JSON with a key, or as a person, and reads the answer."""

import json
from collections.abc import Mapping
from typing import Any, Protocol, cast

from rest_framework.test import APIClient

from teams.principal import Principal

ROOT = "/api/v1/"


class Answer(Protocol):
    """A response as Django's test client gives it: it can read its own JSON."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]

    def json(self) -> Any: ...
    def __getitem__(self, header: str) -> str: ...
    def __contains__(self, header: str) -> bool: ...


class Api:
    """Addresses are given below /api/v1/. A person has no key: the views are asked as if one had."""

    def __init__(self, key: str | None = None, person: Principal | None = None) -> None:
        self.client = APIClient()
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        if person:
            self.client.force_authenticate(user=cast("Any", person))

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Header names are given with underscores: `if_match`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        text = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        address = path if path.startswith("/") else ROOT + path
        answer = self.client.generic(
            method, address, cast("Any", text), content_type=named.pop("content-type", "application/json"),
            headers={**self.headers, **named},
        )  # fmt: skip
        return cast("Answer", answer)

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.send("POST", path, {} if body is None else body, **headers)

    def put(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("PUT", path, body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Answer:
        return self.send("DELETE", path, **headers)


def problem(response: Answer) -> tuple[int, str]:
    """Status and code of a problem+json answer."""
    assert response["Content-Type"] == "application/problem+json", response.content
    document = json.loads(response.content)
    assert document["status"] == response.status_code
    assert document["detail"]
    return response.status_code, document["code"]


def errors_of(response: Answer) -> set[str]:
    """The fields that a 422 names."""
    assert problem(response)[0] == 422, response.content
    return set(json.loads(response.content)["errors"])
