"""The OpenAPI document gets what all endpoints have in common from here, so that no view repeats it.

`ApiSchema` names and describes the operations by their address, `add_conventions` adds errors and headers.
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
    "Location", str, OpenApiParameter.HEADER, response=[201], description="The URL of the created resource."
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

OWNED_TAGS = {"as-of": "assemblies"}
TAGS_OF_ACTIONS = {"draft-previews": "assemblies", "compress": "text", "tokens": "text"}
TAGS = [
    {"name": name, "description": description}
    for name, description in {
        "assemblies": "Contexts: assemble one, read its record and decisions, explain, replay and compare it.",
        "memory": "The contract of the memory layer: MemoryRequest.v0 is answered with AssembledContext.v0.",
        "schemas": "The JSON Schemas of the memory contract.",
        "agents": "The agents, their names, time zones and teams.",
        "teams": "The teams and their settings.",
        "organisation": "Files of the whole organisation, which all agents may read.",
        "files": "The Markdown files of agents and teams, with every version.",
        "daily-logs": "The log of each day of an agent.",
        "memories": "What agents and teams remember.",
        "events": "What happened to an agent.",
        "sessions": "The sessions in which an agent worked.",
        "entities": "The entities of an agent's knowledge graph.",
        "relations": "The relations between entities.",
        "graph": "The knowledge graph around an entity.",
        "documents": "Documents that are searched in chunks.",
        "patterns": "Practices that have worked before.",
        "tasks": "The goals of an agent.",
        "task-stack": "The task that an agent works on now, and its parents.",
        "threads": "Topics that continue over several sessions.",
        "tools": "The functions that an agent can call.",
        "profiles": "How a context is assembled: sections, limits and weights.",
        "rules": "What is always included, boosted or excluded.",
        "proposals": "Suggested changes to a context.",
        "recall-tests": "What contexts must and must not include, and whether they do.",
        "external-sources": "Endpoints that are queried while a context is assembled.",
        "conflicts": "Texts that contradict each other, or say the same, and what people decided.",
        "kv-policies": "What is kept hot, compressed and moved out, by content type.",
        "lifecycle-reports": "What the hourly run moved, with undo.",
        "alerts": "Problems that contexts have.",
        "webhooks": "Notifications to other systems, with their deliveries.",
        "trends": "Daily statistics.",
        "activities": "The activity log: changes of accounts, roles, keys and settings.",
        "readings": "Who read what is confidential or restricted.",
        "subjects": "People about whom things are stored, and what mentions them.",
        "erasures": "Erasures of people's data, and their reports.",
        "legal-holds": "Reasons why nothing of a subject, a team or an agent may be erased.",
        "retention": "For how long contexts are retained.",
        "keys": "API keys.",
        "members": "The people in a team and their roles.",
        "limits": "Limits on requests and text, with usage.",
        "text": "Counting tokens and shortening texts.",
        "export": "Everything as Markdown.",
        "import": "Markdown archives.",
        "jobs": "Background jobs.",
    }.items()
]

PROBLEMS = {
    "400": "What was sent is no JSON.",
    "401": "There is no key, or it is unknown.",
    "403": "You may see this, but not do that.",
    "404": "It is not there, or you may not see it.",
    "409": "A resource with this name exists.",
    "412": "There is a newer version; `current` is its content, `current_version` its number.",
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
        "current": {"type": "object", "additionalProperties": {}, "description": "The resource, as GET returns it."},
    },
}


VERBS = {"GET": "List", "POST": "Create", "PUT": "Replace", "PATCH": "Update", "DELETE": "Delete"}
VERB_OF_LAST_NOUN = {"batch": "Create several", "compare": "Compare", "merge": "Merge", "search": "Search"}
SINGULARS = {
    "memories": "memory",
    "entities": "entity",
    "people": "person",
    "limits": "limits",
    "retention": "retention",
}


class ApiSchema(AutoSchema):
    """A generator of operations with ids made of the address and a verb: `agents_files_versions_list`."""

    def get_operation_id(self) -> str:
        parts = [part for part in self.path.split("/") if part][2:]
        nouns = [part.replace("-", "_") for part in parts if not part.startswith("{")]
        item = parts[-1].startswith("{")
        verbs = {"GET": "read" if item else "list", "POST": "append" if item else "create", "PUT": "replace"}
        return "_".join([*nouns, verbs.get(self.method, {"PATCH": "update", "DELETE": "delete"}.get(self.method, ""))])

    def get_summary(self) -> str:
        """Return what the operation does, in a few words: what the view says, or what the address does."""
        return super().get_summary() or _default_summary(self.path, self.method)

    def get_tags(self) -> list[str]:
        """Return the resource that the operation is about: for `/agents/{slug}/memories`, "memories"."""
        nouns = [part for part in self.path.split("/")[3:] if part and not part.startswith("{")]
        is_owned = len(nouns) > 1 and nouns[0] in {"agents", "teams", "keys", "people"}
        return [OWNED_TAGS.get(nouns[1], nouns[1]) if is_owned else TAGS_OF_ACTIONS.get(nouns[0], nouns[0])]

    def _get_serializer_name(self, serializer: Any, direction: Any, *args: Any, **kwargs: Any) -> str:
        """Return the name of a schema; one that ends in "Request" already gets no second "Request"."""
        name: str = super()._get_serializer_name(serializer, direction, *args, **kwargs)
        return name.replace("RequestRequest", "Request")


def _default_summary(path: str, method: str) -> str:
    """Return what an operation does, from its address: "List agent file versions", "Get team member"."""
    parts = [part for part in path.split("/") if part][2:]
    nouns = [part.replace("-", " ") for part in parts if not part.startswith("{")]
    owners = [_singular(noun) for noun in nouns[:-1]]
    if verb := VERB_OF_LAST_NOUN.get(nouns[-1]):
        return " ".join([verb, *owners[:-1], nouns[-2]])
    is_one = parts[-1].startswith("{") or method == "POST" or nouns[-1] in SINGULARS.values()
    verb = "Get" if method == "GET" and is_one else VERBS[method]
    return " ".join([verb, *owners, _singular(nouns[-1]) if is_one else nouns[-1]])


def _singular(noun: str) -> str:
    return SINGULARS.get(noun, noun.removesuffix("s"))


def add_conventions(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the errors of every operation, and Idempotency-Key of every POST, as a postprocessing hook of
    drf-spectacular.
    """
    result["components"]["schemas"]["Problem"] = PROBLEM_SCHEMA
    result["tags"] = TAGS
    for schema in result["components"]["schemas"].values():
        # Notes are only in responses to writes whose texts were changed, but drf-spectacular requires read-only fields.
        if "notes" in schema.get("required", ()):
            schema["required"].remove("notes")
    # Views call the argument `id_`, because `id` is a function of Python.
    result["paths"] = {path.replace("{id_}", "{id}"): operations for path, operations in result["paths"].items()}
    for path in result["paths"].values():
        for method, operation in path.items():
            _add_responses(operation, method.upper())
    return result


def _add_responses(operation: dict[str, Any], method: str) -> None:
    parameters = operation.setdefault("parameters", [])
    for parameter in parameters:
        parameter["name"] = parameter["name"].removesuffix("_")
    responses = operation["responses"]
    if method == "POST":
        schema = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARACTERS}
        description = (
            "If the request is sent again with the same key, it has no second effect and the first "
            "response is returned."
        )
        parameters.append({"in": "header", "name": "Idempotency-Key", "schema": schema, "description": description})
    if method == "GET" and any(parameter["name"] == "If-None-Match" for parameter in parameters):
        responses["304"] = {"description": "You have the newest version."}
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for code in sorted(FOR_ALL | FOR_METHOD.get(method, set())):
        responses.setdefault(code, {"description": PROBLEMS[code], "content": content})
