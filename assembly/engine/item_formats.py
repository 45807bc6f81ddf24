"""Each kind of item is formatted as text for a context.

The formats are those of "Item Formatters" of the seed "Context Assembly Specification".

Rendering strips white space at the end. Facts that a content lacks are left blank. Names, keys, paths and similar
values are put on one line, whatever they contain.
"""

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any

_FENCES = re.compile(r"`{3,}")


def format_event(*, kind: str, content: Any, outcome: str, occurred_at: dt.datetime) -> str:
    """Return the text of an event: its time, and by its type a path, command, error or JSON (seed: formatEvent)."""
    time, ending = f"[{timestamp(occurred_at)}]", f" [{_one_line(outcome)}]" if outcome else ""
    said: Mapping[str, Any] = content if isinstance(content, Mapping) else {}
    match kind:
        case "file_read":
            return f"{time} Read: {_one_line(_plain_text(said.get('path')))}"
        case "file_write":
            return f"{time} Wrote: {_one_line(_plain_text(said.get('path')))}{ending}"
        case "shell_exec":
            output = _plain_text(said.get("stdout") or said.get("stderr"))
            return f"{time} Executed: `{_plain_text(said.get('command'))}`{ending}\n{output}".rstrip()
        case "error":
            return f"{time} Error: {_plain_text(said.get('message'))}\n{_plain_text(said.get('stack'))}".rstrip()
        case _:
            return f"{time} {_one_line(kind)}: {compact_json(content)}"


def format_tool_result(*, tool: str, content: Any, size: int, outcome: str, occurred_at: dt.datetime) -> str:
    """Return the text of a tool's result with its size in characters; content of a single string is shown plainly."""
    ending = f" [{_one_line(outcome)}]" if outcome else ""
    said = list(content.values()) if isinstance(content, Mapping) else []
    text = said[0] if len(said) == 1 and isinstance(said[0], str) else compact_json(content)
    return f"[{timestamp(occurred_at)}] {_one_line(tool)} ({size:,} characters){ending}:\n{text}"


def format_entity(*, kind: str, name: str, properties: Mapping[str, Any]) -> str:
    """Return the text of an entity: its type, name and properties, sorted by key (seed: formatEntity)."""
    said = ", ".join(f"{key}: {_plain_text(properties[key])}" for key in sorted(properties))
    return _one_line(f"**{kind}**: {name}{f' ({said})' if said else ''}")


def format_relation(*, source: str, kind: str, target: str, directed: bool) -> str:
    """Return the text of a relation between two named entities (seed: formatRelation)."""
    return _one_line(f"{source} --[{kind}]--{'>' if directed else ''} {target}")


def format_pattern(*, name: str, guidance: str, successes: int, applications: int) -> str:
    """Return the text of a pattern: guidance that worked before, and how often it was applied with success."""
    worked = f" (worked {successes} of {applications} times)" if applications else ""
    return f"**{_one_line(name)}**: {guidance.rstrip()}{worked}"


def format_thread(*, title: str, status: str, summary: str) -> str:
    """Return the text of a thread: something that goes on over several sessions, with its status and summary."""
    return f"**{_one_line(title)}** ({_one_line(status)}){f': {summary}' if summary else ''}"


def format_tool(*, name: str, description: str, schema: Mapping[str, Any]) -> str:
    """Return the text of a callable tool, with the JSON schema of its arguments if it has one."""
    head = f"**{_one_line(name)}**{f': {description.rstrip()}' if description.strip() else ''}"
    return f"{head}\n{fence_text(compact_json(schema), 'json')}" if schema else head


def format_open_file(*, path: str, language: str, text: str) -> str:
    """Return the text of an open file: its path, and the whole content in a fence."""
    return f"**{_one_line(path)}**\n{fence_text(text, language)}"


def format_chunk(*, path: str, line: int, text: str) -> str:
    """Return the text of a chunk of a file, below its path and its first line number."""
    return f"{_one_line(path)}:{line}\n{text}"


def format_task(*, goal: str, status: str, result: str) -> str:
    """Return the result of a complete task, or the goal of any other (seed: assembleStackContext)."""
    return result if status == "complete" else goal


def fence_text(text: str, language: str = "") -> str:
    """Return the text in a Markdown fence that is longer than any fence in the text, so that it cannot end early."""
    fence = "`" * max([3, *(len(inner) + 1 for inner in _FENCES.findall(text))])
    word = "".join(character for character in language if character.isalnum() or character in "_+#.-")[:80]
    return f"{fence}{word}\n{text.rstrip()}\n{fence}"


def timestamp(moment: dt.datetime) -> str:
    """Return the moment in UTC with milliseconds, in the format of JavaScript's toISOString."""
    return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def compact_json(value: Any) -> str:
    """Return the value as JSON without spaces, with sorted keys and without escaping non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _plain_text(value: Any) -> str:
    """Return a string unchanged, None as an empty string, and any other value as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)
