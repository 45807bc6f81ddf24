"""The JSON Schemas (2020-12) of the contract are files in this folder, which are published.

The same files validate requests, are what tests validate every answer with, and describe the endpoint in the OpenAPI
document. A published version only ever gets new optional members; any other change is a new version beside it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PublishedSchema:
    """A published schema has the bytes that are sent, and their parsed document."""

    name: str
    """The name of its file, which ends its address."""
    content: bytes
    document: Mapping[str, Any]

    @property
    def etag(self) -> str:
        """The strong ETag of the content, in quotes."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    @classmethod
    def read(cls, name: str) -> "PublishedSchema":
        """Return the schema in the file with this name."""
        content = (FOLDER / name).read_bytes()
        return cls(name, content, json.loads(content))


MEMORY_REQUEST = PublishedSchema.read("memory-request.v0.json")
ASSEMBLED_CONTEXT = PublishedSchema.read("assembled-context.v0.json")
SCHEMAS: Mapping[str, PublishedSchema] = {one.name: one for one in (MEMORY_REQUEST, ASSEMBLED_CONTEXT)}
"""The published schemas by the names of their files."""
