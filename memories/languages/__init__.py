"""Languages of texts and questions: which one a text is in, and how each says when something was.

A language has the name of the text search configuration that PostgreSQL 15 and newer ship for it.
"""

from memories.languages.detection import DEFAULT, LANGUAGES, detected_language, languages_by_evidence
from memories.languages.time_expressions import TIME_EXPRESSIONS, TimeExpressions

__all__ = [
    "DEFAULT",
    "LANGUAGES",
    "TIME_EXPRESSIONS",
    "TimeExpressions",
    "detected_language",
    "languages_by_evidence",
]
