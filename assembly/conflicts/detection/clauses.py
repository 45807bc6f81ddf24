"""Clauses are parts of a sentence that say something by themselves: “Truck 7 passed inspection and may leave the yard.”

Sentences with several clauses agree in one and differ in another, so clauses are compared, too. A clause without a
subject takes that of the sentence. Sentences with a condition are not split, because their clauses do not hold alone.
"""

import re

from assembly.conflicts.detection.statement import Statement

LEAST_WORDS = 2
"""The least words with a meaning of their own of a clause."""
MAX_CLAUSES = 4

_BREAK = re.compile(
    r"\s*[;–—]\s+"  # noqa: RUF001
    r"|,? (?:but|because|so that|so|as|since|which is why|aber|weil|denn|sondern|pero|porque|ya que|así que) "
    r"|, (?:and |und |y )?| (?:and|und|y) ",
    re.IGNORECASE,
)


def clauses_of(statement: Statement) -> list[str]:
    """Return the texts of the clauses of a sentence; none where it is one clause or has a condition."""
    if statement.is_conditional or statement.has_change or statement.is_question or statement.has_exception:
        return []
    text = statement.text.rstrip(" .!")
    parts = [part for part in _BREAK.split(text) if part.strip()]
    if len(parts) < 2:  # noqa: PLR2004
        return []
    subject = text[: statement.subject_end].strip()
    found = [parts[0]]
    for part in parts[1:]:
        first = part.split()[0].lower()
        if first in statement.verb_words:
            found.append(f"{subject} {part}" if subject else part)
        elif statement.verb_words.intersection(part.lower().split()):
            found.append(part)
    return found[:MAX_CLAUSES]
