"""How each kind of item reads in a context, from "Item Formatters" of the seed "Context Assembly Specification".

White space at the end is for rendering to strip. What a content does not say is left blank. Names, keys, paths and the
like stand on one line, whatever they hold.
"""

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any

_FENCES = re.compile(r"`{3,}")


def format_event(*, kind: str, content: Any, outcome: str, occurred_at: dt.datetime) -> str:
    """An event of a type, with what happened (seed: formatEvent)."""
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
    """What a tool returned, with its size in characters; a content of one text alone is shown as that text."""
    ending = f" [{_one_line(outcome)}]" if outcome else ""
    said = list(content.values()) if isinstance(content, Mapping) else []
    text = said[0] if len(said) == 1 and isinstance(said[0], str) else compact_json(content)
    return f"[{timestamp(occurred_at)}] {_one_line(tool)} ({size:,} characters){ending}:\n{text}"


def format_entity(*, kind: str, name: str, properties: Mapping[str, Any]) -> str:
    """An entity of a type with its properties, sorted by key (seed: formatEntity)."""
    said = ", ".join(f"{key}: {_plain_text(properties[key])}" for key in sorted(properties))
    return _one_line(f"**{kind}**: {name}{f' ({said})' if said else ''}")


def format_relation(*, source: str, kind: str, target: str, directed: bool) -> str:
    """How one entity, by its name, stands to another (seed: formatRelation)."""
    return _one_line(f"{source} --[{kind}]--{'>' if directed else ''} {target}")


def format_pattern(*, name: str, guidance: str, successes: int, applications: int) -> str:
    """What has worked, and how often."""
    worked = f" (worked {successes} of {applications} times)" if applications else ""
    return f"**{_one_line(name)}**: {guidance.rstrip()}{worked}"


def format_thread(*, title: str, status: str, summary: str) -> str:
    """A story that goes on, and how it stands."""
    return f"**{_one_line(title)}** ({_one_line(status)}){f': {summary}' if summary else ''}"


def format_tool(*, name: str, description: str, schema: Mapping[str, Any]) -> str:
    """A tool that can be called, with the JSON schema of its arguments if it has one."""
    head = f"**{_one_line(name)}**{f': {description.rstrip()}' if description.strip() else ''}"
    return f"{head}\n{fence_text(compact_json(schema), 'json')}" if schema else head


def format_open_file(*, path: str, language: str, text: str) -> str:
    """A whole file that is open, under its path."""
    return f"**{_one_line(path)}**\n{fence_text(text, language)}"


def format_chunk(*, path: str, line: int, text: str) -> str:
    """A piece of a file, under the place where it begins."""
    return f"{_one_line(path)}:{line}\n{text}"


def format_task(*, goal: str, status: str, result: str) -> str:
    """What became of a task that is complete, what is wanted of any other (seed: assembleStackContext)."""
    return result if status == "complete" else goal


def fence_text(text: str, language: str = "") -> str:
    """The text in a Markdown fence longer than any in it, so that it cannot end early."""
    fence = "`" * max([3, *(len(inner) + 1 for inner in _FENCES.findall(text))])
    word = "".join(character for character in language if character.isalnum() or character in "_+#.-")[:80]
    return f"{fence}{word}\n{text.rstrip()}\n{fence}"


def timestamp(moment: dt.datetime) -> str:
    """The moment in UTC with milliseconds, as JavaScript's toISOString writes it."""
    return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def compact_json(value: Any) -> str:
    """JSON without spaces, keys sorted, not ASCII-escaped."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _plain_text(value: Any) -> str:
    """A text as it is, nothing as an empty text, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)
