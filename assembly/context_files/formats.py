"""The two formats of a list: CSV, made safe for spreadsheets, and JSON."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assembly.context_files.columns import COLUMNS
from assembly.context_files.spreadsheet_cells import safe_cell

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Format:
    """How rows are written. What lies between two parts of a file is `between`."""

    content_type: str
    begin: str
    write: Callable[[Rows], str]
    between: str
    end: str


def _csv_rows(rows: Rows) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerows([_cell(row[name]) for name in COLUMNS] for row in rows)
    return written.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return safe_cell(" ".join(value) if isinstance(value, list) else str(value))


def _json_rows(rows: Rows) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


FORMATS: Mapping[str, Format] = {
    "csv": Format("text/csv; charset=utf-8", ",".join(COLUMNS) + "\r\n", _csv_rows, "", ""),
    "json": Format("application/json", "[\n", _json_rows, ",\n", "\n]\n"),
}
