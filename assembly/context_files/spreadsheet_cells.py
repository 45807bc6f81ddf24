"""Texts as cells of a CSV that spreadsheets open: no part of them is taken for a formula.

Every CSV that Dossier writes passes its cells through here. Quoting alone does not help: a spreadsheet evaluates quoted
cells as well, and one that splits at other signs than commas, or reads line by line, begins a cell amid a text.
"""

import re
import unicodedata
from collections.abc import Iterator

FORMULA_SIGNS = frozenset("=+-@\N{MINUS SIGN}")
QUOTES = frozenset("\"'`")
GUARD = "'"
"""A spreadsheet takes what begins with it for a text."""

_BORDERS = re.compile(r"([;,|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029])")
_LEADING = re.compile(r"[\t\r\n]")
_PASSED_OVER = {"Cc", "Cf", "Mn", "Pf", "Pi", "Zl", "Zp", "Zs"}
"""Unicode's categories of what may stand before a formula: white space, controls, zero-width signs, quotation marks."""


def safe_cell(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet could take for a formula.

    A part begins the text, or follows what some program splits cells or lines at. White space, quotation marks and
    invisible signs before the formula's own sign change nothing, nor do full-width forms of that sign.
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
