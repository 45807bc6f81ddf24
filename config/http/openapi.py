"""The OpenAPI document says what every endpoint has in common, so that no view needs to repeat it.

`ApiSchema` names the operations after their address, `add_conventions` adds the errors and headers of all.
"""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from config.http.cursors import MAX_LIMIT
from config.http.idempotency import MAX_KEY_CHARACTERS
from config.http.problems import MEDIA_TYPE

PAGE = [
    OpenApiParameter("cursor", str, description="From `next` of the page before."),
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}, description="Rows of a page."),
]
ETAG = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, response=[200, 201], description="The version, in quotes."
)
LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, response=[201], description="The address of what was made."
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of the version that you changed; 428 without.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="An ETag that you have: 304 while it is the newest."
)
ONLY_CREATE = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="`*` creates what is not there yet; 412 if it is."
)

PROBLEMS = {
    "400": "What was sent is no JSON.",
    "401": "There is no key, or it is unknown.",
    "403": "You may see this, but not do that.",
    "404": "It is not there, or you may not see it.",
    "409": "Something with this name is there already.",
    "412": "A newer version is there; `current` is how it stands, `current_version` its number.",
    "422": "Some values cannot be used; `errors` names them.",
    "428": "The header that says which version was changed is missing.",
    "default": "Any other error.",
}
FOR_METHOD = {"POST": {"400", "409"}, "PUT": {"400", "412", "428"}, "PATCH": {"400", "412", "428"}}
FOR_ALL = {"401", "403", "404", "422", "default"}

PROBLEM_SCHEMA = {
    "type": "object",
    "description": "RFC 9457.",
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened and what to do, for people."},
        "code": {"type": "string", "description": "Stable, for programs."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["code", "message"],
                    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
                },
            },
        },
        "current_version": {"type": "integer"},
        "current": {"type": "object", "additionalProperties": {}, "description": "As GET would return it."},
    },
}


class ApiSchema(AutoSchema):
    """Operation ids made of the address and a verb: `agents_files_versions_list`."""

    def get_operation_id(self) -> str:
        parts = [part for part in self.path.split("/") if part][2:]
        nouns = [part.replace("-", "_") for part in parts if not part.startswith("{")]
        item = parts[-1].startswith("{")
        verbs = {"GET": "read" if item else "list", "POST": "append" if item else "create", "PUT": "replace"}
        return "_".join([*nouns, verbs.get(self.method, {"PATCH": "update", "DELETE": "delete"}.get(self.method, ""))])


def add_conventions(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular's postprocessing hook: errors of every operation, Idempotency-Key of every POST."""
    result["components"]["schemas"]["Problem"] = PROBLEM_SCHEMA
    for path in result["paths"].values():
        for method, operation in path.items():
            _add_responses(operation, method.upper())
    return result


def _add_responses(operation: dict[str, Any], method: str) -> None:
    parameters = operation.setdefault("parameters", [])
    responses = operation["responses"]
    if method == "POST":
        schema = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARACTERS}
        description = "Sent again with the same key, the request has no second effect and gets the first answer."
        parameters.append({"in": "header", "name": "Idempotency-Key", "schema": schema, "description": description})
    if method == "GET" and any(parameter["name"] == "If-None-Match" for parameter in parameters):
        responses["304"] = {"description": "You have the newest version."}
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for code in sorted(FOR_ALL | FOR_METHOD.get(method, set())):
        responses.setdefault(code, {"description": PROBLEMS[code], "content": content})
