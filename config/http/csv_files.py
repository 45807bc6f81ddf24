"""Every CSV that Dossier writes comes from `csv_text`, so that no spreadsheet takes a text for a formula.

Quoting alone does not help: a spreadsheet evaluates quoted cells too, and a spreadsheet that splits at signs other than
commas, or reads line by line, can begin a cell within a text.
"""

import csv
import datetime
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse

CSV_TYPE = "text/csv; charset=utf-8"
FORMULA_SIGNS = frozenset("=+-@\N{MINUS SIGN}")
QUOTES = frozenset("\"'`")
GUARD = "'"
"""An apostrophe: spreadsheets treat a cell that begins with one as text."""

_BORDERS = re.compile(r"([;,|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029])")
_LEADING = re.compile(r"[\t\r\n]")
_PASSED_OVER = {"Cc", "Cf", "Mn", "Pf", "Pi", "Zl", "Zp", "Zs"}
"""Unicode categories of signs that may precede a formula: white space, controls, zero-width signs, quotation marks."""


def safe_cell(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet could take for a formula.

    A part is the beginning of the text, or the text after a sign at which some program splits cells or lines. White
    space, quotation marks and invisible signs before the sign that begins a formula are skipped, and full-width forms
    of that sign count as the plain sign.
    """
    guarded = "".join(_guarded_parts(text))
    return GUARD + guarded if _LEADING.match(guarded) else guarded


def _guarded_parts(text: str) -> Iterator[str]:
    for part in _BORDERS.split(text):
        yield GUARD + part if _begins_formula(part) else part


def _begins_formula(part: str) -> bool:
    for sign in part:
        if sign not in QUOTES and unicodedata.category(sign) not in _PASSED_OVER:
            # NFKC turns full-width, small and raised forms into the plain sign.
            return unicodedata.normalize("NFKC", sign)[0] in FORMULA_SIGNS
    return False


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as CSV with CRLF line ends; all cells are quoted, lists are joined by spaces."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue()


def csv_response(file_name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return a response that downloads the rows as a CSV file, with the columns' names as its first line."""
    return HttpResponse(
        ",".join(columns) + "\r\n" + csv_text(rows),
        content_type=CSV_TYPE,
        headers={"Content-Disposition": f'attachment; filename="{file_name}"', "Cache-Control": "no-store"},
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return safe_cell(" ".join(value) if isinstance(value, list) else str(value))
