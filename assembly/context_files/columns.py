"""What stands in a row of a downloaded list. The names are documented in docs/audit/list.md, and stay."""

from collections.abc import Mapping
from typing import Any

from assembly.models import Assembly

COLUMNS = (
    "id",
    "created",
    "agent",
    "agent_name",
    "team",
    "team_name",
    "requested_by",
    "requester_name",
    "topic",
    "profile",
    "profile_version",
    "tokenizer",
    "now",
    "budget",
    "tokens",
    "truncated",
    "left_out",
    "warnings",
    "assembly_ms",
)
OTHERWISE = {"agent": "agent_slug", "team": "team_slug", "profile": "profile_name"}
"""Columns whose values the record keeps under another name."""


def row_of(context: Assembly) -> Mapping[str, Any]:
    """By column; moments are texts in RFC 3339, UTC."""
    values = {column: getattr(context, OTHERWISE.get(column, column)) for column in COLUMNS}
    moments = {name: values[name].isoformat().replace("+00:00", "Z") for name in ("created", "now")}
    return {**values, **moments, "id": str(context.id)}
