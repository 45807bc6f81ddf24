"""Codes name the reasons of decisions and the problems of sources and assemblies; reasons.py words them."""

from enum import StrEnum


class Code(StrEnum):
    """Why a candidate is included in the context or excluded from it."""

    REQUIRED = "required"
    PINNED = "pinned"
    RULE_INCLUDED = "rule_included"
    FITS = "fits"
    TRUNCATED = "truncated"
    COMPACTED = "compacted"
    SUMMARISED = "summarised"

    OVER_SECTION_BUDGET = "over_section_budget"
    OVER_TOTAL_BUDGET = "over_total_budget"
    OUTRANKED = "outranked"
    BELOW_RELEVANCE = "below_relevance"
    DUPLICATE = "duplicate"
    CONFLICT_LOST = "conflict_lost"
    UNTRUSTED_ORIGIN = "untrusted_origin"
    RULE_EXCLUDED = "rule_excluded"
    FILTERED = "filtered"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    EMPTY = "empty"

    __hash__ = str.__hash__
    """The hash of the plain string, which equals the code; an enum's own hash is slower, being computed in Python."""

    included: bool
    """Whether a candidate with this code is included in the context."""
    is_over_budget: bool
    """Whether a larger budget would have included more of the candidate."""


INCLUDED_CODES = {
    *(Code.REQUIRED, Code.PINNED, Code.RULE_INCLUDED, Code.FITS),
    *(Code.TRUNCATED, Code.COMPACTED, Code.SUMMARISED),
}
_OVER_BUDGET_CODES = {Code.TRUNCATED, Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}
for _code in Code:
    # Every decision reads these properties many times, so they are computed once.
    _code.included, _code.is_over_budget = _code in INCLUDED_CODES, _code in _OVER_BUDGET_CODES

DECISION_CODES = tuple(code.value for code in Code)
"""All decision codes as strings."""


class SourceCode(StrEnum):
    """What went wrong with one source."""

    SOURCE_TIMEOUT = "SOURCE_TIMEOUT"
    SOURCE_FAILED = "SOURCE_FAILED"
    SOURCE_NOT_ASKED = "SOURCE_NOT_ASKED"
    """What would have been sent is more sensitive than the server may be told, or the source is above the clearance."""


class WarningCode(StrEnum):
    """What the reader of an assembly must know before relying on it."""

    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    TIME_EXCEEDED = "TIME_EXCEEDED"
    QUALITY_BELOW_MINIMUM = "QUALITY_BELOW_MINIMUM"
    COHERENCE_FAILURE = "COHERENCE_FAILURE"
    RULE_NOT_KEPT = "RULE_NOT_KEPT"
    CONFLICT_FLAGGED = "CONFLICT_FLAGGED"
